/*
 * lines.c - for each file with at least 1 % of the run: a table of the lines that took it, in
 * Python, in native code, in the kernel and, where any line did, waiting; below it the same by
 * function.
 */
#include "report/lines.h"

#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "model/cells.h"
#include "report/closing.h"
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
#define CELLS_MAX 4
#define NUMBER_MIN 5 /* columns of a line number, without the space behind it */
#define SOURCE_MIN 8

struct column {
	const char *name; /* with the space behind it: so wide the column is */
	size_t from;	  /* its number in struct fah_times */
};

static const struct column columns[CELLS_MAX] = {
	{"Python ", offsetof(struct fah_times, python)},
	{"native ", offsetof(struct fah_times, native)},
	{"system ", offsetof(struct fah_times, system)},
	{"waiting ", offsetof(struct fah_times, waiting)},
};

struct table {
	struct fah_text *t;
	int cells;     /* columns of times */
	int number;    /* columns of line numbers */
	size_t source; /* columns of source */
	double wall_s;
};

static int column_width(int i)
{
	return (int)strlen(columns[i].name);
}

static void put_cells(struct table *tb, const char *number, const char *const *cells)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, number, t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		fah_utf8_pad_left(&t->line, cells[i], strlen(cells[i]), (size_t)column_width(i));
		fah_strbuf_adds(&t->line, t->g->vertical);
	}
}

static void put_gap(struct table *tb)
{
	static const char *const empty[CELLS_MAX] = {"", "", "", ""};

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
			fah_text_repeat(t, " ", column_width(i));
	}
	fah_text_end(t);
}

/* "Time", and above the other names a line. */
static void put_above(struct table *tb)
{
	struct fah_text *t = tb->t;

	fah_strbuf_addf(&t->line, "%*s %s", tb->number, "", t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		if (i) {
			fah_text_repeat(t, t->g->over, column_width(i) - 1);
			fah_strbuf_addf(&t->line, " %s", t->g->vertical);
		} else {
			fah_strbuf_addf(&t->line, "%-*s%s", column_width(i), "Time",
					t->g->vertical);
		}
	}
	fah_text_end(t);
}

static void put_head(struct table *tb, const char *path)
{
	struct fah_strbuf clean = FAH_STRBUF_INIT;
	const char *names[CELLS_MAX];
	struct fah_text *t = tb->t;

	for (int i = 0; i < CELLS_MAX; i++)
		names[i] = columns[i].name;
	put_edge(tb, t->g->top);
	put_above(tb);
	put_cells(tb, "Line", names);
	fah_text_file(&clean, path);
	fah_utf8_cut(&t->line, fah_strbuf_str(&clean), clean.len, tb->source, !t->o->utf8);
	fah_text_end(t);
	fah_text_repeat(t, t->g->rule, tb->number + 1);
	for (int i = 0; i <= tb->cells; i++) {
		fah_strbuf_adds(&t->line, t->g->cross);
		fah_text_repeat(t, t->g->rule, i < tb->cells ? column_width(i) : (int)tb->source);
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

static double share_of(const struct table *tb, const struct fah_times *times, int column)
{
	double seconds;

	memcpy(&seconds, (const char *)times + columns[column].from, sizeof(seconds));
	return seconds / tb->wall_s;
}

static void put_row(struct table *tb, const struct fah_line_cost *line,
		    const struct fah_source *source)
{
	double shares[CELLS_MAX];
	char text[32], number[16];
	int most = 0;
	struct fah_text *t = tb->t;

	for (int i = 0; i < tb->cells; i++) {
		shares[i] = share_of(tb, &line->times, i);
		if (shares[i] > shares[most])
			most = i;
	}
	snprintf(number, sizeof(number), "%u", line->line);
	fah_strbuf_addf(&t->line, "%*s %s", tb->number, number, t->g->vertical);
	for (int i = 0; i < tb->cells; i++) {
		cell(text, sizeof(text), column_width(i), shares[i], i == most);
		fah_text_paint(t, fah_text_heat(shares[i]), text);
		fah_strbuf_adds(&t->line, t->g->vertical);
	}
	fah_source_line(source, line->line, &t->line, tb->source, !t->o->utf8);
	fah_text_end(t);
}

static bool shown(const struct table *tb, const struct fah_line_cost *line)
{
	return fah_times_sum(&line->times) >= LINE_FLOOR * tb->wall_s;
}

static void put_rows(struct table *tb, const struct fah_file_cost *file,
		     const struct fah_source *source)
{
	uint32_t last = 0;

	for (size_t i = 0; i < file->n_lines; i++) {
		const struct fah_line_cost *line = &file->lines[i];

		if (!shown(tb, line))
			continue;
		if (line->line > last + 1)
			put_gap(tb);
		put_row(tb, line, source);
		last = line->line;
	}
	if (!source->n_lines || last < source->n_lines)
		put_gap(tb);
}

static void add_part(struct fah_strbuf *sb, const char **between, double share, const char *name)
{
	fah_strbuf_addf(sb, "%s%s %s", *between, fah_share_text(share, 0).s, name);
	*between = ", ";
}

static void put_functions(struct table *tb, const struct fah_profile *p,
			  const struct fah_file_cost *file)
{
	struct fah_text *t = tb->t;
	bool any = false;

	for (size_t i = 0; i < file->n_functions; i++) {
		const struct fah_function_cost *cost = &file->functions[i];
		const struct fah_function *f = fah_profile_function(p, cost->function);
		const char *between = ": ";

		if (cost->share < FUNCTION_FLOOR)
			continue;
		if (!any)
			fah_text_put(t, "Function summaries:");
		any = true;
		fah_strbuf_adds(&t->line, "  ");
		fah_text_clean(&t->line, f->name);
		fah_strbuf_adds(&t->line, " (");
		if (fah_cell_number(f->file, NULL))
			fah_text_place(&t->line, f->file, f->first_line);
		else
			fah_strbuf_addf(&t->line, "line %u", f->first_line);
		fah_strbuf_addc(&t->line, ')');
		add_part(&t->line, &between, cost->times.python / tb->wall_s, "Python");
		add_part(&t->line, &between, cost->times.native / tb->wall_s, "native");
		if (cost->times.system >= LINE_FLOOR * tb->wall_s)
			add_part(&t->line, &between, cost->times.system / tb->wall_s, "system");
		if (cost->times.waiting >= LINE_FLOOR * tb->wall_s) {
			add_part(&t->line, &between, cost->times.waiting / tb->wall_s, "waiting (");
			fah_waits_add(&t->line, cost->waited_by, tb->wall_s);
			fah_strbuf_addc(&t->line, ')');
		}
		if (cost->collecting >= LINE_FLOOR * tb->wall_s)
			add_part(&t->line, &(const char *){"; "}, cost->collecting / tb->wall_s,
				 "of it collecting garbage");
		fah_text_end(t);
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

static int put_file(struct fah_text *t, const struct fah_profile *p,
		    const struct fah_file_cost *file, int cells)
{
	double wall_s = fah_profile_totals(p)->wall_s, seconds = fah_times_sum(&file->times);
	struct table tb = {.t = t, .cells = cells, .number = NUMBER_MIN, .wall_s = wall_s};
	const char *cell = fah_profile_cell(p, file->abspath);
	struct fah_source source;
	char digits[16];
	int room, err;

	if (cell)
		err = fah_source_of_text(&source, cell);
	else
		err = fah_source_init(&source, source_path(t->o, file),
				      fah_profile_count(p, "start_real_ns"));
	if (err < 0)
		return err;
	for (size_t i = 0; i < file->n_lines; i++) {
		int n = snprintf(digits, sizeof(digits), "%u", file->lines[i].line) + 1;

		if (shown(&tb, &file->lines[i]) && n > tb.number)
			tb.number = n;
	}
	room = t->width - (tb.number + 2);
	for (int i = 0; i < cells; i++)
		room -= column_width(i) + 1;
	tb.source = (size_t)(room > SOURCE_MIN ? room : SOURCE_MIN);

	fah_strbuf_adds(&t->line, "  ");
	fah_text_file(&t->line, file->abspath);
	fah_text_put(t, ": %% of time = %6s (%s) out of %s.", fah_share_text(seconds / wall_s, 2).s,
		     fah_num_seconds_short(seconds).s, fah_num_seconds_short(wall_s).s);
	put_head(&tb, file->abspath);
	put_rows(&tb, file, &source);
	put_edge(&tb, t->g->bottom);
	if (!source.n_lines && file->abspath[0] == '/')
		fah_text_put(t, "The source could not be read.");
	else if (source.newer)
		fah_text_put(t, "The source has changed since the run began: its lines may not be "
				"those that ran.");
	fah_text_end(t);
	put_functions(&tb, p, file);
	fah_source_release(&source);
	return 0;
}

/* All tables of a report have the same columns. */
static int cells_of(const struct fah_charges *charges)
{
	for (size_t i = 0; i < charges->n_files; i++)
		for (size_t k = 0; k < charges->files[i].n_lines; k++)
			if (charges->files[i].lines[k].times.waiting >=
			    WAITING_FLOOR * charges->wall_s)
				return CELLS_MAX;
	return CELLS_MAX - 1;
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

int fah_report_lines(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	const struct fah_charges *charges, *all = NULL;
	struct fah_text t;
	size_t n;
	int err, end;

	err = fah_profile_charge(p, o->scope ? o->scope : &fah_scope_everything, &charges);
	if (err < 0)
		return err;
	fah_text_init(&t, out, o);
	if (fah_closing_refused(&t, p))
		fah_text_end(&t);
	n = worth_showing(charges);
	if (!totals->samples && !(totals->waited_s > 0)) {
		fah_closing_empty(&t, p);
	} else if (!n) {
		err = fah_profile_charge(p, &fah_scope_everything, &all);
		n = err == 0 ? worth_showing(all) : 0;
		fah_thin_scope(&t, p, charges, n > 0);
		charges = all;
		if (n)
			fah_text_end(&t);
	}
	for (size_t i = 0; err == 0 && i < n; i++) {
		if (i)
			fah_text_end(&t);
		err = put_file(&t, p, &charges->files[i], cells_of(charges));
	}
	end = fah_text_finish(&t);
	return err < 0 ? err : end;
}
