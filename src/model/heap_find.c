/* heap_find.c - single numbers out of a heap that was charged: see heap.h. */
#include "model/heap.h"

#include "model/internal.h"
#include "model/memory_records.h"

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

double fah_heap_viewed(const struct fah_heap_cost *cost, enum fah_heap_view view)
{
	return view == FAH_HEAP_VIEW_PEAK	 ? cost->at_peak
	       : view == FAH_HEAP_VIEW_LIVE	 ? cost->live
	       : view == FAH_HEAP_VIEW_TEMPORARY ? cost->temporary
	       : view == FAH_HEAP_VIEW_TOTAL	 ? cost->allocated
						 : cost->peak;
}

double fah_heap_viewed_whole(const struct fah_heap *heap, enum fah_heap_view view)
{
	return view == FAH_HEAP_VIEW_TEMPORARY || view == FAH_HEAP_VIEW_TOTAL ? heap->allocated
									      : heap->max;
}

double fah_heap_figure(const struct fah_heap_line *line, enum fah_heap_order_by by)
{
	return by == FAH_HEAP_BY_AVERAGE ? line->cost.average
					 : fah_heap_viewed(&line->cost, (enum fah_heap_view)by);
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

size_t fah_heap_top_lines(const struct fah_heap *heap, const struct fah_heap_file *file,
			  enum fah_heap_order_by by, double floor, const struct fah_heap_line **ret,
			  size_t n)
{
	double whole = fah_heap_viewed_whole(heap, (enum fah_heap_view)by);
	size_t found = 0;

	for (size_t i = 0; i < file->n_lines; i++) {
		const struct fah_heap_line *line = &file->lines[i];
		size_t at;

		if (!(fah_heap_figure(line, by) > 0) || fah_heap_figure(line, by) < floor * whole)
			continue;
		for (at = found; at && fah_heap_figure(ret[at - 1], by) < fah_heap_figure(line, by);
		     at--)
			if (at < n)
				ret[at] = ret[at - 1];
		if (at < n)
			ret[at] = line;
		found += found < n;
	}
	return found;
}

static bool never_swapped(const struct fah_profile *p)
{
	const struct fah_memory_records *m = p->memory_records;
	bool any = false;

	for (size_t i = 0; m && i < m->n; i++) {
		if (!m->points[i].process || m->points[i].swapped == FAH_MEMORY_UNKNOWN)
			continue;
		if (m->points[i].swapped)
			return false;
		any = true;
	}
	return any;
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
	ret->never_swapped = never_swapped(p);
	ret->touched_less = ret->heap > ret->rss;
	ret->difference = ret->touched_less ? ret->heap - ret->rss : ret->rss - ret->heap;
}

const char *fah_heap_view_words(enum fah_heap_view view)
{
	static const char *const words[] = {
		[FAH_HEAP_VIEW_NONE] = "",
		[FAH_HEAP_VIEW_PEAK] = "held at the run's peak",
		[FAH_HEAP_VIEW_LIVE] = "live at exit",
		[FAH_HEAP_VIEW_TEMPORARY] = "of temporary memory, asked for in all",
		[FAH_HEAP_VIEW_TOTAL] = "of memory, asked for in all",
	};

	return words[view];
}
