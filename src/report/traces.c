/*
 * traces.c - see traces.h. One block a caller: the function, the line that called it, who called
 * that, and how often.
 */
#include "report/traces.h"

#include "base/number.h"
#include "base/utf8.h"
#include "model/cells.h"
#include "model/traces.h"

#include <string.h>

#define FUNCTIONS_MAX 10
#define CALLERS_MAX 5 /* of one function */
#define STEPS_MAX 24  /* of one way */
#define FLOOR 0.005   /* of the run: blocks below it are told in one line */
#define RULE 75
#define INDENT 3

static void put_step(struct fah_text *t, const struct fah_profile *p,
		     const struct fah_trace_step *step, int depth)
{
	const struct fah_function *f = fah_profile_function(p, step->function);
	const char *whole = fah_profile_abspath(p, step->function);
	const char *path = fah_report_path(t->o, whole); /* below the root, or no other */
	struct fah_strbuf raw = FAH_STRBUF_INIT, place = FAH_STRBUF_INIT;
	int column = 2 + depth * INDENT, room;

	fah_place_add(&raw, path != whole ? path : f->file, step->line);
	fah_text_clean(&place, fah_strbuf_str(&raw));
	fah_strbuf_adds(&place, "; ");
	fah_text_clean(&place, f->name);
	t->failed |= raw.failed || place.failed;
	fah_strbuf_release(&raw);
	fah_text_repeat(t, " ", column);
	fah_strbuf_adds(&t->line, t->g->last);
	room = t->width - column - INDENT;
	fah_utf8_cut_tail(&t->line, fah_strbuf_str(&place), place.len,
			  (size_t)(room > 20 ? room : 20), !t->o->utf8);
	fah_text_end(t);
	fah_strbuf_release(&place);
}

static struct fah_share cost(const struct fah_text *t, const struct fah_profile *p, double share)
{
	return fah_cost_text(t->o, share, fah_profile_totals(p)->wall_s, 2);
}

/* A number, exact or about; roughly: no more of its digits than count. */
static void put_calls(struct fah_text *t, double n, bool estimated, bool roughly)
{
	double unit = 1;

	while (roughly && n / unit >= 100)
		unit *= 10;
	fah_strbuf_addf(&t->line, "%s%s",
			!estimated   ? ""
			: t->o->utf8 ? "≈"
				     : "~",
			fah_num_count((uint64_t)(n / unit + 0.5) * (uint64_t)unit).s);
}

/* How often, exactly or about; where that is not known, in how many samples it was seen. */
static void put_count(struct fah_text *t, const struct fah_traced *traced,
		      const struct fah_trace *trace)
{
	const struct fah_call_count *c = trace->calls;

	if (!c) {
		fah_strbuf_addf(&t->line, "samples: %s", fah_num_count(trace->samples).s);
		return;
	}
	fah_strbuf_adds(&t->line, "n_calls: ");
	put_calls(t, c->n, c->estimated, c->roughly);
	if (traced->calls_itself > 0) {
		fah_strbuf_adds(&t->line, ", and ");
		put_calls(t, traced->calls_itself, traced->calls_estimated, traced->calls_roughly);
		fah_strbuf_adds(&t->line, " by itself");
	}
}

static void put_trace(struct fah_text *t, const struct fah_profile *p, const char *name,
		      const struct fah_traced *traced, const struct fah_trace *trace)
{
	size_t n = trace->n_steps < STEPS_MAX ? trace->n_steps : STEPS_MAX;
	int depth = (int)(n ? n : 1);

	fah_text_clean(&t->line, name);
	fah_strbuf_addf(&t->line, ", (%s)", cost(t, p, trace->share).s);
	fah_text_end(t);
	for (size_t i = 0; i < n; i++)
		put_step(t, p, &trace->steps[i], (int)i);
	if (!n) {
		fah_text_repeat(t, " ", 2);
		fah_text_put(t, "%scode outside of the folders reported", t->g->last);
	}
	fah_text_repeat(t, " ", 2 + depth * INDENT);
	if (trace->n_steps > n)
		fah_strbuf_addf(&t->line, "%s further callers; ",
				fah_num_count(trace->n_steps - n).s);
	put_count(t, traced, trace);
	if (trace->n_ways > 1)
		fah_strbuf_addf(&t->line, ", by %s ways, of which this is the dearest",
				fah_num_count(trace->n_ways).s);
	fah_text_end(t);
	fah_text_end(t);
	fah_text_end(t);
}

static void put_function(struct fah_text *t, const struct fah_profile *p,
			 const struct fah_traced *traced)
{
	const char *name = fah_profile_function(p, traced->function)->name;
	double left = 0;
	size_t shown = 0;

	/* modules are called by import, or by nobody */
	if (!strcmp(name, "<module>"))
		return;
	while (shown < traced->n && shown < CALLERS_MAX && traced->traces[shown].share >= FLOOR)
		put_trace(t, p, name, traced, &traced->traces[shown++]);
	for (size_t i = shown; i < traced->n; i++)
		left += traced->traces[i].share;
	if (shown && left >= FLOOR) {
		fah_text_clean(&t->line, name);
		fah_strbuf_addf(&t->line, ", (%s)", cost(t, p, left).s);
		fah_text_end(t);
		fah_text_put(t, "  %s%s further callers", t->g->last,
			     fah_num_count(traced->n - shown).s);
		fah_text_end(t);
		fah_text_end(t);
	}
}

static bool has_block(const struct fah_profile *p, const struct fah_traced *traced, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(fah_profile_function(p, traced[i].function)->name, "<module>") &&
		    traced[i].n && traced[i].traces[0].share >= FLOOR)
			return true;
	return false;
}

int fah_traces_print(struct fah_text *t, struct fah_profile *p, const struct fah_charges *charges)
{
	const struct fah_traced *traced;
	int rule = RULE < t->width ? RULE : t->width, err;
	size_t n;

	err = fah_profile_traces(p, t->o->scope ? t->o->scope : &fah_scope_everything, charges,
				 FUNCTIONS_MAX, &traced, &n);
	if (err < 0 || !has_block(p, traced, n))
		return err;
	fah_text_paint(t, FAH_BOLD, "Stack Trace Summary");
	fah_text_end(t);
	fah_text_repeat(t, "=", rule);
	fah_text_end(t);
	fah_text_end(t);
	for (size_t i = 0; i < n; i++)
		put_function(t, p, &traced[i]);
	fah_text_repeat(t, "=", rule);
	fah_text_end(t);
	fah_text_end(t);
	return 0;
}
