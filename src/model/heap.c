/*
 * heap.c - who held how much memory: see heap.h.
 *
 * Two passes over what happened: the first finds when the run held the most (heap_whole.c), the
 * second lets every line and function hold and give back its blocks, and looks at all of them at
 * that moment.
 */
#include "model/heap.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/heap_account.h"
#include "model/heap_kept.h"
#include "model/heap_leaks.h"
#include "model/heap_replay.h"
#include "model/heap_whole.h"
#include "model/line_ids.h"
#include "model/targets.h"

#include <math.h>

#define LEAK_SHARE 0.01 /* of the run's max: less is not worth a word */
#define NEVER_SEEN 3.0	/* exp(-3) is 5 % */

enum { OUTSIDE = 0, NO_PYTHON = 1, FIRST = 2 }; /* accounts */
#define NO_ACCOUNT UINT32_MAX

struct charger {
	struct fah_profile *p;
	struct fah_heap *out;
	struct fah_heap_clock clock;
	struct fah_heap_whole whole;
	struct fah_targets targets;
	struct fah_line_ids ids;
	uint32_t *line_of;			  /* by node: id of its line; FAH_HEAP_NO_LINE */
	uint32_t *function_of;			  /* by function: its account; NO_ACCOUNT */
	uint32_t *line_accounts, *line_functions; /* by line id */
	struct fah_heap_leak *leaks;
	struct fah_heap_ways *ways; /* by shape; NULL: not every block was recorded */
	struct fah_heap_account *accounts;
	size_t n_accounts;
	double allocated;
};

static struct fah_heap_account *by_line(struct charger *c, uint32_t node)
{
	uint32_t line = c->line_of[node];

	if (line != FAH_HEAP_NO_LINE)
		return &c->accounts[c->line_accounts[line]];
	return &c->accounts[c->targets.node[node] ? OUTSIDE : NO_PYTHON];
}

static uint32_t function_at(const struct charger *c, uint32_t node)
{
	return c->p->canonical[c->p->nodes[c->targets.node[node]].function];
}

/* NULL: no line, so no function. */
static struct fah_heap_account *by_function(struct charger *c, uint32_t node)
{
	if (c->line_of[node] == FAH_HEAP_NO_LINE)
		return NULL;
	return &c->accounts[c->function_of[function_at(c, node)]];
}

/* Its line and its function are among the accounts, of which there are *n. */
static int find_account(struct charger *c, uint32_t node, size_t *n)
{
	const struct fah_profile *p = c->p;
	uint32_t target = c->targets.node[node], function;

	if (c->line_of[node] != FAH_HEAP_NO_LINE || !target || target == FAH_TARGET_OUTSIDE)
		return 0;
	function = function_at(c, node);
	if (fah_line_ids_put(&c->ids, p->functions[function].file_id, p->nodes[target].line,
			     &c->line_of[node]) < 0)
		return FAH_ERR_NOMEM;
	if (c->function_of[function] == NO_ACCOUNT)
		c->function_of[function] = (uint32_t)(*n)++;
	return 0;
}

/* Lines and functions of all nodes that asked for memory, or copied. */
static int find_accounts(struct charger *c)
{
	const struct fah_profile *p = c->p;
	const struct fah_heap_records *h = p->heap_records;
	size_t n = FIRST;

	c->line_of = reallocarray(NULL, p->n_nodes, sizeof(*c->line_of));
	c->function_of = reallocarray(NULL, p->n_functions, sizeof(*c->function_of));
	if (!c->line_of || !c->function_of)
		return FAH_ERR_NOMEM;
	memset(c->line_of, 0xff, p->n_nodes * sizeof(*c->line_of));
	memset(c->function_of, 0xff, p->n_functions * sizeof(*c->function_of));
	for (size_t i = 0; i < h->n_blocks; i++)
		if (find_account(c, h->blocks[i].node, &n) < 0)
			return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->n_copies; i++)
		if (find_account(c, h->copies[i].node, &n) < 0)
			return FAH_ERR_NOMEM;
	for (size_t i = 0; h->batches && i < h->batches->n_shapes; i++)
		if (find_account(c, h->batches->shapes[i].node, &n) < 0)
			return FAH_ERR_NOMEM;
	c->line_accounts = calloc(c->ids.n + 1, sizeof(*c->line_accounts));
	c->line_functions = calloc(c->ids.n + 1, sizeof(*c->line_functions));
	c->leaks = calloc(c->ids.n + 1, sizeof(*c->leaks));
	if (!c->line_accounts || !c->line_functions || !c->leaks)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < c->ids.n; i++)
		c->line_accounts[i] = (uint32_t)n++;
	/* They stay: timelines are in them. */
	c->accounts = fah_arena_array(&c->p->arena, n, sizeof(*c->accounts));
	c->n_accounts = n;
	if (!c->accounts)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		fah_heap_account_init(&c->accounts[i], &c->clock);
	return 0;
}

static int find_ways(struct charger *c)
{
	const struct fah_heap_batches *b = c->p->heap_records->batches;

	if (!b)
		return 0;
	c->ways = calloc(b->n_shapes + 1, sizeof(*c->ways));
	if (!c->ways)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < b->n_shapes; i++)
		c->ways[i] = (struct fah_heap_ways){by_line(c, b->shapes[i].node),
						    by_function(c, b->shapes[i].node)};
	return 0;
}

static void take_alloc(struct charger *c, const struct fah_heap_block *b)
{
	struct fah_heap_account *line = by_line(c, b->node), *function = by_function(c, b->node);

	c->allocated += b->weight;
	fah_heap_account_alloc(line, &c->clock, b);
	if (function)
		fah_heap_account_alloc(function, &c->clock, b);
}

static void take_free(struct charger *c, const struct fah_heap_block *b, uint64_t time_ns)
{
	struct fah_heap_account *line = by_line(c, b->node), *function = by_function(c, b->node);

	fah_heap_account_free(line, &c->clock, b, time_ns);
	if (function)
		fah_heap_account_free(function, &c->clock, b, time_ns);
}

static void take_copies(struct charger *c)
{
	const struct fah_heap_records *h = c->p->heap_records;

	for (size_t i = 0; i < h->n_copies; i++) {
		const struct fah_rec_copy *copy = &h->copies[i];
		struct fah_heap_account *function = by_function(c, copy->node);
		double bytes = fah_heap_weight(copy->bytes, copy->interval);

		by_line(c, copy->node)->copied += bytes;
		if (function)
			function->copied += bytes;
	}
}

static void take_piece(struct charger *c, const struct fah_heap_piece *piece, size_t from,
		       size_t to)
{
	c->allocated +=
		fah_heap_replay_piece(c->p->heap_records, &c->clock, c->ways, piece, from, to);
}

static void take_event(struct charger *c, const struct fah_heap_event *e)
{
	const struct fah_heap_records *h = c->p->heap_records;
	const struct fah_heap_of *of = &h->processes[e->process];

	switch ((enum fah_heap_event_kind)e->kind) {
	case FAH_HEAP_ALLOC:
		take_alloc(c, &h->blocks[e->what]);
		if (h->blocks[e->what].died_ns == h->blocks[e->what].born_ns)
			take_free(c, &h->blocks[e->what], e->time_ns);
		break;
	case FAH_HEAP_FREE:
		take_free(c, &h->blocks[e->what], e->time_ns);
		break;
	case FAH_HEAP_END:
		for (uint64_t i = 0; i < of->n_survivors; i++)
			take_free(c, &h->blocks[h->survivors[of->first_survivor + i]], e->time_ns);
		fah_heap_replay_end(h, &c->clock, c->ways, e->process, e->time_ns);
		break;
	case FAH_HEAP_PIECE:
		take_piece(c, &h->batches->pieces[e->what], 0, h->batches->pieces[e->what].n);
		break;
	case FAH_HEAP_STATE:
	case FAH_HEAP_ENDING:
	case FAH_HEAP_NONE:
		break;
	}
}

static void mark_peak(struct charger *c)
{
	for (size_t i = 0; i < c->n_accounts; i++)
		fah_heap_account_mark(&c->accounts[i]);
}

static void replay(struct charger *c)
{
	const struct fah_heap_records *h = c->p->heap_records;

	for (size_t i = 0; i < h->n_events; i++) {
		bool is_peak = i == c->whole.peak_event;

		if (is_peak && !c->whole.peak_with)
			mark_peak(c);
		if (is_peak && c->whole.peak_with && h->events[i].kind == FAH_HEAP_PIECE) {
			const struct fah_heap_piece *piece = &h->batches->pieces[h->events[i].what];

			take_piece(c, piece, 0, c->whole.peak_inside);
			mark_peak(c);
			take_piece(c, piece, c->whole.peak_inside, piece->n);
			continue;
		}
		take_event(c, &h->events[i]);
		if (is_peak && c->whole.peak_with)
			mark_peak(c);
	}
	take_copies(c);
	for (size_t i = 0; i < c->n_accounts; i++)
		fah_heap_account_close(&c->accounts[i], &c->clock);
}

static double interval_of(double variance)
{
	return 1.959964 * sqrt(variance > 0 ? variance : 0);
}

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* Over the time recorded; where there is none, what it held then. */
static double average_of(const struct charger *c, const struct fah_heap_account *a)
{
	double ns = (double)(c->clock.to_ns - c->clock.from_ns);

	return ns > 0 ? a->integral / ns : a->peak;
}

static struct fah_heap_cost cost_of(const struct charger *c, const struct fah_heap_account *a)
{
	return (struct fah_heap_cost){
		.peak = a->peak,
		.peak_interval = interval_of(a->peak_variance),
		.peak_share = share_of(a->peak, c->whole.all.peak),
		.at_peak = a->at_peak,
		.at_peak_interval = interval_of(a->at_peak_variance),
		.average = average_of(c, a),
		.live = a->live,
		.live_interval = interval_of(a->live_variance),
		.allocated = a->allocated,
		.allocated_interval = interval_of(a->allocated_variance),
		.activity = share_of(a->allocated, c->allocated),
		.python = share_of(a->python, a->allocated),
		.temporary = a->temporary,
		.copied = a->copied,
		.copy_rate = share_of(a->copied, (double)(c->clock.to_ns - c->clock.from_ns) / 1e9),
		.blocks = a->blocks,
		.timeline = a->timeline,
	};
}

static int by_peak(const void *a, const void *b)
{
	const struct fah_heap_function *x = a, *y = b;

	if (x->cost.peak != y->cost.peak)
		return x->cost.peak > y->cost.peak ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_first_line(const void *a, const void *b, void *profile)
{
	const struct fah_heap_function *x = a, *y = b;

	return fah_by_first_line(profile, x->function, y->function);
}

static int by_number(const void *a, const void *b)
{
	const struct fah_heap_line *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_share(const void *a, const void *b)
{
	const struct fah_heap_file *x = a, *y = b;

	if (x->most_share != y->most_share)
		return x->most_share > y->most_share ? -1 : 1;
	return strcmp(x->abspath, y->abspath);
}

static int collect_functions(struct charger *c)
{
	struct fah_heap *out = c->out;

	out->functions = fah_arena_array(&c->p->arena, c->n_accounts, sizeof(*out->functions));
	if (!out->functions)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < c->p->n_functions; i++)
		if (c->function_of[i] != NO_ACCOUNT)
			out->functions[out->n_functions++] = (struct fah_heap_function){
				i, cost_of(c, &c->accounts[c->function_of[i]])};
	qsort(out->functions, out->n_functions, sizeof(*out->functions), by_peak);
	return 0;
}

/* Two functions may share a line (a lambda's): it is named for the one that asked for more. */
static void name_lines(struct charger *c)
{
	const struct fah_profile *p = c->p;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		uint32_t line = c->line_of[i], function, *named;

		if (line == FAH_HEAP_NO_LINE)
			continue;
		function = function_at(c, i);
		named = &c->line_functions[line];
		if (!*named || c->accounts[c->function_of[function]].allocated >
				       c->accounts[c->function_of[*named]].allocated)
			*named = function;
	}
}

/* Give each file its slices: count, offsets, fill, sort. */
static int collect_files(struct charger *c)
{
	struct fah_profile *p = c->p;
	struct fah_heap *out = c->out;
	_cleanup_(fah_freep) struct fah_heap_file *files = calloc(p->n_files + 1, sizeof(*files));
	struct fah_heap_line *lines = fah_arena_array(&p->arena, c->ids.n, sizeof(*lines));
	struct fah_heap_function *functions =
		fah_arena_array(&p->arena, out->n_functions, sizeof(*functions));
	size_t i;

	if (!files || !lines || !functions)
		return FAH_ERR_NOMEM;
	for (i = 0; i < c->ids.n; i++)
		files[c->ids.all[i].file].n_lines++;
	for (i = 0; i < out->n_functions; i++)
		files[p->functions[out->functions[i].function].file_id].n_functions++;
	for (i = 0; i < p->n_files; i++) {
		files[i].lines = lines;
		lines += files[i].n_lines;
		files[i].functions = functions;
		functions += files[i].n_functions;
		files[i].n_lines = files[i].n_functions = 0;
	}
	for (i = 0; i < c->ids.n; i++) {
		struct fah_heap_file *file = &files[c->ids.all[i].file];
		struct fah_heap_line *line = &file->lines[file->n_lines++];

		*line = (struct fah_heap_line){c->ids.all[i].line, c->line_functions[i],
					       cost_of(c, &c->accounts[c->line_accounts[i]]),
					       c->leaks[i]};
		if (line->cost.peak_share > file->most_share)
			file->most_share = line->cost.peak_share;
	}
	for (i = 0; i < out->n_functions; i++) {
		struct fah_heap_file *file =
			&files[p->functions[out->functions[i].function].file_id];

		file->functions[file->n_functions++] = out->functions[i];
	}
	out->files = fah_arena_array(&p->arena, p->n_files, sizeof(*files));
	if (!out->files)
		return FAH_ERR_NOMEM;
	for (i = 0; i < p->n_files; i++) {
		if (!files[i].n_lines)
			continue;
		files[i].path = p->files[i].path;
		files[i].abspath = p->files[i].abspath;
		qsort(files[i].lines, files[i].n_lines, sizeof(*lines), by_number);
		qsort_r(files[i].functions, files[i].n_functions, sizeof(*functions), by_first_line,
			p);
		out->files[out->n_files++] = files[i];
	}
	qsort(out->files, out->n_files, sizeof(*out->files), by_share);
	return 0;
}

static int collect_processes(struct charger *c)
{
	const struct fah_heap_records *h = c->p->heap_records;
	struct fah_heap *out = c->out;
	struct fah_heap_process *all =
		fah_arena_array(&c->p->arena, c->p->n_processes, sizeof(*all));

	if (!all)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < c->p->n_processes; i++) {
		const struct fah_heap_of *of = &h->processes[i];
		uint64_t interval = fah_heap_is_every(of->interval) ? 0 : of->interval;

		if (!of->seen)
			continue;
		all[out->n_processes++] = (struct fah_heap_process){
			i, interval, of->before, of->held, of->most, of->blocks, of->lost};
		out->lost += of->lost;
		out->copied += (double)of->copied;
		if (interval > out->interval)
			out->interval = interval;
		out->without_small |= of->interval == FAH_HEAP_EVERY_MALLOC;
	}
	out->processes = all;
	return 0;
}

static int collect_whole(struct charger *c)
{
	const struct fah_heap_whole *w = &c->whole;
	struct fah_heap *out = c->out;
	double *timeline = fah_arena_array(&c->p->arena, FAH_HEAP_BUCKETS, sizeof(*timeline));

	if (!timeline)
		return FAH_ERR_NOMEM;
	memcpy(timeline, w->all.timeline, sizeof(w->all.timeline));
	out->timeline = timeline;
	out->max = w->all.peak;
	out->max_at_s = (double)w->peak_ns * 1e-9;
	out->before = w->before;
	out->end = w->end;
	out->average = average_of(c, &w->all);
	out->recorded_s = (double)(c->clock.to_ns - c->clock.from_ns) * 1e-9;
	out->growth_rate = fah_heap_slope(timeline, out->recorded_s);
	out->growth = share_of(out->growth_rate * out->recorded_s, out->max);
	out->outside = cost_of(c, &c->accounts[OUTSIDE]);
	out->no_python = cost_of(c, &c->accounts[NO_PYTHON]);
	out->allocated = c->allocated;
	out->blocks =
		c->p->heap_records->n_blocks + (c->ways ? c->p->heap_records->batches->blocks : 0);
	out->unassigned = out->max - out->before - out->outside.at_peak - out->no_python.at_peak;
	for (size_t i = 0; i < c->ids.n; i++)
		out->unassigned -= c->accounts[c->line_accounts[i]].at_peak;
	return 0;
}

static int charge(struct charger *c, const struct fah_scope *scope)
{
	struct fah_profile *p = c->p;
	int err = fah_heap_order(p);

	c->out = fah_arena_alloc(&p->arena, sizeof(*c->out));
	if (err == 0 && !c->out)
		err = FAH_ERR_NOMEM;
	if (err < 0)
		return err;
	fah_heap_clock_init(&c->clock, p->heap_records);
	err = fah_heap_whole(p, &c->clock, &c->whole);
	if (err == 0)
		err = fah_targets_find(p, scope, &c->targets);
	if (err == 0)
		err = find_accounts(c);
	if (err == 0)
		err = find_ways(c);
	if (err < 0)
		return err;
	replay(c);
	name_lines(c);
	err = fah_heap_leaks(p, c->line_of, LEAK_SHARE * c->whole.all.peak, c->leaks);
	if (err == 0)
		err = collect_whole(c);
	if (err == 0)
		err = collect_processes(c);
	if (err == 0)
		err = collect_functions(c);
	c->out->left_out = c->p->heap_records->left_out;
	c->out->may_be_missing = NEVER_SEEN * (double)c->out->interval;
	return err < 0 ? err : collect_files(c);
}

bool fah_profile_has_heap(const struct fah_profile *p)
{
	return p->heap_records && p->heap_records->n_events;
}

bool fah_profile_heap_left_out(const struct fah_profile *p)
{
	return p->heap_records && p->heap_records->left_out;
}

int fah_profile_heap(struct fah_profile *p, const struct fah_scope *scope,
		     const struct fah_heap **ret)
{
	struct charger c = {.p = p};
	int err;

	if (!fah_profile_has_heap(p)) {
		*ret = NULL;
		return 0;
	}
	*ret = fah_heap_kept_get(p, scope);
	if (*ret)
		return 0;
	err = charge(&c, scope);
	fah_targets_release(&c.targets);
	fah_line_ids_release(&c.ids);
	free(c.line_of);
	free(c.function_of);
	free(c.line_accounts);
	free(c.line_functions);
	free(c.leaks);
	free(c.ways);
	if (err < 0)
		return err;
	fah_heap_kept_put(p, scope, c.out);
	*ret = c.out;
	return 0;
}
