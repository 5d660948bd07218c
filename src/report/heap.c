/* heap.c - see heap.h. All numbers are the model's. */
#include "report/heap.h"

#include "base/number.h"
#include "core/err.h"

#include <stdlib.h>

#define USAGE_BARS 30
#define TOP_LINES 5
#define WORTH_SAYING 0.01 /* of the run's max */

void fah_heap_bars(struct fah_strbuf *sb, const struct fah_text *t, const double *timeline,
		   double most, int n)
{
	unsigned char heights[FAH_HEAP_BUCKETS];

	fah_heap_heights(timeline, most, n, heights);
	for (int i = 0; i < n; i++)
		fah_strbuf_adds(sb, t->g->heights[heights[i]]);
}

static struct fah_num bytes(double n)
{
	return fah_num_bytes(fah_heap_bytes(n));
}

static struct fah_num bytes_short(double n)
{
	return fah_num_bytes_short(fah_heap_bytes(n));
}

/* "5%", "-12%" */
static void add_growth(struct fah_strbuf *sb, const struct fah_heap *heap)
{
	struct fah_share text = fah_share_text(heap->growth < 0 ? -heap->growth : heap->growth, 0);

	fah_strbuf_addf(sb, "%s%s", heap->growth < 0 && text.s[0] != '0' ? "-" : "", text.s);
}

void fah_heap_usage(struct fah_text *t, const struct fah_heap *heap)
{
	fah_strbuf_adds(&t->line, "  Memory usage: ");
	fah_heap_bars(&t->line, t, heap->timeline, heap->max, USAGE_BARS);
	fah_strbuf_addf(&t->line, " (max: %s, growth rate: ", bytes(heap->max).s);
	add_growth(&t->line, heap);
	fah_strbuf_addc(&t->line, ')');
	fah_text_end(t);
}

static void put_top_lines(struct fah_text *t, const struct fah_heap *heap,
			  const struct fah_heap_file *file, enum fah_heap_order_by by,
			  const char *heading)
{
	const struct fah_heap_line *lines[TOP_LINES];
	size_t n = fah_heap_top_lines(heap, file, by, FAH_HEAP_FLOOR, lines, TOP_LINES);

	if (n)
		fah_text_put(t, "Top %s memory consumption, by line:", heading);
	for (size_t i = 0; i < n; i++)
		fah_text_put(t, "(%zu) %5u: %8s", i + 1, lines[i]->line,
			     bytes_short(fah_heap_figure(lines[i], by)).s);
}

void fah_heap_file_words(struct fah_text *t, const struct fah_heap *heap,
			 const struct fah_heap_file *file)
{
	static const char *const names[] = {
		[FAH_HEAP_BY_AVERAGE] = "AVERAGE", [FAH_HEAP_BY_AT_PEAK] = "PEAK",
		[FAH_HEAP_BY_LIVE] = "LIVE",	   [FAH_HEAP_BY_TEMPORARY] = "TEMPORARY",
		[FAH_HEAP_BY_TOTAL] = "TOTAL",
	};
	enum fah_heap_order_by by = (enum fah_heap_order_by)t->o->memory;

	put_top_lines(t, heap, file, by, names[by]);
	if (by == FAH_HEAP_BY_AVERAGE)
		put_top_lines(t, heap, file, FAH_HEAP_BY_AT_PEAK, names[FAH_HEAP_BY_AT_PEAK]);
	for (size_t i = 0; i < file->n_lines; i++)
		if (file->lines[i].leak.likelihood > 0)
			fah_text_put(t,
				     "Possible memory leak identified at line %u (estimated "
				     "likelihood: %4s, velocity: %s/s)",
				     file->lines[i].line,
				     fah_share_text(file->lines[i].leak.likelihood, 0).s,
				     bytes_short(file->lines[i].leak.velocity).s);
}

static int more_first(const void *a, const void *b, void *view)
{
	const struct fah_heap_function *const *x = a, *const *y = b;
	double of_x = fah_heap_viewed(&(*x)->cost, *(uint32_t *)view);
	double of_y = fah_heap_viewed(&(*y)->cost, *(uint32_t *)view);

	return of_x != of_y ? (of_x < of_y ? 1 : -1) : (*x > *y) - (*x < *y);
}

static int put_top(struct fah_top *top, const struct fah_profile *p, const struct fah_heap *heap,
		   const struct fah_heap_function *function, uint32_t view)
{
	const struct fah_heap_cost *cost = &function->cost;
	const struct fah_function *f = fah_profile_function(p, function->function);
	bool of_all = view == FAH_HEAP_VIEW_TEMPORARY || view == FAH_HEAP_VIEW_TOTAL;
	double whole = fah_heap_viewed_whole(heap, view), n = fah_heap_viewed(cost, view);
	double share = whole > 0 ? n / whole : 0;
	struct fah_top_row *row;

	if (share < FAH_HEAP_FLOOR)
		return 0;
	row = fah_top_add(top, bytes_short(n).s, share);
	if (!row)
		return FAH_ERR_NOMEM;
	fah_text_clean(&row->name, f->name);
	fah_strbuf_adds(&row->behind, "(");
	fah_text_place(&row->behind, f->file, f->first_line);
	if (view)
		fah_strbuf_addf(&row->behind, "; %s of %s)", fah_share_text(share, 0).s,
				of_all ? "all that was asked for" : "the run's peak");
	else
		fah_strbuf_addf(&row->behind, "; %s at the run's peak)",
				cost->at_peak > 0 ? bytes_short(cost->at_peak).s : "nothing");
	return 0;
}

int fah_heap_top(struct fah_top *top, const struct fah_profile *p, const struct fah_heap *heap,
		 const struct fah_text *t)
{
	size_t most = t->o->top ? t->o->top : FAH_REPORT_TOP;
	const struct fah_heap_function **order =
		reallocarray(NULL, heap->n_functions + 1, sizeof(*order));
	uint32_t view = t->o->memory;
	int err = order ? 0 : FAH_ERR_NOMEM;

	for (size_t i = 0; order && i < heap->n_functions; i++)
		order[i] = &heap->functions[i];
	if (order)
		qsort_r(order, heap->n_functions, sizeof(*order), more_first, &view);
	for (size_t i = 0; err == 0 && i < heap->n_functions && i < most; i++)
		err = put_top(top, p, heap, order[i], view);
	free(order);
	fah_top_fit(top, t, 0);
	return err;
}

const char *fah_heap_top_by(uint32_t view)
{
	static const char *const names[] = {
		[FAH_HEAP_VIEW_NONE] = "Memory Usage",
		[FAH_HEAP_VIEW_PEAK] = "Memory at the Run's Peak",
		[FAH_HEAP_VIEW_LIVE] = "Memory Live at the End",
		[FAH_HEAP_VIEW_TEMPORARY] = "Temporary Memory",
		[FAH_HEAP_VIEW_TOTAL] = "Memory Asked For",
	};

	return names[view];
}

static void say(struct fah_text *t, struct fah_strbuf *sb)
{
	t->failed |= sb->failed;
	fah_text_wrap(t, fah_strbuf_str(sb));
	fah_strbuf_release(sb);
}

static void say_peak(struct fah_text *t, const struct fah_heap *heap)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_addf(&sb, "Heap: at most %s, %s into the run", bytes(heap->max).s,
			fah_num_seconds_short(heap->max_at_s).s);
	if (heap->before > 0)
		fah_strbuf_addf(&sb, "; of it held by the interpreter before the program began: %s",
				bytes(heap->before).s);
	if (heap->outside.at_peak >= WORTH_SAYING * heap->max)
		fah_strbuf_addf(&sb, "; by code outside the folders reported: %s",
				bytes(heap->outside.at_peak).s);
	if (heap->no_python.at_peak >= WORTH_SAYING * heap->max)
		fah_strbuf_addf(&sb, "; outside any Python frame: %s",
				bytes(heap->no_python.at_peak).s);
	fah_strbuf_addf(&sb, ". On average %s, at the end %s; growth rate ", bytes(heap->average).s,
			bytes(heap->end).s);
	add_growth(&sb, heap);
	fah_strbuf_adds(&sb, ".");
	say(t, &sb);
}

/* Why they differ, in this run. */
static void say_rss(struct fah_text *t, const struct fah_profile *p, const struct fah_heap *heap)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_heap_rss r;

	fah_heap_rss(p, heap, &r);
	if (!r.rss)
		return;
	fah_strbuf_addf(&sb,
			"Heap and RSS: %s held %s at most, and %s of memory were resident at most, "
			"%s %s: ",
			heap->n_processes > 1 ? "the process with the most in memory"
					      : "the process",
			fah_num_bytes(r.heap).s, fah_num_bytes(r.rss).s,
			fah_num_bytes(r.difference).s, r.touched_less ? "less" : "more");
	if (r.touched_less)
		fah_strbuf_addf(
			&sb,
			"part of what it asked for was never written to%s or was not there at the "
			"same time.",
			r.never_swapped ? "" : ", was swapped out,");
	else
		fah_strbuf_adds(&sb,
				"code, libraries and stacks, and what allocators keep for later.");
	say(t, &sb);
}

static void say_sampling(struct fah_text *t, const struct fah_heap *heap)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (heap->left_out) {
		fah_strbuf_adds(&sb, "Blocks of memory: more were recorded than half of this "
				     "machine's free memory holds. Only the whole heap is shown; "
				     "--exact=malloc or sampling (without --exact) records less.");
		say(t, &sb);
		return;
	}
	fah_strbuf_addf(&sb, "Blocks of memory: %s recorded", fah_num_count(heap->blocks).s);
	if (heap->interval)
		fah_strbuf_addf(
			&sb,
			", one for each %s asked for, on average; what held less than %s may be "
			"missing, and figures not much larger are rough (--precision). The whole "
			"heap is counted, not sampled",
			bytes((double)heap->interval).s, bytes(heap->may_be_missing).s);
	else
		fah_strbuf_adds(&sb, heap->without_small
					     ? ", which are all of malloc's and mmap's; Python's "
					       "small objects are its arenas, which are mapped"
					     : ", which are all");
	if (heap->lost)
		fah_strbuf_addf(&sb, "; %s could not be recorded", fah_num_count(heap->lost).s);
	fah_strbuf_adds(&sb, ".");
	say(t, &sb);
}

void fah_heap_words(struct fah_text *t, const struct fah_profile *p, const struct fah_heap *heap)
{
	say_peak(t, heap);
	say_rss(t, p, heap);
	say_sampling(t, heap);
}
