/* heap_find.c - single numbers out of a heap that was charged: see heap.h. */
#include "model/heap.h"

#include <string.h>

const struct fah_heap_line *fah_heap_line_of(const struct fah_heap_file *file, uint32_t line)
{
	size_t from = 0, to = file ? file->n_lines : 0;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (file->lines[middle].line == line)
			return &file->lines[middle];
		if (file->lines[middle].line < line)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

const struct fah_heap_file *fah_heap_file_of(const struct fah_heap *heap, const char *abspath)
{
	for (size_t i = 0; heap && i < heap->n_files; i++)
		if (!strcmp(heap->files[i].abspath, abspath))
			return &heap->files[i];
	return NULL;
}

const struct fah_heap_function *fah_heap_function_of(const struct fah_heap *heap, uint32_t function)
{
	for (size_t i = 0; heap && i < heap->n_functions; i++)
		if (heap->functions[i].function == function)
			return &heap->functions[i];
	return NULL;
}

void fah_heap_rss(const struct fah_profile *p, const struct fah_heap *heap,
		  struct fah_heap_rss *ret)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	*ret = (struct fah_heap_rss){0};
	for (size_t i = 0; i < heap->n_processes; i++) {
		const struct fah_heap_process *h = &heap->processes[i];

		if (processes[h->process].max_rss_bytes <= ret->rss && ret->heap)
			continue;
		ret->rss = processes[h->process].max_rss_bytes;
		ret->heap = h->most;
	}
	if (!ret->rss && heap->n_processes == 1) /* cut, or only the run's is known */
		ret->rss = fah_profile_totals(p)->max_rss_bytes;
	ret->touched_less = ret->heap > ret->rss;
	ret->difference = ret->touched_less ? ret->heap - ret->rss : ret->rss - ret->heap;
}
