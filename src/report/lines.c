/*
 * lines.c - for each file with at least 1 % of the run, or of its memory: a table of the lines that
 * took it, in Python, in native code, in the kernel and, where any line did, waiting; where memory
 * was recorded, what they held of it; below it the same by function.
 */
#include "report/lines.h"

#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "model/cells.h"
#include "report/closing.h"
#include "report/heap.h"
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
#define WAITING_FLOOR 0.01    /* of one line: then there is a column for it */
#define CELLS_MAX 7
#define NUMBER_MIN 5 /* columns of a line number, without the space behind it */
#define SOURCE_MIN 8
#define WIDE 100 /* columns from which on timelines are long */

enum cell { TIME, MEMORY_PYTHON, MEMORY_PEAK, MEMORY_TIMELINE };

struct column {
	const char *name;  /* with the space behind it: so wide the column is */
	const char *above; /* NULL: a line */
	enum cell what;
	size_t from; /* of TIME: its number in struct fah_times */
};

static const struct column times[] = {
	{"Python ", "Time", TIME, offsetof(struct fah_times, python)},
	{"native ", NULL, TIME, offsetof(struct fah_times, native)},
	{"system ", NULL, TIME, offsetof(struct fah_times, system)},
	{"waiting ", NULL, TIME, offsetof(struct fah_times, waiting)},
};
static const struct column memory_python = {"Python ", "Memory", MEMORY_PYTHON, 0};
static const struct column memory_peak = {"peak   ", NULL, MEMORY_PEAK, 0};
static const struct column memory_timeline = {"timeline/% ", NULL, MEMORY_TIMELINE, 0};
static const struct column memory_timeline_wide = {"timeline/%     ", NULL, MEMORY_TIMELINE, 0};
#define ACTIVITY 5 /* columns of "100% " behind a timeline */

struct table {
	struct fah_text *t;
	const struct column *columns[CELLS_MAX];
	int cells;
	int number;    /* columns of line numbers */
	size_t source; /* columns of source */
	double wall_s;
	const struct fah_heap *heap; /* NULL: not recorded */
};

/* A file, and what it held. */
struct subject {
	const struct fah_file_cost *file;
	const struct fah_heap_file *heap; /* NULL: nothing that was recorded */
};

static int column_width(const struct table *tb, int i)
{
	return (int)strlen(tb->columns[i]->name);
}

static void put_cells(struct table *tb, const char *number, const char *const *cells)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, number, t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		fah_utf8_pad_left(&t->line, cells[i], strlen(cells[i]),
				  (size_t)column_width(tb, i));
		fah_strbuf_adds(&t->line, t->g->vertical);
	}
}

static void put_gap(struct table *tb)
{
	static const char *const empty[CELLS_MAX] = {"", "", "", "", "", "", ""};

	put_cells(tb, "...", empty);
	fah_text_end(tb->t);
}

static void put_edge(struct table *tb, const char *glyph)
{
	struct fah_text *t = tb->t;

	fah_text_repeat(t, " ", tb->number + 1);
	for (int i = 0; i <= tb->cells; i++) {
		fah_strbuf_adds(&t->line, glyph);
		if (i < tb->cells)
			fah_text_repeat(t, " ", column_width(tb, i));
	}
	fah_text_end(t);
}

/* "Time", "Memory", and above the other names a line. */
static void put_above(struct table *tb)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, "", t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		if (tb->columns[i]->above) {
			fah_strbuf_addf(&t->line, "%-*s%s", column_width(tb, i),
					tb->columns[i]->above, t->g->vertical);
		} else {
			fah_text_repeat(t, t->g->over, column_width(tb, i) - 1);
			fah_strbuf_addf(&t->line, " %s", t->g->vertical);
		}
	}
	fah_text_end(t);
}

static void put_head(struct table *tb, const char *path)
{
	struct fah_strbuf clean = FAH_STRBUF_INIT;
	const char *names[CELLS_MAX];
	struct fah_text *t = tb->t;

	for (int i = 0; i < tb->cells; i++)
		names[i] = tb->columns[i]->name;
	put_edge(tb, t->g->top);
	put_above(tb);
	put_cells(tb, "Line", names);
	fah_text_file(&clean, path);
	fah_utf8_cut(&t->line, fah_strbuf_str(&clean), clean.len, tb->source, !t->o->utf8);
	fah_text_end(t);
	fah_text_repeat(t, t->g->rule, tb->number + 1);
	for (int i = 0; i <= tb->cells; i++) {
		fah_strbuf_adds(&t->line, t->g->cross);
		fah_text_repeat(t, t->g->rule,
				i < tb->cells ? column_width(tb, i) : (int)tb->source);
	}
	fah_text_end(t);
	t->failed |= clean.failed;
	fah_strbuf_release(&clean);
}

/* "   34% ": right-aligned, nothing below half a percent unless nothing else would be shown. */
static void cell(char *buf, size_t size, int width, double share, bool at_least)
{
	const char *least = at_least ? "<1%" : "";

	snprintf(buf, size, "%*s ", width - 1,
		 share >= LINE_FLOOR ? fah_share_text(share, 0).s : least);
}

static double share_of(const struct table *tb, const struct fah_line_cost *line, int column)
{
	double seconds;

	if (!line || tb->columns[column]->what != TIME || !(tb->wall_s > 0))
		return 0;
	memcpy(&seconds, (const char *)&line->times + tb->columns[column]->from, sizeof(seconds));
	return seconds / tb->wall_s;
}

static void put_memory(struct table *tb, int column, const struct fah_heap_line *line)
{
	int width = column_width(tb, column) - 1;
	struct fah_text *t = tb->t;
	char text[FAH_NUM_MAX + 8];

	if (!line) {
		fah_text_repeat(t, " ", width + 1);
		return;
	}
	switch (tb->columns[column]->what) {
	case MEMORY_PYTHON:
		cell(text, sizeof(text), width + 1, line->cost.python, false);
		fah_strbuf_adds(&t->line, text);
		return;
	case MEMORY_PEAK:
		snprintf(text, sizeof(text), "%*s ", width,
			 fah_num_bytes_column(fah_heap_bytes(line->cost.peak)).s);
		fah_text_paint(t, fah_text_heat(line->cost.peak_share), text);
		return;
	default:
		fah_heap_bars(&t->line, t, line->cost.timeline, line->cost.peak,
			      width + 1 - ACTIVITY);
		cell(text, sizeof(text), ACTIVITY, line->cost.activity, false);
		fah_strbuf_adds(&t->line, text);
	}
}

static bool shown(const struct table *tb, const struct fah_line_cost *line)
{
	return line && fah_times_sum(&line->times) >= LINE_FLOOR * tb->wall_s;
}

static bool shown_memory(const struct fah_heap_line *line)
{
	return line && (line->cost.peak_share >= FAH_HEAP_FLOOR ||
			line->cost.activity >= FAH_HEAP_FLOOR || line->leak.likelihood > 0);
}

/* One of both may be NULL. */
static void put_row(struct table *tb, const struct fah_line_cost *line,
		    const struct fah_heap_line *memory, const struct fah_source *source)
{
	uint32_t number = line ? line->line : memory->line;
	double shares[CELLS_MAX];
	struct fah_text *t = tb->t;
	char text[32];
	int most = 0;

	for (int i = 0; i < tb->cells; i++) {
		shares[i] = share_of(tb, line, i);
		if (shares[i] > shares[most])
			most = i;
	}
	snprintf(text, sizeof(text), "%u", number);
	fah_strbuf_addf(&t->line, "%*s %s", tb->number, text, t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		if (tb->columns[i]->what == TIME) {
			cell(text, sizeof(text), column_width(tb, i), shares[i],
			     i == most && shown(tb, line));
			fah_text_paint(t, fah_text_heat(shares[i]), text);
		} else {
			put_memory(tb, i, memory);
		}
		fah_strbuf_adds(&t->line, t->g->vertical);
	}
	fah_source_line(source, number, &t->line, tb->source, !t->o->utf8);
	fah_text_end(t);
}

/* The next line that is worth a row, by number, from both lists. */
struct rows {
	const struct subject *of;
	size_t at, at_heap;
};

static bool next_row(const struct table *tb, struct rows *r, const struct fah_line_cost **ret_line,
		     const struct fah_heap_line **ret_memory)
{
	size_t n = r->of->file->n_lines, n_heap = r->of->heap ? r->of->heap->n_lines : 0;

	while (r->at < n || r->at_heap < n_heap) {
		const struct fah_line_cost *line = r->at < n ? &r->of->file->lines[r->at] : NULL;
		const struct fah_heap_line *memory =
			r->at_heap < n_heap ? &r->of->heap->lines[r->at_heap] : NULL;

		if (line && memory && line->line < memory->line)
			memory = NULL;
		else if (line && memory && line->line > memory->line)
			line = NULL;
		r->at += line != NULL;
		r->at_heap += memory != NULL;
		if (shown(tb, line) || shown_memory(memory)) {
			*ret_line = line;
			*ret_memory = memory;
			return true;
		}
	}
	return false;
}

static void put_rows(struct table *tb, const struct subject *of, const struct fah_source *source)
{
	const struct fah_heap_line *memory;
	const struct fah_line_cost *line;
	struct rows r = {.of = of};
	uint32_t last = 0;

	while (next_row(tb, &r, &line, &memory)) {
		uint32_t number = line ? line->line : memory->line;

		if (number > last + 1)
			put_gap(tb);
		put_row(tb, line, memory, source);
		last = number;
	}
	if (!source->n_lines || last < source->n_lines)
		put_gap(tb);
}

static void add_part(struct fah_strbuf *sb, const char **between, double share, const char *name)
{
	fah_strbuf_addf(sb, "%s%s %s", *between, fah_share_text(share, 0).s, name);
	*between = ", ";
}

static void add_times(struct table *tb, const struct fah_function_cost *cost, const char **between)
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
static void put_function(struct table *tb, const struct fah_function *f,
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

static const struct fah_heap_function *held_by(const struct subject *of, uint32_t function)
{
	for (size_t i = 0; of->heap && i < of->heap->n_functions; i++)
		if (of->heap->functions[i].function == function)
			return of->heap->functions[i].cost.peak_share >= FAH_HEAP_FLOOR
				       ? &of->heap->functions[i]
				       : NULL;
	return NULL;
}

static bool has_time(const struct subject *of, uint32_t function)
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
static void put_functions(struct table *tb, const struct fah_profile *p, const struct subject *of)
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

static int number_width(const struct table *tb, const struct subject *of)
{
	const struct fah_heap_line *memory;
	const struct fah_line_cost *line;
	struct rows r = {.of = of};
	int width = NUMBER_MIN, n;
	char digits[16];

	while (next_row(tb, &r, &line, &memory)) {
		n = snprintf(digits, sizeof(digits), "%u", line ? line->line : memory->line) + 1;
		width = n > width ? n : width;
	}
	return width;
}

static int put_file(struct table *tb, const struct fah_profile *p, const struct subject *of)
{
	const struct fah_file_cost *file = of->file;
	double seconds = fah_times_sum(&file->times);
	const char *cell = fah_profile_cell(p, file->abspath);
	struct fah_source source;
	struct fah_text *t = tb->t;
	int room, err;

	if (cell)
		err = fah_source_of_text(&source, cell);
	else
		err = fah_source_init(&source, source_path(t->o, file),
				      fah_profile_count(p, "start_real_ns"));
	if (err < 0)
		return err;
	tb->number = number_width(tb, of);
	room = t->width - (tb->number + 2);
	for (int i = 0; i < tb->cells; i++)
		room -= column_width(tb, i) + 1;
	tb->source = (size_t)(room > SOURCE_MIN ? room : SOURCE_MIN);

	fah_strbuf_adds(&t->line, "  ");
	fah_text_file(&t->line, file->abspath);
	fah_text_put(t, ": %% of time = %6s (%s) out of %s.",
		     fah_share_text(tb->wall_s > 0 ? seconds / tb->wall_s : 0, 2).s,
		     fah_num_seconds_short(seconds).s, fah_num_seconds_short(tb->wall_s).s);
	put_head(tb, file->abspath);
	put_rows(tb, of, &source);
	put_edge(tb, t->g->bottom);
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

/* All tables of a report have the same columns. */
static void choose_columns(struct table *tb, const struct fah_charges *charges)
{
	bool waiting = false;

	for (size_t i = 0; i < charges->n_files; i++)
		for (size_t k = 0; k < charges->files[i].n_lines; k++)
			waiting |= charges->files[i].lines[k].times.waiting >=
				   WAITING_FLOOR * charges->wall_s;
	for (int i = 0; i < (waiting ? 4 : 3); i++)
		tb->columns[tb->cells++] = &times[i];
	if (!tb->heap)
		return;
	tb->columns[tb->cells++] = &memory_python;
	tb->columns[tb->cells++] = &memory_peak;
	tb->columns[tb->cells++] = tb->t->width >= WIDE ? &memory_timeline_wide : &memory_timeline;
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

/* The first n files by time, then others by memory. */
static int put_files(struct table *tb, const struct fah_profile *p,
		     const struct fah_charges *charges, size_t n)
{
	const struct fah_heap *heap = tb->heap;
	bool first = true;
	int err = 0;

	choose_columns(tb, charges);
	for (size_t i = 0; err == 0 && i < n; i++) {
		struct subject of = {&charges->files[i],
				     fah_heap_file_of(heap, charges->files[i].abspath)};

		if (!first)
			fah_text_end(tb->t);
		first = false;
		err = put_file(tb, p, &of);
	}
	for (size_t i = 0; err == 0 && heap && i < heap->n_files; i++) {
		struct fah_file_cost none;
		size_t index;
		struct subject of = {file_of(charges, &heap->files[i], &none, &index),
				     &heap->files[i]};

		if (heap->files[i].most_share < FAH_HEAP_FLOOR || index < n)
			continue;
		if (!first)
			fah_text_end(tb->t);
		first = false;
		err = put_file(tb, p, &of);
	}
	return err;
}

int fah_report_lines(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	const struct fah_scope *scope = o->scope ? o->scope : &fah_scope_everything;
	const struct fah_totals *totals = fah_profile_totals(p);
	const struct fah_charges *charges, *all = NULL;
	struct fah_text t;
	struct table tb = {.t = &t, .wall_s = totals->wall_s};
	size_t n;
	int err, end;

	err = fah_profile_charge(p, scope, &charges);
	if (err == 0)
		err = fah_profile_heap(p, scope, &tb.heap);
	if (err < 0)
		return err;
	fah_text_init(&t, out, o);
	if (fah_closing_refused(&t, p))
		fah_text_end(&t);
	n = worth_showing(charges);
	if (tb.heap) {
		fah_heap_usage(&t, tb.heap);
		fah_text_end(&t);
	}
	if (!totals->samples && !(totals->waited_s > 0)) {
		fah_closing_empty(&t, p);
		if (tb.heap)
			fah_text_end(&t);
	} else if (!n) {
		err = fah_profile_charge(p, &fah_scope_everything, &all);
		if (err == 0)
			err = fah_profile_heap(p, &fah_scope_everything, &tb.heap);
		n = err == 0 ? worth_showing(all) : 0;
		fah_thin_scope(&t, p, charges, n > 0);
		charges = all;
		if (n)
			fah_text_end(&t);
	}
	if (err == 0)
		err = put_files(&tb, p, charges, n);
	end = fah_text_finish(&t);
	return err < 0 ? err : end;
}
