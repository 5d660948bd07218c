/*
 * traces.c - see traces.h.
 *
 * Each node with time pays for a function (targets.h). From there the way up leads to the outermost
 * frame of that function, and the next frame inside the scope is its caller. Ways are told apart by
 * what of them is inside the scope.
 */
#include "model/traces.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "model/targets.h"

struct way {
	uint32_t traced; /* index of the function */
	uint32_t caller; /* node; 0: nobody */
	double seconds;
	uint64_t samples;
};

struct making {
	struct fah_profile *p;
	struct fah_targets targets;
	uint32_t *traced_of; /* by function: index + 1 of those asked for */
	uint64_t *visible;   /* by node: a hash of its frames inside the scope */
	struct fah_map by_key;
	struct way *ways;
	size_t n_ways, cap_ways;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static bool is_inside(const struct making *m, uint32_t node)
{
	return m->targets.node[node] == node && node;
}

static void hash_ways(struct making *m)
{
	for (uint32_t i = 1; i < m->p->n_nodes; i++) {
		const struct fah_node *n = &m->p->nodes[i];

		m->visible[i] = m->visible[n->parent];
		if (is_inside(m, i))
			m->visible[i] =
				mix(mix(m->visible[i], m->p->canonical[n->function]), n->line);
	}
}

/* The node inside the scope that called the outermost frame of the target's function. */
static uint32_t caller_of(const struct making *m, uint32_t target)
{
	const struct fah_node *nodes = m->p->nodes;
	uint32_t function = m->p->canonical[nodes[target].function], outermost = target, caller;

	for (uint32_t i = target; i; i = nodes[i].parent)
		if (is_inside(m, i) && m->p->canonical[nodes[i].function] == function)
			outermost = i;
	caller = m->targets.node[nodes[outermost].parent];
	return caller == FAH_TARGET_OUTSIDE ? 0 : caller;
}

static int add(struct making *m, uint32_t traced, uint32_t caller, const struct fah_node_cost *cost)
{
	uint32_t *slot;
	bool is_new;

	slot = fah_map_put(&m->by_key, (struct fah_key){m->visible[caller], traced}, &is_new);
	if (!slot || (is_new && !fah_room(&m->ways, m->n_ways, &m->cap_ways, sizeof(*m->ways))))
		return FAH_ERR_NOMEM;
	if (is_new) {
		*slot = (uint32_t)m->n_ways;
		m->ways[m->n_ways++] = (struct way){.traced = traced, .caller = caller};
	}
	m->ways[*slot].seconds += fah_node_cost_sum(cost);
	m->ways[*slot].samples += cost->samples;
	return 0;
}

static int add_all(struct making *m)
{
	const struct fah_profile *p = m->p;
	int err = 0;

	for (uint32_t i = 1; err == 0 && i < p->n_nodes; i++) {
		uint32_t target = m->targets.node[i], traced;

		if (!target || target == FAH_TARGET_OUTSIDE ||
		    !(fah_node_cost_sum(&p->costs[i]) > 0))
			continue;
		traced = m->traced_of[p->canonical[p->nodes[target].function]];
		if (traced)
			err = add(m, traced - 1, caller_of(m, target), &p->costs[i]);
	}
	return err;
}

static uint64_t place_of(const struct fah_profile *p, const struct way *w)
{
	const struct fah_node *n = &p->nodes[w->caller];

	return w->caller ? (uint64_t)(p->canonical[n->function] + 1) << 32 | n->line : 0;
}

/* By function and caller; of one caller the dearest way first. */
static int by_caller(const void *a, const void *b, void *profile)
{
	const struct way *x = a, *y = b;
	uint64_t px = place_of(profile, x), py = place_of(profile, y);

	if (x->traced != y->traced)
		return x->traced < y->traced ? -1 : 1;
	if (px != py)
		return px < py ? -1 : 1;
	if (x->seconds != y->seconds)
		return x->seconds > y->seconds ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static int by_share(const void *a, const void *b)
{
	const struct fah_trace *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->steps < y->steps ? -1 : x->steps > y->steps;
}

static int set_steps(struct making *m, struct fah_trace *trace, uint32_t caller)
{
	const struct fah_node *nodes = m->p->nodes;
	struct fah_trace_step *steps;
	size_t n = 0;

	for (uint32_t i = caller; i; i = nodes[i].parent)
		n += is_inside(m, i);
	steps = fah_arena_array(&m->p->arena, n, sizeof(*steps));
	if (!steps)
		return FAH_ERR_NOMEM;
	trace->steps = steps;
	trace->n_steps = n;
	for (uint32_t i = caller; i; i = nodes[i].parent)
		if (is_inside(m, i))
			*steps++ = (struct fah_trace_step){m->p->canonical[nodes[i].function],
							   nodes[i].line};
	return 0;
}

/* The sorted ways as traces; those of one function stand together. */
static int gather(struct making *m, struct fah_traced *traced)
{
	struct fah_trace *traces = fah_arena_array(&m->p->arena, m->n_ways, sizeof(*traces));
	double wall = m->p->totals.wall_s;
	size_t at = 0;
	int err = 0;

	if (!traces)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; err == 0 && i < m->n_ways; i++) {
		const struct way *w = &m->ways[i], *last = i ? w - 1 : NULL;
		struct fah_traced *of = &traced[w->traced];
		struct fah_trace *trace = &traces[at];

		if (last && last->traced == w->traced &&
		    place_of(m->p, last) == place_of(m->p, w)) {
			trace = &traces[at - 1];
		} else {
			err = set_steps(m, trace, w->caller);
			trace->calls = fah_profile_calls(
				m->p, of->function, trace->n_steps ? trace->steps[0].function : 0,
				trace->n_steps ? trace->steps[0].line : 0);
			if (!of->n++)
				of->traces = trace;
			at++;
		}
		trace->n_ways++;
		trace->share += wall > 0 ? w->seconds / wall : 0;
		trace->samples += w->samples;
	}
	for (size_t i = 0; i < at;) {
		const struct fah_traced *of = traced;

		while (of->traces != &traces[i])
			of++;
		qsort(&traces[i], of->n, sizeof(*traces), by_share);
		i += of->n;
	}
	return err;
}

static int make(struct making *m, const struct fah_scope *scope, const struct fah_charges *charges,
		struct fah_traced *traced, size_t n)
{
	int err = fah_targets_find(m->p, scope, &m->targets);

	m->traced_of = calloc(m->p->n_functions, sizeof(*m->traced_of));
	m->visible = calloc(m->p->n_nodes, sizeof(*m->visible));
	if (err < 0 || !m->traced_of || !m->visible)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		traced[i].function = charges->functions[i].function;
		traced[i].share = charges->functions[i].share;
		traced[i].calls_itself = fah_profile_calls_itself(m->p, traced[i].function,
								  &traced[i].calls_estimated,
								  &traced[i].calls_roughly);
		m->traced_of[traced[i].function] = i + 1;
	}
	hash_ways(m);
	err = add_all(m);
	if (err < 0)
		return err;
	if (m->n_ways) /* qsort wants an array, however empty */
		qsort_r(m->ways, m->n_ways, sizeof(*m->ways), by_caller, m->p);
	return gather(m, traced);
}

int fah_profile_traces(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_charges *charges, size_t most,
		       const struct fah_traced **ret, size_t *ret_n)
{
	size_t n = charges->n_functions < most ? charges->n_functions : most;
	struct fah_traced *traced = fah_arena_array(&p->arena, n, sizeof(*traced));
	struct making m = {.p = p};
	int err = traced ? make(&m, scope, charges, traced, n) : FAH_ERR_NOMEM;

	fah_targets_release(&m.targets);
	free(m.traced_of);
	free(m.visible);
	free(m.ways);
	fah_map_release(&m.by_key);
	*ret = traced;
	*ret_n = n;
	return err;
}
