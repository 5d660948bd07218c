/*
 * summary_json.c - the numbers of the summary for programs: the run, its functions and lines, the
 * bottleneck, what faster lines would gain, and the heap.
 */
#include "report/summary.h"

#include "base/json.h"
#include "capture/words.h"
#include "core/err.h"
#include "model/counts.h"
#include "model/gains.h"
#include "report/heap_json.h"
#include "report/memory_timeline.h"

#include <stdint.h>

#define LINES_FLOOR 0.0005

static void put_times(struct fah_json *j, const struct fah_times *t)
{
	fah_json_key(j, "seconds");
	fah_json_begin_object(j);
	fah_json_put_double(j, "python", t->python);
	fah_json_put_double(j, "native", t->native);
	fah_json_put_double(j, "system", t->system);
	fah_json_put_double(j, "waiting", t->waiting);
	fah_json_end_object(j);
}

static void put_totals(struct fah_json *j, const struct fah_totals *t)
{
	fah_json_put_double(j, "program_s", t->program_s);
	fah_json_key(j, "without_profiling_s");
	if (t->unprofiled_s > 0)
		fah_json_double(j, t->unprofiled_s);
	else
		fah_json_null(j);
	fah_json_put_double(j, "wall_s", t->wall_s);
	fah_json_put_double(j, "cpu_s", t->cpu_s);
	fah_json_put_double(j, "waited_s", t->waited_s);
	fah_json_put_double(j, "no_core_s", t->ready_s);
	fah_json_put_u64(j, "max_rss_bytes", t->max_rss_bytes);
	fah_json_put_u64(j, "samples", t->samples);
	fah_json_put_u64(j, "drops", t->drops);
	fah_json_put_double(j, "interval_points", t->interval_points);
	fah_json_put_bool(j, "complete", t->complete);
}

static void put_parts(struct fah_json *j, const struct fah_parts *parts)
{
	fah_json_key(j, "parts_s");
	fah_json_begin_object(j);
	fah_json_put_double(j, "inside", parts->inside);
	fah_json_put_double(j, "outside", parts->outside);
	fah_json_put_double(j, "no_python", parts->no_python);
	fah_json_put_double(j, "no_core", parts->no_core);
	fah_json_put_double(j, "unknown", parts->unknown);
	fah_json_put_double(j, "unsampled", parts->unsampled);
	fah_json_end_object(j);
}

static void put_function(struct fah_json *j, const struct fah_profile *p,
			 const struct fah_function_cost *cost)
{
	const struct fah_function *f = fah_profile_function(p, cost->function);

	fah_json_begin_object(j);
	fah_json_put_str(j, "name", f->name);
	fah_json_put_str(j, "file", f->file);
	fah_json_put_u64(j, "line", f->first_line);
	fah_json_put_double(j, "share", cost->share);
	fah_json_put_double(j, "interval", cost->interval);
	put_times(j, &cost->times);
	fah_json_put_u64(j, "samples", cost->samples);
	fah_json_end_object(j);
}

static void put_functions(struct fah_json *j, const struct fah_profile *p,
			  const struct fah_charges *charges, const struct fah_report_options *o)
{
	fah_json_key(j, "functions");
	fah_json_begin_array(j);
	for (size_t i = 0; i < charges->n_functions && (!o->top || i < o->top); i++)
		if (charges->functions[i].share >= o->floor)
			put_function(j, p, &charges->functions[i]);
	fah_json_end_array(j);
}

static void put_calls(struct fah_json *j, const struct fah_profile *p)
{
	size_t n;
	const struct fah_call_count *calls = fah_profile_all_calls(p, &n);

	fah_json_key(j, "calls");
	fah_json_begin_array(j);
	for (size_t i = 0; i < n; i++) {
		const struct fah_function *f = fah_profile_function(p, calls[i].function);
		const struct fah_function *by = fah_profile_function(p, calls[i].caller);

		fah_json_begin_object(j);
		fah_json_put_str(j, "function", f->name);
		fah_json_put_str(j, "file", f->file);
		fah_json_put_u64(j, "line", f->first_line);
		if (calls[i].caller) {
			fah_json_put_str(j, "caller", by->name);
			fah_json_put_str(j, "caller_file", by->file);
			fah_json_put_u64(j, "caller_line", calls[i].line);
		}
		fah_json_put_u64(j, "n_calls", (uint64_t)(calls[i].n + 0.5));
		fah_json_put_bool(j, "estimated", calls[i].estimated);
		fah_json_end_object(j);
	}
	fah_json_end_array(j);
}

static void put_lines(struct fah_json *j, const struct fah_profile *p,
		      const struct fah_gains *gains)
{
	fah_json_put_double(j, "cores_used", fah_profile_totals(p)->cores);
	fah_json_key(j, "lines");
	fah_json_begin_array(j);
	for (size_t i = 0; i < gains->n; i++) {
		const struct fah_gain *g = &gains->lines[i];

		fah_json_begin_object(j);
		fah_json_put_str(j, "file", g->file->abspath);
		fah_json_put_u64(j, "line", g->line->line);
		fah_json_put_str(j, "function", fah_profile_function(p, g->line->function)->name);
		fah_json_put_double(j, "share", g->share);
		fah_json_put_double(j, "interval", g->interval);
		put_times(j, &g->line->times);
		fah_json_put_double(j, "run_without_s", g->without_s);
		fah_json_put_double(j, "run_with_half_s", g->half_s);
		fah_json_end_object(j);
	}
	fah_json_end_array(j);
}

static void put_bottleneck(struct fah_json *j, const struct fah_profile *p,
			   const struct fah_bottleneck *b)
{
	static const char *const kinds[] = {
		[FAH_BOTTLENECK_NONE] = "none",		  [FAH_BOTTLENECK_FUNCTION] = "function",
		[FAH_BOTTLENECK_SPREAD] = "spread",	  [FAH_BOTTLENECK_OUTSIDE] = "outside",
		[FAH_BOTTLENECK_NO_PYTHON] = "no python", [FAH_BOTTLENECK_NO_CORE] = "no core",
		[FAH_BOTTLENECK_UNKNOWN] = "unknown",
	};
	static const char *const doing[] = {[FAH_DOING_PYTHON] = "python",
					    [FAH_DOING_NATIVE] = "native",
					    [FAH_DOING_SYSTEM] = "system",
					    [FAH_DOING_WAITING] = "waiting"};

	fah_json_key(j, "bottleneck");
	fah_json_begin_object(j);
	fah_json_put_str(j, "kind", kinds[b->kind]);
	fah_json_put_double(j, "share", b->share);
	if (b->function) {
		fah_json_put_str(j, "function",
				 fah_profile_function(p, b->function->function)->name);
		fah_json_put_str(j, "file", fah_profile_function(p, b->function->function)->file);
		fah_json_put_double(j, "interval", b->function->interval);
		fah_json_put_str(j, "doing", doing[b->doing]);
		fah_json_put_double(j, "doing_share", b->doing_share);
		if (b->doing == FAH_DOING_WAITING)
			fah_json_put_str(j, "reason", fah_wait_words(b->reason));
		if (b->line) {
			fah_json_put_u64(j, "line", b->line->line);
			fah_json_put_double(j, "line_share", b->line_share);
		}
		fah_json_put_str(j, "rival",
				 b->rival ? fah_profile_function(p, b->rival->function)->name
					  : NULL);
	}
	fah_json_end_object(j);
}

int fah_report_summary_json(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	const struct fah_charges *charges;
	const struct fah_gains *gains;
	const struct fah_heap *heap;
	const struct fah_memory_timeline *memory = NULL;
	struct fah_bottleneck b;
	struct fah_parts parts;
	struct fah_json j;
	const struct fah_scope *scope = o->scope ? o->scope : &fah_scope_everything;
	int err = fah_profile_charge(p, scope, &charges);

	if (err == 0)
		err = fah_profile_heap(p, scope, &heap);
	if (err == 0)
		err = fah_profile_gains(p, charges, SIZE_MAX, LINES_FLOOR, &gains);
	if (err == 0)
		err = fah_profile_memory(p, &memory);
	if (err < 0)
		return err;
	fah_profile_parts(p, charges, &parts);
	fah_profile_bottleneck(p, charges, &b);
	fah_json_init(&j, out);
	fah_json_begin_object(&j);
	fah_json_put_str(&j, "command", o->command ? o->command : fah_profile_meta(p, "command"));
	fah_json_put_str(&j, "root", o->root);
	put_totals(&j, fah_profile_totals(p));
	put_parts(&j, &parts);
	put_bottleneck(&j, p, &b);
	put_functions(&j, p, charges, o);
	put_lines(&j, p, gains);
	put_calls(&j, p);
	if (heap)
		fah_heap_json(&j, p, heap);
	if (memory)
		fah_memory_timeline_json(&j, p, memory);
	fah_json_end_object(&j);
	return fah_json_finish(&j);
}
