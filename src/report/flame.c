/*
 * flame.c - a flame graph in a terminal.
 *
 * A box takes the columns that its time begins and ends in, so boxes of one row never overlap and
 * stand below their callers. Each tone has its colour and, for those who see no colours, a filling
 * of its own.
 */
#include "report/flame.h"

#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "report/closing.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_MIN 3 /* columns below which a name is not begun */

struct box {
	uint32_t call;
	int from, to; /* columns, to is behind it */
};

struct flame {
	struct fah_text *t;
	const struct fah_calltree *tree;
	struct box *boxes; /* by row, then from left to right */
	size_t *starts;	   /* by row, and the end of the last */
	uint32_t rows;
	size_t narrow, deep; /* calls that are not drawn */
};

static const struct {
	const char *utf8, *ascii, *word;
} fillings[FAH_TONE_COUNT] = {
	[FAH_TONE_OTHER] = {" ", " ", NULL},	    [FAH_TONE_PYTHON] = {" ", " ", "Python"},
	[FAH_TONE_NATIVE] = {"·", ".", "native"},   [FAH_TONE_SYSTEM] = {"▒", "#", "system"},
	[FAH_TONE_WAITING] = {"~", "~", "waiting"},
};

static const char *filling(const struct flame *f, enum fah_call_tone tone)
{
	return f->t->o->utf8 ? fillings[tone].utf8 : fillings[tone].ascii;
}

/* The columns of each call; those of its callees follow each other from its own first on. */
static void spread(struct flame *f, struct box *all, double *begins)
{
	const struct fah_calltree *t = f->tree;
	double whole = fah_times_sum(&t->calls[0].total);
	double scale = whole > 0 ? f->t->width / whole : 0;

	begins[0] = 0;
	for (uint32_t i = 0;;) {
		const struct fah_call *c = &t->calls[i];
		double at = begins[i], end = at + fah_times_sum(&c->total);

		all[i] = (struct box){i, (int)(at * scale + 1e-6), (int)(end * scale + 1e-6)};
		for (uint32_t k = c->child; k; k = t->calls[k].sibling) {
			begins[k] = at;
			at += fah_times_sum(&t->calls[k].total);
		}
		i = fah_calltree_next(t, i, false);
		if (!i)
			break;
	}
}

static bool drawn(const struct flame *f, const struct box *b)
{
	return b->to > b->from && f->tree->calls[b->call].depth <= f->rows;
}

/* Boxes in the order of rows: a walk in reading order gives each row from left to right. */
static int arrange(struct flame *f, uint32_t rows)
{
	const struct fah_calltree *t = f->tree;
	struct box *all = reallocarray(NULL, t->n, sizeof(*all));
	double *begins = calloc(t->n, sizeof(*begins));
	size_t *next;

	f->rows = !rows || rows > t->max_depth ? t->max_depth : rows;
	f->boxes = reallocarray(NULL, t->n, sizeof(*f->boxes));
	f->starts = calloc((size_t)f->rows + 2, sizeof(*f->starts));
	next = calloc((size_t)f->rows + 2, sizeof(*next));
	if (!all || !begins || !f->boxes || !f->starts || !next) {
		free(all);
		free(begins);
		free(next);
		return FAH_ERR_NOMEM;
	}
	spread(f, all, begins);
	for (size_t i = 0; i < t->n; i++) {
		bool wide = all[i].to > all[i].from;

		if (!(fah_times_sum(&t->calls[i].total) > 0))
			continue;
		f->narrow += !wide;
		f->deep += wide && !drawn(f, &all[i]);
		if (drawn(f, &all[i]))
			f->starts[t->calls[i].depth + 1]++;
	}
	for (uint32_t row = 0; row <= f->rows; row++) {
		f->starts[row + 1] += f->starts[row];
		next[row] = f->starts[row];
	}
	for (uint32_t i = 0;;) {
		if (drawn(f, &all[i]))
			f->boxes[next[t->calls[i].depth]++] = all[i];
		i = fah_calltree_next(t, i, false);
		if (!i)
			break;
	}
	free(all);
	free(begins);
	free(next);
	return 0;
}

/* What a box of so many columns says: name and share, name, the name's last part, or its start. */
static void label(const struct flame *f, const struct fah_call *c, size_t columns,
		  struct fah_strbuf *out)
{
	struct fah_strbuf name = FAH_STRBUF_INIT;
	struct fah_share share =
		fah_share_text(fah_calltree_share(f->tree, fah_times_sum(&c->total)), 1);
	const char *last;
	size_t width;

	fah_text_clean(&name, fah_call_name(f->tree, c));
	width = fah_utf8_width(fah_strbuf_str(&name), name.len);
	last = strrchr(fah_strbuf_str(&name), '.');
	if (columns < LABEL_MIN && width > columns) {
		/* a single letter says nothing */
	} else if (width + 1 + strlen(share.s) <= columns) {
		fah_strbuf_addf(out, "%s %s", fah_strbuf_str(&name), share.s);
	} else if (width <= columns || !last || !last[1] ||
		   fah_call_tone(f->tree, c) != FAH_TONE_PYTHON) {
		fah_utf8_cut(out, fah_strbuf_str(&name), name.len, columns, !f->t->o->utf8);
	} else {
		fah_utf8_cut(out, last + 1, strlen(last + 1), columns, !f->t->o->utf8);
	}
	out->failed |= name.failed;
	fah_strbuf_release(&name);
}

static void put_box(struct flame *f, const struct box *b)
{
	const struct fah_call *c = &f->tree->calls[b->call];
	enum fah_call_tone tone = fah_call_tone(f->tree, c);
	struct fah_strbuf text = FAH_STRBUF_INIT;
	size_t columns = (size_t)(b->to - b->from - 1), used;

	fah_strbuf_adds(&text, f->t->o->utf8 ? "▏" : "|");
	if (columns)
		label(f, c, columns, &text);
	used = fah_utf8_width(fah_strbuf_str(&text), text.len);
	if (used <= columns && used > 1) { /* a name and its filling don't run into each other */
		fah_strbuf_addc(&text, ' ');
		used++;
	}
	for (; used < columns + 1; used++)
		fah_strbuf_adds(&text, filling(f, tone));
	f->t->failed |= text.failed;
	fah_text_paint(f->t, FAH_BOX_OTHER + tone, fah_strbuf_str(&text));
	fah_strbuf_release(&text);
}

static void put_row(struct flame *f, uint32_t row)
{
	int column = 0;

	for (size_t i = f->starts[row]; i < f->starts[row + 1]; i++) {
		const struct box *b = &f->boxes[i];

		if (b->from > column && column) { /* the end of what stood there */
			fah_strbuf_adds(&f->t->line, f->t->o->utf8 ? "▏" : "|");
			column++;
		}
		fah_strbuf_fill(&f->t->line, ' ', (size_t)(b->from - column));
		put_box(f, b);
		column = b->to;
	}
	if (column && column < f->t->width)
		fah_strbuf_adds(&f->t->line, f->t->o->utf8 ? "▏" : "|");
	fah_text_end(f->t);
}

static void put_legend(struct flame *f)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_text_end(f->t);
	for (uint32_t tone = FAH_TONE_PYTHON; tone < FAH_TONE_COUNT; tone++) {
		fah_strbuf_addf(&sb, "%s%s%s %s", f->t->o->utf8 ? "▏" : "|", filling(f, tone),
				filling(f, tone), fillings[tone].word);
		fah_strbuf_addc(&sb, ' ');
		fah_text_paint(f->t, FAH_BOX_OTHER + tone, fah_strbuf_str(&sb));
		fah_strbuf_adds(&f->t->line, " ");
		fah_strbuf_truncate(&sb, 0);
	}
	fah_text_end(f->t);
	if (f->narrow)
		fah_strbuf_addf(&sb, "%s narrower than a column", fah_num_count(f->narrow).s);
	if (f->deep)
		fah_strbuf_addf(&sb, "%s%s deeper than %u", f->narrow ? ", " : "",
				fah_num_count(f->deep).s, f->rows);
	if (sb.len) {
		struct fah_strbuf line = FAH_STRBUF_INIT;

		fah_strbuf_addf(&line, "Left out: %s of %s calls, %s.",
				fah_num_count(f->narrow + f->deep).s,
				fah_num_count(f->narrow + f->deep + f->starts[f->rows + 1]).s,
				fah_strbuf_str(&sb));
		f->t->failed |= line.failed;
		fah_text_wrap(f->t, fah_strbuf_str(&line));
		fah_strbuf_release(&line);
	}
	f->t->failed |= sb.failed;
	fah_strbuf_release(&sb);
}

int fah_report_flame(FILE *out, struct fah_profile *p, const struct fah_calltree *tree,
		     uint32_t rows, const struct fah_report_options *o)
{
	double seconds = fah_times_sum(&tree->calls[0].total);
	struct flame f = {.tree = tree};
	struct fah_text t;
	int err, finished;

	fah_text_init(&t, out, o);
	f.t = &t;
	err = arrange(&f, rows);
	if (err == 0) {
		fah_closing_above(&t, p);
		if (seconds > 0) {
			for (uint32_t row = 0; row <= f.rows; row++)
				if (f.starts[row] < f.starts[row + 1])
					put_row(&f, row);
			put_legend(&f);
		}
		err = fah_closing_below_tree(&t, p, tree);
	}
	free(f.boxes);
	free(f.starts);
	finished = fah_text_finish(&t);
	return err < 0 ? err : finished;
}
