/* line_table.c - see line_table.h. */
#include "report/line_table.h"

#include "base/number.h"
#include "base/utf8.h"
#include "report/heap.h"

#include <stddef.h>
#include <string.h>

#define LINE_FLOOR 0.005   /* what rounds to 1 % */
#define WAITING_FLOOR 0.01 /* of one line: then there is a column for it */
#define NUMBER_MIN 5	   /* columns of a line number, without the space behind it */
#define SOURCE_MIN 8
#define WIDE 100 /* columns from which on timelines are long */

enum cell { TIME, MEMORY_PYTHON, MEMORY_HELD, MEMORY_TIMELINE, COPY };

struct fah_line_column {
	const char *name;  /* with the space behind it: so wide the column is */
	const char *above; /* NULL: a line */
	enum cell what;
	size_t from; /* of TIME: its number in struct fah_times */
};

static const struct fah_line_column times[] = {
	{"Python ", "Time", TIME, offsetof(struct fah_times, python)},
	{"native ", NULL, TIME, offsetof(struct fah_times, native)},
	{"system ", NULL, TIME, offsetof(struct fah_times, system)},
	{"waiting ", NULL, TIME, offsetof(struct fah_times, waiting)},
};
static const struct fah_line_column memory_python = {"Python ", "Memory", MEMORY_PYTHON, 0};
static const struct fah_line_column memory_held[] = {
	[FAH_HEAP_VIEW_NONE] = {"peak   ", NULL, MEMORY_HELD, 0},
	[FAH_HEAP_VIEW_PEAK] = {"at peak ", NULL, MEMORY_HELD, 0},
	[FAH_HEAP_VIEW_LIVE] = {"live   ", NULL, MEMORY_HELD, 0},
	[FAH_HEAP_VIEW_TEMPORARY] = {"temporary ", NULL, MEMORY_HELD, 0},
	[FAH_HEAP_VIEW_TOTAL] = {"total  ", NULL, MEMORY_HELD, 0},
};
static const struct fah_line_column memory_timeline = {"timeline/% ", NULL, MEMORY_TIMELINE, 0};
static const struct fah_line_column memory_timeline_wide = {"timeline/%     ", NULL,
							    MEMORY_TIMELINE, 0};
static const struct fah_line_column copy = {"(MB/s) ", "Copy", COPY, 0};
#define COPY_FLOOR 5e5 /* bytes a second: what rounds to 1 MB */
#define ACTIVITY 5     /* columns of "100% " behind a timeline */

static int column_width(const struct fah_line_table *tb, int i)
{
	return (int)strlen(tb->columns[i]->name);
}

static void put_cells(struct fah_line_table *tb, const char *number, const char *const *cells)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, number, t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		fah_utf8_pad_left(&t->line, cells[i], strlen(cells[i]),
				  (size_t)column_width(tb, i));
		fah_strbuf_adds(&t->line, t->g->vertical);
	}
}

static void put_gap(struct fah_line_table *tb)
{
	static const char *const empty[FAH_LINE_CELLS] = {"", "", "", "", "", "", "", ""};

	put_cells(tb, "...", empty);
	fah_text_end(tb->t);
}

static void put_edge(struct fah_line_table *tb, const char *glyph)
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
static void put_above(struct fah_line_table *tb)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, "", t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		if (tb->columns[i]->above) {
			fah_strbuf_addf(&t->line, "%-*s%s", column_width(tb, i),
					tb->columns[i]->above, t->g->vertical);
		} else {
			bool whole = tb->columns[i]->what == MEMORY_TIMELINE;

			fah_text_repeat(t, t->g->over, column_width(tb, i) - !whole);
			fah_strbuf_addf(&t->line, "%s%s", whole ? "" : " ", t->g->vertical);
		}
	}
	fah_text_end(t);
}

static void put_head(struct fah_line_table *tb, const char *path)
{
	struct fah_strbuf clean = FAH_STRBUF_INIT;
	const char *names[FAH_LINE_CELLS];
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

static double share_of(const struct fah_line_table *tb, const struct fah_line_cost *line,
		       int column)
{
	double seconds;

	if (!line || tb->columns[column]->what != TIME || !(tb->wall_s > 0))
		return 0;
	memcpy(&seconds, (const char *)&line->times + tb->columns[column]->from, sizeof(seconds));
	return seconds / tb->wall_s;
}

static void put_memory(struct fah_line_table *tb, int column, const struct fah_heap_line *line)
{
	int width = column_width(tb, column) - 1;
	struct fah_text *t = tb->t;
	char text[FAH_NUM_MAX + 8];
	double held, whole;

	if (!line) {
		fah_text_repeat(t, " ", width + 1);
		return;
	}
	switch (tb->columns[column]->what) {
	case MEMORY_PYTHON:
		cell(text, sizeof(text), width + 1, line->cost.python, false);
		fah_strbuf_adds(&t->line, text);
		return;
	case MEMORY_HELD:
		held = fah_heap_viewed(&line->cost, t->o->memory);
		whole = fah_heap_viewed_whole(tb->heap, t->o->memory);
		snprintf(text, sizeof(text), "%*s ", width,
			 fah_num_bytes_column(fah_heap_bytes(held)).s);
		fah_text_paint(t, fah_text_heat(whole > 0 ? held / whole : 0), text);
		return;
	case COPY:
		if (line->cost.copy_rate >= COPY_FLOOR)
			snprintf(text, sizeof(text), "%*.0f ", width, line->cost.copy_rate / 1e6);
		else
			snprintf(text, sizeof(text), "%*s ", width, "");
		fah_strbuf_adds(&t->line, text);
		return;
	default:
		fah_heap_bars(&t->line, t, line->cost.timeline, line->cost.peak,
			      width + 1 - ACTIVITY);
		cell(text, sizeof(text), ACTIVITY, line->cost.activity, false);
		fah_strbuf_adds(&t->line, text);
	}
}

static bool shown(const struct fah_line_table *tb, const struct fah_line_cost *line)
{
	return line && fah_times_sum(&line->times) >= LINE_FLOOR * tb->wall_s;
}

static bool shown_memory(const struct fah_heap_line *line)
{
	return line &&
	       (line->cost.peak_share >= FAH_HEAP_FLOOR || line->cost.activity >= FAH_HEAP_FLOOR ||
		line->leak.likelihood > 0 || line->cost.copy_rate >= COPY_FLOOR);
}

/* One of both may be NULL. */
static void put_row(struct fah_line_table *tb, const struct fah_line_cost *line,
		    const struct fah_heap_line *memory, const struct fah_source *source)
{
	uint32_t number = line ? line->line : memory->line;
	double shares[FAH_LINE_CELLS];
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
	const struct fah_line_subject *of;
	size_t at, at_heap;
};

static bool next_row(const struct fah_line_table *tb, struct rows *r,
		     const struct fah_line_cost **ret_line, const struct fah_heap_line **ret_memory)
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

static void put_rows(struct fah_line_table *tb, const struct fah_line_subject *of,
		     const struct fah_source *source)
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

static int number_width(const struct fah_line_table *tb, const struct fah_line_subject *of)
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

/* All tables of a report have the same columns. */
static void choose_columns(struct fah_line_table *tb, const struct fah_charges *charges)
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
	tb->columns[tb->cells++] = &memory_held[tb->t->o->memory];
	tb->columns[tb->cells++] = tb->t->width >= WIDE ? &memory_timeline_wide : &memory_timeline;
	tb->columns[tb->cells++] = &copy;
}

void fah_line_table_init(struct fah_line_table *tb, struct fah_text *t,
			 const struct fah_charges *charges, const struct fah_heap *heap)
{
	*tb = (struct fah_line_table){.t = t, .wall_s = charges->wall_s, .heap = heap};
	choose_columns(tb, charges);
}

void fah_line_table_put(struct fah_line_table *tb, const struct fah_line_subject *of,
			const struct fah_source *source)
{
	int room;

	tb->number = number_width(tb, of);
	room = tb->t->width - (tb->number + 2);
	for (int i = 0; i < tb->cells; i++)
		room -= column_width(tb, i) + 1;
	tb->source = (size_t)(room > SOURCE_MIN ? room : SOURCE_MIN);
	put_head(tb, of->file->abspath);
	put_rows(tb, of, source);
	put_edge(tb, tb->t->g->bottom);
}
