/* heap_json.c - see heap_json.h. Bytes are whole numbers, intervals half widths of 95 %. */
#include "report/heap_json.h"

static void put_bytes(struct fah_json *j, const char *key, double bytes)
{
	fah_json_put_u64(j, key, fah_heap_bytes(bytes));
}

static void put_timeline(struct fah_json *j, const double *timeline)
{
	fah_json_key(j, "timeline");
	fah_json_begin_array(j);
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++)
		fah_json_u64(j, fah_heap_bytes(timeline[i]));
	fah_json_end_array(j);
}

static void put_cost(struct fah_json *j, const struct fah_heap_cost *c)
{
	put_bytes(j, "peak_bytes", c->peak);
	put_bytes(j, "peak_interval", c->peak_interval);
	put_bytes(j, "at_peak_bytes", c->at_peak);
	put_bytes(j, "at_peak_interval", c->at_peak_interval);
	put_bytes(j, "average_bytes", c->average);
	put_bytes(j, "live_bytes", c->live);
	put_bytes(j, "live_interval", c->live_interval);
	put_bytes(j, "allocated_bytes", c->allocated);
	put_bytes(j, "allocated_interval", c->allocated_interval);
	put_bytes(j, "temporary_bytes", c->temporary);
	put_bytes(j, "copied_bytes", c->copied);
	fah_json_put_double(j, "activity_share", c->activity);
	fah_json_put_double(j, "python_share", c->python);
	fah_json_put_u64(j, "recorded_blocks", c->blocks);
}

static void put_part(struct fah_json *j, const char *key, const struct fah_heap_cost *c)
{
	fah_json_key(j, key);
	fah_json_begin_object(j);
	put_cost(j, c);
	fah_json_end_object(j);
}

static void put_line(struct fah_json *j, const struct fah_profile *p,
		     const struct fah_heap_file *file, const struct fah_heap_line *line)
{
	fah_json_begin_object(j);
	fah_json_put_str(j, "file", file->abspath);
	fah_json_put_u64(j, "line", line->line);
	fah_json_put_str(j, "function", fah_profile_function(p, line->function)->name);
	put_cost(j, &line->cost);
	if (line->leak.likelihood > 0) {
		fah_json_put_double(j, "leak_likelihood", line->leak.likelihood);
		fah_json_put_double(j, "leak_bytes_per_s", line->leak.velocity);
	}
	put_timeline(j, line->cost.timeline);
	fah_json_end_object(j);
}

static void put_function(struct fah_json *j, const struct fah_profile *p,
			 const struct fah_heap_function *function)
{
	const struct fah_function *f = fah_profile_function(p, function->function);

	fah_json_begin_object(j);
	fah_json_put_str(j, "name", f->name);
	fah_json_put_str(j, "file", f->file);
	fah_json_put_u64(j, "line", f->first_line);
	put_cost(j, &function->cost);
	fah_json_end_object(j);
}

static void put_processes(struct fah_json *j, const struct fah_profile *p,
			  const struct fah_heap *heap)
{
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	fah_json_key(j, "processes");
	fah_json_begin_array(j);
	for (size_t i = 0; i < heap->n_processes; i++) {
		const struct fah_heap_process *h = &heap->processes[i];

		fah_json_begin_object(j);
		fah_json_put_u64(j, "pid", processes[h->process].pid);
		fah_json_put_u64(j, "max_bytes", h->most);
		fah_json_put_u64(j, "before_bytes", h->before);
		fah_json_put_u64(j, "end_bytes", h->held);
		fah_json_put_u64(j, "max_rss_bytes", processes[h->process].max_rss_bytes);
		fah_json_put_u64(j, "sampling_interval", h->interval);
		fah_json_put_u64(j, "recorded_blocks", h->blocks);
		fah_json_put_u64(j, "lost_blocks", h->lost);
		fah_json_end_object(j);
	}
	fah_json_end_array(j);
}

void fah_heap_json(struct fah_json *j, const struct fah_profile *p, const struct fah_heap *heap)
{
	fah_json_key(j, "heap");
	fah_json_begin_object(j);
	put_bytes(j, "max_bytes", heap->max);
	fah_json_put_double(j, "max_at_s", heap->max_at_s);
	put_bytes(j, "before_bytes", heap->before);
	put_bytes(j, "end_bytes", heap->end);
	put_bytes(j, "average_bytes", heap->average);
	fah_json_put_double(j, "growth", heap->growth);
	fah_json_put_double(j, "growth_bytes_per_s", heap->growth_rate);
	put_bytes(j, "allocated_bytes", heap->allocated);
	put_bytes(j, "copied_bytes", heap->copied);
	fah_json_put_double(j, "unassigned_bytes", heap->unassigned);
	fah_json_put_double(j, "recorded_s", heap->recorded_s);
	fah_json_put_u64(j, "sampling_interval", heap->interval);
	fah_json_put_bool(j, "small_objects", !heap->without_small);
	fah_json_put_bool(j, "blocks_left_out", heap->left_out);
	put_bytes(j, "may_be_missing_bytes", heap->may_be_missing);
	fah_json_put_u64(j, "recorded_blocks", heap->blocks);
	fah_json_put_u64(j, "lost_blocks", heap->lost);
	put_timeline(j, heap->timeline);
	put_processes(j, p, heap);
	put_part(j, "outside", &heap->outside);
	put_part(j, "no_python", &heap->no_python);
	fah_json_key(j, "functions");
	fah_json_begin_array(j);
	for (size_t i = 0; i < heap->n_functions; i++)
		put_function(j, p, &heap->functions[i]);
	fah_json_end_array(j);
	fah_json_key(j, "lines");
	fah_json_begin_array(j);
	for (size_t i = 0; i < heap->n_files; i++)
		for (size_t k = 0; k < heap->files[i].n_lines; k++)
			put_line(j, p, &heap->files[i], &heap->files[i].lines[k]);
	fah_json_end_array(j);
	fah_json_end_object(j);
}
