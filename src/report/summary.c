/*
 * summary.c - the run in totals, the dearest functions, the functions by module, and in words how
 * sure all that is.
 */
#include "report/summary.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/utf8.h"
#include "core/err.h"
#include "report/closing.h"
#include "report/gains.h"
#include "report/text.h"
#include "report/thin.h"
#include "report/traces.h"
#include "report/tree.h"
#include "report/waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOOR 0.0005 /* of the run: what rounds to 0.1 % */
#define RULE_MIN 65
#define NAME_MIN 12 /* columns that a name keeps however narrow the terminal is */
#define PLACE_MIN 4 /* and the place behind it */
#define COST_MIN 6  /* columns of "100.0%" */
#define GAP 4

static void put_command(struct fah_text *t, const struct fah_profile *p)
{
	const char *command = t->o->command ? t->o->command : fah_profile_meta(p, "command");

	if (command) {
		fah_text_clean(&t->line, command);
		fah_text_end(t);
		fah_text_end(t);
	}
}

/* Above all: who sees this must not take it for a result. */
static void put_so_far(struct fah_text *t, const struct fah_profile *p)
{
	time_t since = (time_t)(fah_profile_count(p, "start_real_ns") / 1000000000u);
	char text[64] = "";
	struct tm tm;

	if (since && gmtime_r(&since, &tm))
		strftime(text, sizeof(text), ", since %Y-%m-%d %H:%M:%S UTC", &tm);
	fah_text_put(t, "So far: the run goes on%s.", text);
	fah_text_end(t);
}

static void put_running(struct fah_text *t, const struct fah_totals *totals)
{
	fah_strbuf_addf(&t->line, "Running for %s", fah_num_seconds(totals->wall_s).s);
	if (t->o->rss_bytes)
		fah_strbuf_addf(&t->line, " using %s of RAM", fah_num_bytes(t->o->rss_bytes).s);
	fah_text_end(t);
}

static void put_finished(struct fah_text *t, const struct fah_totals *totals)
{
	struct fah_strbuf finished = FAH_STRBUF_INIT;

	fah_strbuf_addf(&finished, "Finished in %s", fah_num_seconds(totals->program_s).s);
	if (totals->program_rss_bytes)
		fah_strbuf_addf(&finished, " using %s of RAM",
				fah_num_bytes(totals->program_rss_bytes).s);
	if (totals->unprofiled_s > 0)
		fah_strbuf_addf(&finished, " (about %.3f without profiling)", totals->unprofiled_s);
	t->failed |= finished.failed;
	fah_text_wrap(t, fah_strbuf_str(&finished));
	fah_strbuf_release(&finished);
	if (totals->max_rss_bytes)
		fah_text_put(t, "Max RSS Memory Usage: %s", fah_num_bytes(totals->max_rss_bytes).s);
	fah_text_put(t, "Total Wall Time: %s", fah_num_seconds(totals->wall_s).s);
}

static void put_totals(struct fah_text *t, const struct fah_profile *p)
{
	const struct fah_totals *totals = fah_profile_totals(p);
	uint64_t largest = 0;
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	if (t->o->so_far)
		put_running(t, totals);
	else
		put_finished(t, totals);
	if (fah_waits_summary(&t->line, totals))
		fah_text_end(t);
	if (n > 1) {
		for (size_t i = 1; i < n; i++)
			if (processes[i].max_rss_bytes > largest)
				largest = processes[i].max_rss_bytes;
		fah_strbuf_addf(&t->line, "Child processes: %s", fah_num_count(n - 1).s);
		if (largest)
			fah_strbuf_addf(&t->line, " (largest %s)", fah_num_bytes(largest).s);
		fah_text_end(t);
	}
	fah_text_end(t);
	if (t->o->note) {
		fah_text_clean(&t->line, t->o->note);
		fah_text_end(t);
		fah_text_end(t);
	}
}

static void put_heading(struct fah_text *t, const char *text)
{
	fah_text_paint(t, FAH_BOLD, text);
	fah_text_end(t);
}

static void put_rule(struct fah_text *t, const char *glyph, int width)
{
	fah_text_repeat(t, glyph, width);
	fah_text_end(t);
}

struct top {
	struct fah_strbuf *names, *places; /* clean */
	const struct fah_function_cost *costs;
	double wall_s;
	double collecting; /* share of the wall time; 0: not worth a row */
	struct fah_strbuf callers;
	int n;
	int name_columns, longest; /* of the names as shown, of a whole row */
	int cost;		   /* columns of the largest share or its seconds */
};

static int columns(const struct fah_strbuf *sb)
{
	return (int)fah_utf8_width(fah_strbuf_str(sb), sb->len);
}

#define COLLECTOR "<garbage collector>"

/* It has no place of its own: its time is in the functions that it was called from. */
static void find_collector(struct top *top, const struct fah_profile *p,
			   const struct fah_charges *charges)
{
	const struct fah_function_cost *most = NULL;

	if (!(charges->collecting >= FLOOR * charges->wall_s && charges->wall_s > 0))
		return;
	for (size_t i = 0; i < charges->n_functions; i++)
		if (!most || charges->functions[i].collecting > most->collecting)
			most = &charges->functions[i];
	top->collecting = charges->collecting / charges->wall_s;
	fah_strbuf_adds(&top->callers, "(within its callers, most in ");
	fah_text_clean(&top->callers, fah_profile_function(p, most->function)->name);
	fah_strbuf_addc(&top->callers, ')');
	top->name_columns = (int)strlen(COLLECTOR);
}

static double floor_of(const struct fah_report_options *o)
{
	return o->floor > 0 ? o->floor : FLOOR;
}

static int top_init(struct top *top, const struct fah_profile *p, const struct fah_charges *charges,
		    const struct fah_text *t)
{
	size_t most = t->o->top ? t->o->top : FAH_REPORT_TOP;
	int places = 0, room;

	*top = (struct top){
		.costs = charges->functions, .wall_s = charges->wall_s, .cost = COST_MIN};
	if (most > charges->n_functions)
		most = charges->n_functions;
	top->names = calloc(most + 1, sizeof(*top->names));
	top->places = calloc(most + 1, sizeof(*top->places));
	if (!top->names || !top->places)
		return FAH_ERR_NOMEM;
	find_collector(top, p, charges);
	while ((size_t)top->n < most && charges->functions[top->n].share >= floor_of(t->o)) {
		const struct fah_function *f =
			fah_profile_function(p, charges->functions[top->n].function);
		struct fah_strbuf *name = &top->names[top->n], *place = &top->places[top->n];

		fah_text_clean(name, f->name);
		fah_strbuf_adds(place, "(");
		fah_text_place(place, f->file, f->first_line);
		fah_strbuf_addc(place, ')');
		if (columns(name) > top->name_columns)
			top->name_columns = columns(name);
		if (columns(place) > places)
			places = columns(place);
		top->n++;
	}
	if (top->n && t->o->seconds) {
		int n = (int)strlen(fah_cost_text(t->o, top->costs[0].share, top->wall_s, 1).s);

		top->cost = n > COST_MIN ? n : COST_MIN;
	}
	/* " 1. " name, gap, "100.0% ", place */
	room = t->width - 4 - GAP - top->cost - 1 - places;
	if (top->name_columns > room)
		top->name_columns = room > NAME_MIN ? room : NAME_MIN;
	if (columns(&top->callers) > places)
		places = columns(&top->callers);
	top->longest = 4 + top->name_columns + GAP + top->cost + 1 + places;
	return 0;
}

static void top_release(struct top *top)
{
	for (int i = 0; i < top->n; i++) {
		fah_strbuf_release(&top->names[i]);
		fah_strbuf_release(&top->places[i]);
	}
	fah_strbuf_release(&top->callers);
	free(top->names);
	free(top->places);
}

static void put_row(struct fah_text *t, const struct top *top, const struct fah_strbuf *name,
		    double share, const struct fah_strbuf *behind)
{
	struct fah_strbuf cut = FAH_STRBUF_INIT;
	int place = t->width - 4 - top->name_columns - GAP - top->cost - 1;
	char text[32];

	t->failed |= name->failed || behind->failed;
	fah_utf8_cut(&cut, fah_strbuf_str(name), name->len, (size_t)top->name_columns, !t->o->utf8);
	fah_utf8_pad_left(&t->line, fah_strbuf_str(&cut), cut.len,
			  (size_t)(top->name_columns + GAP));
	snprintf(text, sizeof(text), "%*s", top->cost,
		 fah_cost_text(t->o, share, top->wall_s, 1).s);
	fah_text_paint(t, fah_text_heat(share), text);
	fah_strbuf_adds(&t->line, " ");
	fah_utf8_cut_tail(&t->line, fah_strbuf_str(behind), behind->len,
			  (size_t)(place > PLACE_MIN ? place : PLACE_MIN), !t->o->utf8);
	fah_text_end(t);
	fah_strbuf_release(&cut);
}

static void put_top(struct fah_text *t, struct top *top)
{
	struct fah_strbuf collector = FAH_STRBUF_INIT;

	for (int i = 0; i < top->n; i++) {
		fah_strbuf_addf(&t->line, "%2d. ", i + 1);
		put_row(t, top, &top->names[i], top->costs[i].share, &top->places[i]);
	}
	if (top->collecting > 0) {
		fah_strbuf_adds(&collector, COLLECTOR);
		fah_strbuf_adds(&t->line, "    ");
		put_row(t, top, &collector, top->collecting, &top->callers);
		fah_strbuf_release(&collector);
	}
}

struct listed {
	const struct fah_charges *charges;
	struct fah_tree *tree;
	struct top top;
};

static void listed_release(struct listed *l)
{
	fah_tree_free(l->tree);
	top_release(&l->top);
}

static int listed_init(struct listed *l, struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_text *t)
{
	int err = fah_profile_charge(p, scope, &l->charges);

	if (err == 0)
		err = fah_tree_new(p, l->charges, t->o, floor_of(t->o), &l->tree);
	return err < 0 ? err : top_init(&l->top, p, l->charges, t);
}

static int rule_of(const struct listed *l, const struct fah_text *t)
{
	int rule = RULE_MIN, tree = fah_tree_width(l->tree, t->width);

	rule = l->top.longest > rule ? l->top.longest : rule;
	rule = tree > rule ? tree : rule;
	return rule > t->width ? t->width : rule;
}

static void put_lists(struct fah_text *t, struct listed *l, int rule)
{
	char heading[64];

	snprintf(heading, sizeof(heading), "Top %d Functions by Total Runtime:", l->top.n);
	put_heading(t, heading);
	put_rule(t, "-", rule);
	put_top(t, &l->top);
	fah_text_end(t);
	put_heading(t, "Functions by Module:");
	put_rule(t, "-", rule);
	fah_tree_print(l->tree, t);
}

/* all: what is listed where the scope has nothing; NULL: it has. */
static void put_profile(struct fah_text *t, const struct fah_profile *p, struct listed *l,
			struct listed *all)
{
	int rule = rule_of(all ? all : l, t);

	put_heading(t, "Profile Summary");
	put_rule(t, "=", rule);
	fah_text_end(t);
	if (fah_thin_short(t, p))
		fah_text_end(t);
	if (all)
		fah_thin_scope(t, p, l->charges, all->top.n > 0);
	if (all && all->top.n)
		fah_text_end(t);
	if (!all || all->top.n)
		put_lists(t, all ? all : l, rule);
	fah_text_end(t);
	fah_text_end(t);
	put_rule(t, "=", rule);
	fah_text_end(t);
}

int fah_report_summary(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	_cleanup_(listed_release) struct listed inside = {0}, all = {0};
	const struct fah_totals *totals = fah_profile_totals(p);
	struct fah_text t;
	int err, end;

	fah_text_init(&t, out, o);
	err = listed_init(&inside, p, o->scope ? o->scope : &fah_scope_everything, &t);
	if (err == 0 && !inside.top.n)
		err = listed_init(&all, p, &fah_scope_everything, &t);
	if (err < 0) {
		fah_text_finish(&t);
		return err;
	}
	if (o->so_far)
		put_so_far(&t, p);
	put_command(&t, p);
	if (fah_closing_refused(&t, p))
		fah_text_end(&t);
	put_totals(&t, p);
	if (totals->samples || totals->waited_s > 0) {
		put_profile(&t, p, &inside, inside.top.n ? NULL : &all);
		fah_bottleneck_say(&t, p, inside.charges);
		if (!o->so_far) /* what the whole run would take, nobody knows yet */
			err = fah_gains_print(&t, p, inside.top.n ? inside.charges : all.charges);
		if (err == 0 && o->trace)
			err = fah_traces_print(&t, p, inside.charges);
		fah_closing_words(&t, p, inside.charges);
	} else {
		fah_closing_empty(&t, p);
		fah_closing_end(&t, p);
	}
	end = fah_text_finish(&t);
	return err < 0 ? err : end;
}
