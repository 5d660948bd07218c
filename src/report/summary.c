/*
 * summary.c - the run in totals, the dearest functions, the functions by module, and in words how
 * sure all that is.
 */
#include "report/summary.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "core/err.h"
#include "report/closing.h"
#include "report/gains.h"
#include "report/heap.h"
#include "report/memory_timeline.h"
#include "report/text.h"
#include "report/thin.h"
#include "report/top.h"
#include "report/traces.h"
#include "report/tree.h"
#include "report/waits.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLOOR 0.0005 /* of the run: what rounds to 0.1 % */
#define RULE_MIN 65
#define COST_MIN 6 /* columns of "100.0%" */

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

static void put_finished(struct fah_text *t, const struct fah_totals *totals,
			 const struct fah_heap *heap)
{
	struct fah_strbuf finished = FAH_STRBUF_INIT;

	fah_strbuf_addf(&finished, "Finished in %s", fah_num_seconds(totals->program_s).s);
	if (heap)
		fah_strbuf_addf(&finished, " using %s of heap RAM",
				fah_num_bytes(fah_heap_bytes(heap->max)).s);
	else if (totals->program_rss_bytes)
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

static int by_pid(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return one < other ? -1 : one > other;
}

/* The collector's own child, wherever it stands: entries are in the order of discovery. */
static uint32_t pid_of_program(const struct fah_profile *p)
{
	uint64_t collector = fah_profile_count(p, "collector_pid");
	size_t n;
	const struct fah_process *processes = fah_profile_processes(p, &n);

	for (size_t i = 0; i < n; i++)
		if (collector && processes[i].ppid == collector)
			return processes[i].pid;
	return n ? processes[0].pid : 0;
}

/*
 * Processes other than the program, each once: one that execs a Python anew has another entry, and
 * is no child of itself. Only those with Python in them are known.
 */
static void put_children(struct fah_text *t, const struct fah_profile *p)
{
	size_t n, found = 0, children = 0;
	const struct fah_process *processes = fah_profile_processes(p, &n);
	_cleanup_(fah_freep) uint32_t *pids = calloc(n + 1, sizeof(*pids));
	uint32_t program = pid_of_program(p);
	uint64_t largest = 0;

	t->failed |= !pids;
	for (size_t i = 0; pids && i < n; i++) {
		if (processes[i].pid == program)
			continue;
		pids[found++] = processes[i].pid;
		if (processes[i].max_rss_bytes > largest)
			largest = processes[i].max_rss_bytes;
	}
	if (!found)
		return;
	qsort(pids, found, sizeof(*pids), by_pid);
	for (size_t i = 0; i < found; i++)
		children += !i || pids[i] != pids[i - 1];
	fah_strbuf_addf(&t->line, "Python child processes: %s", fah_num_count(children).s);
	if (largest)
		fah_strbuf_addf(&t->line, " (largest %s)", fah_num_bytes(largest).s);
	fah_text_end(t);
}

static void put_totals(struct fah_text *t, const struct fah_profile *p, const struct fah_heap *heap)
{
	const struct fah_totals *totals = fah_profile_totals(p);

	if (t->o->so_far)
		put_running(t, totals);
	else
		put_finished(t, totals, heap);
	if (fah_waits_summary(&t->line, totals))
		fah_text_end(t);
	put_children(t, p);
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

#define COLLECTOR "<garbage collector>"

/* It has no place of its own: its time is in the functions that it was called from. */
static int add_collector(struct fah_top *top, const struct fah_profile *p,
			 const struct fah_charges *charges, const struct fah_report_options *o)
{
	const struct fah_function_cost *most = NULL;
	struct fah_top_row *row;
	double share;

	if (!(charges->collecting >= FLOOR * charges->wall_s && charges->wall_s > 0))
		return 0;
	for (size_t i = 0; i < charges->n_functions; i++)
		if (!most || charges->functions[i].collecting > most->collecting)
			most = &charges->functions[i];
	share = charges->collecting / charges->wall_s;
	row = fah_top_add(top, fah_cost_text(o, share, charges->wall_s, 1).s, share);
	if (!row)
		return FAH_ERR_NOMEM;
	row->is_extra = true;
	fah_strbuf_adds(&row->name, COLLECTOR);
	fah_strbuf_adds(&row->behind, "(within its callers, most in ");
	fah_text_clean(&row->behind, fah_profile_function(p, most->function)->name);
	fah_strbuf_addc(&row->behind, ')');
	return 0;
}

static double floor_of(const struct fah_report_options *o)
{
	return o->floor > 0 ? o->floor : FLOOR;
}

static int top_init(struct fah_top *top, const struct fah_profile *p,
		    const struct fah_charges *charges, const struct fah_text *t)
{
	size_t most = t->o->top ? t->o->top : FAH_REPORT_TOP;

	if (most > charges->n_functions)
		most = charges->n_functions;
	for (size_t i = 0; i < most && charges->functions[i].share >= floor_of(t->o); i++) {
		const struct fah_function_cost *cost = &charges->functions[i];
		const struct fah_function *f = fah_profile_function(p, cost->function);
		struct fah_top_row *row = fah_top_add(
			top, fah_cost_text(t->o, cost->share, charges->wall_s, 1).s, cost->share);

		if (!row)
			return FAH_ERR_NOMEM;
		fah_text_clean(&row->name, f->name);
		fah_strbuf_adds(&row->behind, "(");
		fah_text_place(&row->behind, f->file, f->first_line);
		fah_strbuf_addc(&row->behind, ')');
	}
	if (add_collector(top, p, charges, t->o) < 0)
		return FAH_ERR_NOMEM;
	fah_top_fit(top, t, COST_MIN);
	return 0;
}

struct listed {
	const struct fah_charges *charges;
	const struct fah_heap *heap; /* NULL: not recorded */
	struct fah_tree *tree;
	struct fah_top top, memory;
};

static void listed_release(struct listed *l)
{
	fah_tree_free(l->tree);
	fah_top_release(&l->top);
	fah_top_release(&l->memory);
}

static int listed_init(struct listed *l, struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_text *t)
{
	int err = fah_profile_charge(p, scope, &l->charges);

	if (err == 0)
		err = fah_profile_heap(p, scope, &l->heap);
	if (err == 0)
		err = fah_tree_new(p, l->charges, l->heap, t->o, floor_of(t->o), &l->tree);
	if (err == 0)
		err = top_init(&l->top, p, l->charges, t);
	return err < 0 || !l->heap ? err : fah_heap_top(&l->memory, p, l->heap, t);
}

static int rule_of(const struct listed *l, const struct fah_text *t)
{
	int rule = RULE_MIN, tree = fah_tree_width(l->tree, t->width);

	rule = l->top.longest > rule ? l->top.longest : rule;
	rule = l->memory.longest > rule ? l->memory.longest : rule;
	rule = tree > rule ? tree : rule;
	return rule > t->width ? t->width : rule;
}

static void put_list(struct fah_text *t, const struct fah_top *top, const char *by, int rule)
{
	char heading[64];

	if (!top->counted)
		return;
	snprintf(heading, sizeof(heading), "Top %d Functions by %s:", top->counted, by);
	put_heading(t, heading);
	put_rule(t, "-", rule);
	fah_top_print(t, top);
	fah_text_end(t);
}

static void put_lists(struct fah_text *t, struct listed *l, int rule)
{
	put_list(t, &l->top, "Total Runtime", rule);
	put_list(t, &l->memory, fah_heap_top_by(t->o->memory), rule);
	if (!l->top.counted)
		return;
	put_heading(t, "Functions by Module:");
	put_rule(t, "-", rule);
	fah_tree_print(l->tree, t);
}

static bool is_listed(const struct listed *l)
{
	return l->top.counted || l->memory.counted;
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
		fah_thin_scope(t, p, l->charges, all->top.counted > 0);
	if (all && is_listed(all))
		fah_text_end(t);
	if (!all || is_listed(all))
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
	const struct fah_memory_timeline *memory = NULL;
	struct fah_text t;
	int err, end;

	fah_text_init(&t, out, o);
	err = listed_init(&inside, p, o->scope ? o->scope : &fah_scope_everything, &t);
	if (err == 0 && !inside.top.counted)
		err = listed_init(&all, p, &fah_scope_everything, &t);
	if (err == 0)
		err = fah_profile_memory(p, &memory);
	if (err < 0) {
		fah_text_finish(&t);
		return err;
	}
	if (o->so_far)
		put_so_far(&t, p);
	put_command(&t, p);
	if (fah_closing_refused(&t, p))
		fah_text_end(&t);
	put_totals(&t, p, inside.heap);
	if (totals->samples || totals->waited_s > 0) {
		put_profile(&t, p, &inside, inside.top.counted ? NULL : &all);
		fah_bottleneck_say(&t, p, inside.charges);
		if (!o->so_far) /* what the whole run would take, nobody knows yet */
			err = fah_gains_print(&t, p,
					      inside.top.counted ? inside.charges : all.charges);
		if (err == 0 && o->trace)
			err = fah_traces_print(&t, p, inside.charges);
		fah_closing_words(&t, p, inside.charges);
	} else {
		put_list(&t, is_listed(&inside) ? &inside.memory : &all.memory,
			 fah_heap_top_by(o->memory), rule_of(&inside, &t));
		fah_closing_empty(&t, p);
		fah_closing_end(&t, p);
	}
	if (memory)
		fah_memory_timeline(&t, memory);
	if (inside.heap)
		fah_heap_words(&t, p, inside.heap);
	end = fah_text_finish(&t);
	return err < 0 ? err : end;
}
