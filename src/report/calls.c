/*
 * calls.c - the call tree of a run, the dearest calls first.
 *
 * A call that hands all its time on to one other has that one straight below it in the same column,
 * so that long chains (imports, frameworks) don't eat the width. No recursion: stacks may be deep.
 */
#include "report/calls.h"

#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "report/closing.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define WIDE 112     /* columns from which the parts of a total have columns of their own */
#define PLACE_MIN 12 /* columns below which a place is not begun */
#define NAME_ROOM 24 /* columns that a name keeps, however deep it stands */

struct level {
	uint32_t caller, at; /* at: the next of its callees to print; 0: none */
	size_t prefix;	     /* bytes of the prefix that this level stands behind */
};

struct printing {
	struct fah_text *t;
	const struct fah_calltree *tree;
	const struct fah_calls_options *c;
	struct fah_strbuf prefix;
	struct level *levels;
	size_t n_levels;
};

static double share(const struct printing *pr, double seconds)
{
	return fah_calltree_share(pr->tree, seconds);
}

static double share_of(const struct printing *pr, uint32_t i)
{
	return share(pr, fah_times_sum(&pr->tree->calls[i].total));
}

/* i if it is to be listed; else 0, as then those behind it are not either. */
static uint32_t listed(const struct printing *pr, uint32_t i)
{
	if (!i || share_of(pr, i) < pr->c->min || !(share_of(pr, i) > 0))
		return 0;
	return pr->c->depth && pr->tree->calls[i].depth > pr->c->depth ? 0 : i;
}

/* Callees of a call that are not listed: how many, and their share. */
static double hidden(const struct printing *pr, uint32_t caller, size_t *ret_n)
{
	double seconds = 0;

	*ret_n = 0;
	for (uint32_t i = pr->tree->calls[caller].child; i; i = pr->tree->calls[i].sibling) {
		if (listed(pr, i))
			continue;
		seconds += fah_times_sum(&pr->tree->calls[i].total);
		(*ret_n)++;
	}
	return share(pr, seconds);
}

/* The one callee that gets all of a call's time but what is not worth a row; 0: it has none. */
static uint32_t passes_to(const struct printing *pr, uint32_t i)
{
	const struct fah_call *c = &pr->tree->calls[i];
	uint32_t only = listed(pr, c->child);
	size_t n;

	if (!only || listed(pr, pr->tree->calls[only].sibling) ||
	    share(pr, fah_times_sum(&c->self)) >= pr->c->min || hidden(pr, i, &n) >= pr->c->min)
		return 0;
	return only;
}

static struct fah_num amount(const struct printing *pr, double seconds)
{
	return pr->tree->memory ? fah_num_bytes_short(fah_heap_bytes(seconds))
				: fah_num_seconds_short(seconds);
}

static void put_numbers(struct printing *pr, const struct fah_times *total, double self,
			const struct fah_call *c)
{
	struct fah_text *t = pr->t;
	double all = share(pr, fah_times_sum(total));
	char text[32];

	snprintf(text, sizeof(text), "%6s", fah_share_text(all, 1).s);
	fah_text_paint(t, fah_text_heat(all), text);
	if (c) {
		struct fah_share interval = fah_share_text(c->interval, 1);

		interval.s[strcspn(interval.s, "%")] = '\0';
		fah_strbuf_addf(&t->line, " %s%-4s", t->g->plus_minus, interval.s);
		fah_strbuf_addf(&t->line, " %6s", fah_share_text(share(pr, self), 1).s);
	} else {
		fah_strbuf_fill(&t->line, ' ', t->o->utf8 ? 13 : 14);
	}
	fah_strbuf_addf(&t->line, " %9s  ", amount(pr, fah_times_sum(total)).s);
	if (t->width >= WIDE) {
		const double parts[] = {total->python, total->native, total->system,
					total->waiting};

		for (size_t k = 0; k < 4; k++)
			fah_strbuf_addf(&t->line, "%6s ",
					parts[k] > 0 ? fah_share_text(share(pr, parts[k]), 1).s
						     : "");
		fah_strbuf_addc(&t->line, ' ');
	}
}

static int numbers_columns(const struct fah_text *t)
{
	return (t->width >= WIDE ? 60 : 31) + (t->o->utf8 ? 0 : 1);
}

static void put_head(struct printing *pr)
{
	struct fah_text *t = pr->t;
	char head[128];

	snprintf(head, sizeof(head), " Total%s   Self   %s  %sCall",
		 t->o->utf8 ? "      " : "       ", pr->tree->memory ? " Memory" : "Seconds",
		 t->width < WIDE ? "" : "Python Native System  Waits  ");
	fah_text_paint(t, FAH_BOLD, head);
	fah_text_end(t);
}

/* The branches up to here; where they leave no room for a name, only the last of them. */
static void put_prefix(struct printing *pr, const char *glyph)
{
	struct fah_text *t = pr->t;
	int room = t->width - numbers_columns(t) - NAME_ROOM - (int)strlen("   ");

	fah_utf8_cut_tail(&t->line, fah_strbuf_str(&pr->prefix), pr->prefix.len,
			  room > 3 ? (size_t)room : 3, !t->o->utf8);
	fah_strbuf_adds(&t->line, glyph);
}

/* "Class.method ×3 (file.py:12)" in so many columns. Of what Python calls a.b.c the end says most.
 */
static void put_name(struct printing *pr, const struct fah_call *c, bool passed, unsigned times,
		     int columns)
{
	struct fah_strbuf raw = FAH_STRBUF_INIT, name = FAH_STRBUF_INIT;
	struct fah_text *t = pr->t;
	bool python = fah_call_tone(pr->tree, c) == FAH_TONE_PYTHON;
	char count[24] = "";

	if (times > 1)
		columns -= snprintf(count, sizeof(count), " x%u", times);
	if (passed) {
		fah_strbuf_adds(&t->line, t->o->utf8 ? "… " : "... ");
		columns -= t->o->utf8 ? 2 : 4;
	}
	columns = columns < 8 ? 8 : columns;
	fah_text_clean(&name, fah_call_name(pr->tree, c));
	(python ? fah_utf8_cut_tail : fah_utf8_cut)(&t->line, fah_strbuf_str(&name), name.len,
						    (size_t)columns, !t->o->utf8);
	fah_strbuf_adds(&t->line, count);
	columns -= (int)fah_utf8_width(fah_strbuf_str(&name), name.len);
	fah_strbuf_truncate(&name, 0);
	fah_call_place(&raw, pr->tree, c);
	fah_strbuf_adds(&name, raw.len ? "(" : "");
	fah_text_clean(&name, fah_strbuf_str(&raw));
	fah_strbuf_adds(&name, raw.len ? ")" : "");
	columns--;
	if (name.len && columns >= PLACE_MIN) {
		fah_strbuf_adds(&t->line, " ");
		fah_utf8_cut_tail(&t->line, fah_strbuf_str(&name), name.len, (size_t)columns,
				  !t->o->utf8);
	}
	t->failed |= raw.failed || name.failed;
	fah_strbuf_release(&raw);
	fah_strbuf_release(&name);
}

/* times: so many calls of a function below each other, whose own time is self. */
static void put_call(struct printing *pr, uint32_t i, bool passed, unsigned times, double self,
		     const char *glyph)
{
	const struct fah_call *c = &pr->tree->calls[i];
	struct fah_text *t = pr->t;
	size_t from;
	int used;

	put_numbers(pr, &c->total, self, c);
	from = t->line.len; /* the numbers are painted and can't be measured */
	put_prefix(pr, glyph);
	used = numbers_columns(t) + (int)fah_utf8_width(t->line.p + from, t->line.len - from);
	put_name(pr, c, passed, times, t->width - used);
	fah_text_end(t);
}

static void put_hidden(struct printing *pr, uint32_t caller, size_t n, const char *glyph)
{
	struct fah_times total = {0};

	for (uint32_t i = pr->tree->calls[caller].child; i; i = pr->tree->calls[i].sibling) {
		const struct fah_times *more = &pr->tree->calls[i].total;

		if (listed(pr, i))
			continue;
		total.python += more->python;
		total.native += more->native;
		total.system += more->system;
		total.waiting += more->waiting;
	}
	put_numbers(pr, &total, 0, NULL);
	put_prefix(pr, glyph);
	fah_strbuf_addf(&pr->t->line, "%s %s more", pr->t->o->utf8 ? "…" : "...",
			fah_num_count(n).s);
	fah_text_end(pr->t);
}

/* A call, those that it passes all its time on to, and then the level of its callees. A function
 * that only calls itself again is one row. */
static void put_chain(struct printing *pr, uint32_t i, bool top, bool more)
{
	const struct fah_text *t = pr->t;
	const char *glyph = top ? "" : more ? t->g->branch : t->g->last;
	bool passed = false, leave_out;

	for (;;) {
		const struct fah_call *calls = pr->tree->calls;
		uint32_t first = i, next = passes_to(pr, i);
		double self = fah_times_sum(&calls[i].self);
		unsigned times = 1;

		for (; next && calls[next].kind == calls[i].kind &&
		       calls[next].frame == calls[i].frame;
		     next = passes_to(pr, i)) {
			i = next;
			self += fah_times_sum(&calls[i].self);
			times++;
		}
		leave_out = next && pr->c->self_less &&
			    fah_call_tone(pr->tree, &calls[next]) != FAH_TONE_WAITING;
		if (!leave_out) {
			put_call(pr, first, passed, times, self, glyph);
			if (*glyph) /* what follows in the same column stands behind its lines */
				fah_strbuf_adds(&pr->prefix, more ? t->g->pass : "   ");
			glyph = "";
		}
		passed = leave_out;
		if (!next)
			break;
		i = next;
	}
	pr->levels[pr->n_levels++] = (struct level){
		.caller = i,
		.at = listed(pr, pr->tree->calls[i].child),
		.prefix = pr->prefix.len,
	};
}

static void put_tree(struct printing *pr)
{
	pr->levels[pr->n_levels++] = (struct level){.at = listed(pr, pr->tree->calls[0].child)};
	while (pr->n_levels) {
		struct level *l = &pr->levels[pr->n_levels - 1];
		uint32_t i = l->at;
		size_t n;
		bool rest = hidden(pr, l->caller, &n) >= pr->c->min && n;

		fah_strbuf_truncate(&pr->prefix, l->prefix);
		if (i) {
			l->at = listed(pr, pr->tree->calls[i].sibling);
			put_chain(pr, i, pr->n_levels == 1, l->at || rest);
			continue;
		}
		if (rest)
			put_hidden(pr, l->caller, n, pr->n_levels == 1 ? "" : pr->t->g->last);
		pr->n_levels--;
	}
}

static void put_left_out(struct printing *pr)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	size_t shown = 0, all = 0, deeper = 0;

	for (uint32_t i = 1; i < pr->tree->n; i++) {
		double s = share_of(pr, i);

		all += s > 0;
		shown += listed(pr, i) != 0;
		deeper += s > 0 && s >= pr->c->min && !listed(pr, i);
	}
	if (all == shown)
		return;
	fah_strbuf_addf(&sb, "Left out: %s of %s calls, ", fah_num_count(all - shown).s,
			fah_num_count(all).s);
	if (all - shown > deeper)
		fah_strbuf_addf(&sb, "%s below %s (--min)", fah_num_count(all - shown - deeper).s,
				fah_share_text(pr->c->min, 1).s);
	if (deeper)
		fah_strbuf_addf(&sb, "%s%s deeper than %u (--depth)",
				all - shown > deeper ? ", " : "", fah_num_count(deeper).s,
				pr->c->depth);
	fah_strbuf_adds(&sb, ".");
	pr->t->failed |= sb.failed;
	fah_text_wrap(pr->t, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
}

int fah_report_calls(FILE *out, struct fah_profile *p, const struct fah_calltree *tree,
		     const struct fah_calls_options *c, const struct fah_report_options *o)
{
	double seconds = fah_times_sum(&tree->calls[0].total);
	struct printing pr = {.tree = tree, .c = c};
	struct fah_text t;
	int err, finished;

	pr.levels = reallocarray(NULL, (size_t)tree->max_depth + 2, sizeof(*pr.levels));
	if (!pr.levels)
		return FAH_ERR_NOMEM;
	fah_text_init(&t, out, o);
	pr.t = &t;
	fah_closing_above(&t, p);
	if (seconds > 0) {
		put_head(&pr);
		put_tree(&pr);
		fah_text_end(&t);
		put_left_out(&pr);
	}
	err = fah_closing_below_tree(&t, p, tree);
	t.failed |= pr.prefix.failed;
	fah_strbuf_release(&pr.prefix);
	free(pr.levels);
	finished = fah_text_finish(&t);
	return err < 0 ? err : finished;
}
