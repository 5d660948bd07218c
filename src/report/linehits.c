/* linehits.c - see linehits.h. */
#include "report/linehits.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/qualname.h"
#include "report/source.h"
#include "report/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Columns as line_profiler has them; wider where numbers need it. */
enum { LINE = 6, HITS = 9, TIME = 12, PER_HIT = 8, PERCENT = 8, CALLED = 12 };
#define CELL 40
#define MICROSECOND 1e-6
#define SOURCE_COLUMNS 4000 /* of a line: all */

struct view {
	const struct fah_linehits *h;
	const struct fah_linehits_options *how;
	struct fah_text text;
	struct fah_source source; /* of the last function's file */
	struct fah_qualnames *names;
	const char *file;
	double scale; /* of times to what is shown */
};

struct cells {
	char hits[CELL], time[CELL], per_hit[CELL], percent[CELL], called[CELL];
};

struct widths {
	int hits, time, per_hit, called;
};

static void view_release(struct view *v)
{
	fah_source_release(&v->source);
	fah_qualnames_free(v->names);
}

/* One decimal, or fewer digits where that is too wide. */
static void number(char *cell, double value, int width)
{
	if (snprintf(cell, CELL, "%5.1f", value) > width)
		snprintf(cell, CELL, "%5.3g", value);
}

static void fill(struct cells *c, const struct view *v, const struct fah_linehit *l, double total)
{
	*c = (struct cells){0};
	if (snprintf(c->hits, CELL, "%" PRIu64, l->hits) > HITS)
		snprintf(c->hits, CELL, "%g", (double)l->hits);
	number(c->time, l->time * v->scale, TIME);
	if (l->hits)
		number(c->per_hit, l->time * v->scale / (double)l->hits, PER_HIT);
	if (total > 0)
		snprintf(c->percent, CELL, "%5.1f", 100 * l->time / total);
	if (l->called > 0)
		number(c->called, l->called * v->scale, CALLED);
}

static void widen(int *width, const char *cell)
{
	if ((int)strlen(cell) > *width)
		*width = (int)strlen(cell);
}

static void row(struct view *v, const struct widths *w, const char *line, const struct cells *c)
{
	fah_strbuf_addf(&v->text.line, "%*s %*s %*s %*s %*s", LINE, line, w->hits, c->hits, w->time,
			c->time, w->per_hit, c->per_hit, PERCENT, c->percent);
	if (v->h->has_called)
		fah_strbuf_addf(&v->text.line, " %*s", w->called, c->called);
	fah_strbuf_adds(&v->text.line, "  ");
}

/* The function's file, and where its blocks end; the last one is kept. */
static int open_source(struct view *v, const struct fah_linehits_function *f)
{
	char path[PATH_MAX], real[PATH_MAX];
	int err;

	if (v->file && !strcmp(v->file, f->file))
		return 0;
	fah_source_release(&v->source);
	fah_qualnames_free(v->names);
	v->names = NULL;
	v->file = f->file;
	if (v->how->code && !strcmp(f->file, "<string>")) {
		err = fah_source_of_text(&v->source, v->how->code);
	} else {
		if (f->file[0] == '/' || !v->how->cwd)
			err = snprintf(path, sizeof(path), "%s", f->file);
		else
			err = snprintf(path, sizeof(path), "%s/%s", v->how->cwd, f->file);
		if (err < (int)sizeof(path) && path[0] != '/' && realpath(path, real))
			err = snprintf(path, sizeof(path), "%s", real);
		err = err < (int)sizeof(path) ? fah_source_init(&v->source, path, 0) : 0;
	}
	if (err == 0 && v->source.n_lines)
		err = fah_qualnames_new(v->source.data, v->source.len, &v->names);
	return err;
}

static void head(struct view *v, const struct fah_linehits_function *f, double seconds)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT,
							file = FAH_STRBUF_INIT;

	fah_text_clean(&name, f->name);
	fah_text_file(&file, f->file);
	fah_text_put(&v->text, "Total time: %g s", seconds);
	if (v->source.n_lines) {
		fah_text_put(&v->text, "File: %s", fah_strbuf_str(&file));
		fah_text_put(&v->text, "Function: %s at line %u", fah_strbuf_str(&name),
			     f->first_line);
		return;
	}
	fah_text_end(&v->text);
	fah_text_put(&v->text, "Could not find file %s", fah_strbuf_str(&file));
	fah_text_put(&v->text, "Function: %s at line %u", fah_strbuf_str(&name), f->first_line);
	fah_text_put(&v->text, "Continuing without the function's contents.");
}

static void table_head(struct view *v, const struct widths *w)
{
	const struct cells titles = {"Hits", "Time", "Per Hit", "% Time", "Called"};
	int columns;

	row(v, w, "Line #", &titles);
	fah_strbuf_adds(&v->text.line, "Line Contents");
	columns = fah_text_column(&v->text);
	fah_text_end(&v->text);
	fah_text_repeat(&v->text, "=", columns);
	fah_text_end(&v->text);
}

static bool is_blank(const struct fah_source *s, uint32_t line)
{
	size_t from = s->starts[line - 1], to = s->starts[line];

	while (from < to && strchr(" \t\n\f", s->data[from]))
		from++;
	return from == to;
}

/* From where to where a function is shown: its text, and all lines that have counts. */
static void extent(const struct view *v, const struct fah_linehits_function *f, uint32_t *ret_first,
		   uint32_t *ret_last)
{
	uint32_t first = f->first_line, last = 0;

	if (v->names)
		last = fah_qualnames_last_line(v->names, first);
	while (last > first && last <= v->source.n_lines && is_blank(&v->source, last))
		last--;
	if (f->n_lines && f->lines[0].line < first)
		first = f->lines[0].line;
	if (f->n_lines && f->lines[f->n_lines - 1].line > last)
		last = f->lines[f->n_lines - 1].line;
	*ret_first = first;
	*ret_last = last > first ? last : first;
}

static int show_function(struct view *v, const struct fah_linehits_function *f)
{
	double seconds = fah_linehits_total(v->h, f, NULL), total = seconds / v->h->unit;
	struct widths w = {HITS, TIME, PER_HIT, CALLED};
	uint32_t first, last;
	struct cells c;
	size_t at = 0;
	int err = open_source(v, f);

	if (err < 0)
		return err;
	for (size_t i = 0; i < f->n_lines; i++) {
		fill(&c, v, &f->lines[i], total);
		widen(&w.hits, c.hits);
		widen(&w.time, c.time);
		widen(&w.per_hit, c.per_hit);
		widen(&w.called, c.called);
	}
	extent(v, f, &first, &last);
	head(v, f, seconds);
	fah_text_end(&v->text);
	table_head(v, &w);
	for (uint32_t line = first;; line++) {
		char label[16];
		bool has = at < f->n_lines && f->lines[at].line == line;

		snprintf(label, sizeof(label), "%u", line);
		if (has)
			fill(&c, v, &f->lines[at++], total);
		else
			c = (struct cells){0};
		/* of a file that is not there, or was cut since, only lines with counts */
		if (has || line <= v->source.n_lines) {
			row(v, &w, label, &c);
			fah_source_line(&v->source, line, &v->text.line, SOURCE_COLUMNS,
					!v->text.o->utf8);
			fah_text_end(&v->text);
		} else if (at < f->n_lines) {
			line = f->lines[at].line - 1;
		}
		if (line >= last)
			break;
	}
	fah_text_end(&v->text);
	return 0;
}

static void summarize(struct view *v, const struct fah_linehits_function *f)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT,
							file = FAH_STRBUF_INIT;

	fah_text_clean(&name, f->name);
	fah_text_file(&file, f->file);
	fah_text_put(&v->text, "%6.2f seconds - %s:%u - %s", fah_linehits_total(v->h, f, NULL),
		     fah_strbuf_str(&file), f->first_line, fah_strbuf_str(&name));
}

static const struct fah_linehits *sorted_of; /* for qsort */

static int by_time(const void *a, const void *b)
{
	const struct fah_linehits_function *const *x = a, *const *y = b;
	double s = fah_linehits_total(sorted_of, *x, NULL),
	       t = fah_linehits_total(sorted_of, *y, NULL);

	return s < t ? -1 : s > t ? 1 : *x < *y ? -1 : *x > *y;
}

int fah_report_linehits(FILE *out, const struct fah_linehits *h,
			const struct fah_linehits_options *how, const struct fah_report_options *o)
{
	_cleanup_(view_release) struct view v = {.h = h, .how = how};
	_cleanup_(fah_freep) const struct fah_linehits_function **order =
		calloc(h->n_functions + 1, sizeof(*order));
	double unit = how->unit > 0 ? how->unit : MICROSECOND;
	uint64_t hits;
	size_t n = 0;
	int err = order ? 0 : FAH_ERR_NOMEM, ended;

	if (err < 0)
		return err;
	v.scale = h->unit / unit;
	for (size_t i = 0; i < h->n_functions; i++) {
		fah_linehits_total(h, &h->functions[i], &hits);
		if (hits || !how->skip_zero)
			order[n++] = &h->functions[i];
	}
	sorted_of = h;
	if (how->by_time && n)
		qsort(order, n, sizeof(*order), by_time);
	fah_text_init(&v.text, out, o);
	fah_text_put(&v.text, "Timer unit: %g s", unit);
	fah_text_end(&v.text);
	for (size_t i = 0; err == 0 && i < n; i++)
		err = show_function(&v, order[i]);
	for (size_t i = 0; err == 0 && how->summarize && i < n; i++)
		summarize(&v, order[i]);
	ended = fah_text_finish(&v.text);
	return err < 0 ? err : ended;
}
