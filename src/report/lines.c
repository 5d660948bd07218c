/*
 * lines.c - for each file with at least 1 % of the run, or of its memory: a table of the lines that
 * took it, in Python, in native code, in the kernel and, where any line did, waiting; where memory
 * was recorded, what they held of it; below it the same by function.
 */
#include "report/lines.h"

#include "base/number.h"
#include "core/err.h"
#include "model/cells.h"
#include "report/closing.h"
#include "report/heap.h"
#include "report/line_table.h"
#include "report/source.h"
#include "report/text.h"
#include "report/thin.h"
#include "report/waits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FILE_FLOOR 0.01
#define LINE_FLOOR 0.005      /* what rounds to 1 % */
#define FUNCTION_FLOOR 0.0005 /* as in the summary */

static void add_part(struct fah_strbuf *sb, const char **between, double share, const char *name)
{
	fah_strbuf_addf(sb, "%s%s %s", *between, fah_share_text(share, 0).s, name);
	*between = ", ";
}

static void add_times(struct fah_line_table *tb, const struct fah_function_cost *cost,
		      const char **between)
{
	struct fah_strbuf *sb = &tb->t->line;

	add_part(sb, between, cost->times.python / tb->wall_s, "Python");
	add_part(sb, between, cost->times.native / tb->wall_s, "native");
	if (cost->times.system >= LINE_FLOOR * tb->wall_s)
		add_part(sb, between, cost->times.system / tb->wall_s, "system");
	if (cost->times.waiting >= LINE_FLOOR * tb->wall_s) {
		add_part(sb, between, cost->times.waiting / tb->wall_s, "waiting (");
		fah_waits_add(sb, cost->waited_by, tb->wall_s);
		fah_strbuf_addc(sb, ')');
	}
	if (cost->collecting >= LINE_FLOOR * tb->wall_s)
		add_part(sb, &(const char *){"; "}, cost->collecting / tb->wall_s,
			 "of it collecting garbage");
}

/* One of both costs may be NULL. */
static void put_function(struct fah_line_table *tb, const struct fah_function *f,
			 const struct fah_function_cost *cost,
			 const struct fah_heap_function *memory)
{
	const char *between = ": ";
	struct fah_text *t = tb->t;

	fah_strbuf_adds(&t->line, "  ");
	fah_text_clean(&t->line, f->name);
	fah_strbuf_adds(&t->line, " (");
	if (fah_cell_number(f->file, NULL))
		fah_text_place(&t->line, f->file, f->first_line);
	else
		fah_strbuf_addf(&t->line, "line %u", f->first_line);
	fah_strbuf_addc(&t->line, ')');
	if (cost && tb->wall_s > 0)
		add_times(tb, cost, &between);
	if (memory)
		fah_strbuf_addf(&t->line, "%sheld %s", between,
				fah_num_bytes_short(fah_heap_bytes(memory->cost.peak)).s);
	fah_text_end(t);
}

static const struct fah_heap_function *held_by(const struct fah_line_subject *of, uint32_t function)
{
	for (size_t i = 0; of->heap && i < of->heap->n_functions; i++)
		if (of->heap->functions[i].function == function)
			return of->heap->functions[i].cost.peak_share >= FAH_HEAP_FLOOR
				       ? &of->heap->functions[i]
				       : NULL;
	return NULL;
}

static bool has_time(const struct fah_line_subject *of, uint32_t function)
{
	for (size_t i = 0; i < of->file->n_functions; i++)
		if (of->file->functions[i].function == function)
			return true;
	return false;
}

static void begin_functions(struct fah_text *t, bool *any)
{
	if (!*any)
		fah_text_put(t, "Function summaries:");
	*any = true;
}

/* Those with time, and then those that only held memory. */
static void put_functions(struct fah_line_table *tb, const struct fah_profile *p,
			  const struct fah_line_subject *of)
{
	bool any = false;

	for (size_t i = 0; i < of->file->n_functions; i++) {
		const struct fah_function_cost *cost = &of->file->functions[i];
		const struct fah_heap_function *memory = held_by(of, cost->function);

		if (cost->share < FUNCTION_FLOOR && !memory)
			continue;
		begin_functions(tb->t, &any);
		put_function(tb, fah_profile_function(p, cost->function), cost, memory);
	}
	for (size_t i = 0; of->heap && i < of->heap->n_functions; i++) {
		uint32_t function = of->heap->functions[i].function;

		if (has_time(of, function) || !held_by(of, function))
			continue;
		begin_functions(tb->t, &any);
		put_function(tb, fah_profile_function(p, function), NULL, held_by(of, function));
	}
}

/* Where to read a file: what was run may have been changed or removed since. */
static const char *source_path(const struct fah_report_options *o, const struct fah_file_cost *file)
{
	for (int i = 0; i < 2 && o->copy; i++)
		if (o->copy_of[i] &&
		    (!strcmp(file->path, o->copy_of[i]) || !strcmp(file->abspath, o->copy_of[i])))
			return o->copy;
	return file->abspath;
}

static int put_file(struct fah_line_table *tb, const struct fah_profile *p,
		    const struct fah_line_subject *of)
{
	const struct fah_file_cost *file = of->file;
	double seconds = fah_times_sum(&file->times);
	const char *cell = fah_profile_cell(p, file->abspath);
	struct fah_source source;
	struct fah_text *t = tb->t;
	int err;

	if (cell)
		err = fah_source_of_text(&source, cell);
	else
		err = fah_source_init(&source, source_path(t->o, file),
				      fah_profile_count(p, "start_real_ns"));
	if (err < 0)
		return err;
	fah_strbuf_adds(&t->line, "  ");
	fah_text_file(&t->line, file->abspath);
	fah_text_put(t, ": %% of time = %6s (%s) out of %s.",
		     fah_share_text(tb->wall_s > 0 ? seconds / tb->wall_s : 0, 2).s,
		     fah_num_seconds_short(seconds).s, fah_num_seconds_short(tb->wall_s).s);
	fah_line_table_put(tb, of, &source);
	if (!source.n_lines && file->abspath[0] == '/')
		fah_text_put(t, "The source could not be read.");
	else if (source.newer)
		fah_text_put(t, "The source has changed since the run began: its lines may not be "
				"those that ran.");
	fah_text_end(t);
	put_functions(tb, p, of);
	if (of->heap)
		fah_heap_file_words(t, tb->heap, of->heap);
	fah_source_release(&source);
	return 0;
}

/* Files with at least 1 %, dearest first; how many there are. */
static size_t worth_showing(const struct fah_charges *charges)
{
	size_t n = 0;

	while (n < charges->n_files && charges->wall_s > 0 &&
	       fah_times_sum(&charges->files[n].times) >= FILE_FLOOR * charges->wall_s)
		n++;
	return n;
}

/* The time that a file took, whose memory is worth showing: none where it has no sample. */
static const struct fah_file_cost *file_of(const struct fah_charges *charges,
					   const struct fah_heap_file *heap,
					   struct fah_file_cost *none, size_t *ret_index)
{
	*none = (struct fah_file_cost){.path = heap->path, .abspath = heap->abspath};
	for (*ret_index = 0; *ret_index < charges->n_files; ++*ret_index)
		if (!strcmp(charges->files[*ret_index].abspath, heap->abspath))
			return &charges->files[*ret_index];
	return none;
}

static int put_next(struct fah_line_table *tb, const struct fah_profile *p,
		    const struct fah_line_subject *of, bool *first)
{
	if (!*first)
		fah_text_end(tb->t);
	*first = false;
	return put_file(tb, p, of);
}

/* The first n files by time, then others by memory. */
static int put_files(struct fah_line_table *tb, const struct fah_profile *p,
		     const struct fah_charges *charges, size_t n)
{
	const struct fah_heap *heap = tb->heap;
	bool first = true;
	int err = 0;

	for (size_t i = 0; err == 0 && i < n; i++) {
		struct fah_line_subject of = {&charges->files[i],
					      fah_heap_file_of(heap, charges->files[i].abspath)};

		err = put_next(tb, p, &of, &first);
	}
	for (size_t i = 0; err == 0 && heap && i < heap->n_files; i++) {
		struct fah_file_cost none;
		size_t index;
		struct fah_line_subject of = {file_of(charges, &heap->files[i], &none, &index),
					      &heap->files[i]};

		if (heap->files[i].most_share < FAH_HEAP_FLOOR || index < n)
			continue;
		err = put_next(tb, p, &of, &first);
	}
	return err;
}

/* Files by what their largest line has in a view. */
struct viewed {
	const struct fah_heap_file *file;
	double most;
};

static int more_first(const void *a, const void *b)
{
	const struct viewed *x = a, *y = b;

	return x->most != y->most ? (x->most < y->most ? 1 : -1)
				  : (x->file > y->file) - (x->file < y->file);
}

/* Those with memory in the view, and no others. */
static int put_viewed(struct fah_line_table *tb, const struct fah_profile *p,
		      const struct fah_charges *charges)
{
	enum fah_heap_view view = tb->t->o->memory;
	double whole = fah_heap_viewed_whole(tb->heap, view);
	struct viewed *order = reallocarray(NULL, tb->heap->n_files + 1, sizeof(*order));
	bool first = true;
	int err = order ? 0 : FAH_ERR_NOMEM;

	for (size_t i = 0; order && i < tb->heap->n_files; i++) {
		const struct fah_heap_line *line;

		order[i] = (struct viewed){&tb->heap->files[i], 0};
		if (fah_heap_top_lines(tb->heap, &tb->heap->files[i], (enum fah_heap_order_by)view,
				       0, &line, 1))
			order[i].most = fah_heap_viewed(&line->cost, view);
	}
	if (order)
		qsort(order, tb->heap->n_files, sizeof(*order), more_first);
	for (size_t i = 0; err == 0 && i < tb->heap->n_files; i++) {
		struct fah_file_cost none;
		size_t index;
		struct fah_line_subject of = {file_of(charges, order[i].file, &none, &index),
					      order[i].file};

		if (order[i].most > 0 && order[i].most >= FAH_HEAP_FLOOR * whole)
			err = put_next(tb, p, &of, &first);
	}
	free(order);
	return err;
}

int fah_report_lines(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	const struct fah_scope *scope = o->scope ? o->scope : &fah_scope_everything;
	const struct fah_totals *totals = fah_profile_totals(p);
	const struct fah_charges *charges, *all = NULL;
	struct fah_text t;
	const struct fah_heap *heap;
	struct fah_line_table tb;
	size_t n;
	int err, end;

	err = fah_profile_charge(p, scope, &charges);
	if (err == 0)
		err = fah_profile_heap(p, scope, &heap);
	if (err < 0)
		return err;
	fah_text_init(&t, out, o);
	if (fah_closing_refused(&t, p))
		fah_text_end(&t);
	n = worth_showing(charges);
	if (heap) {
		fah_heap_usage(&t, heap);
		fah_text_end(&t);
	}
	if (!totals->samples && !(totals->waited_s > 0)) {
		fah_closing_empty(&t, p);
		if (heap)
			fah_text_end(&t);
	} else if (!n) {
		err = fah_profile_charge(p, &fah_scope_everything, &all);
		if (err == 0)
			err = fah_profile_heap(p, &fah_scope_everything, &heap);
		n = err == 0 ? worth_showing(all) : 0;
		fah_thin_scope(&t, p, charges, n > 0);
		charges = all;
		if (n)
			fah_text_end(&t);
	}
	if (err == 0) {
		fah_line_table_init(&tb, &t, charges, heap);
		err = heap && o->memory ? put_viewed(&tb, p, charges)
					: put_files(&tb, p, charges, n);
	}
	end = fah_text_finish(&t);
	return err < 0 ? err : end;
}
