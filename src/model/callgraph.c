/* callgraph.c - see callgraph.h. */
#include "model/callgraph.h"

#include "base/cleanup.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

struct making {
	const struct fah_exact *e;
	const struct fah_callgraph_wanted *wanted;
	double whole_self, whole;
	bool *shown;	   /* by function */
	uint32_t *node_of; /* by function: node + 1; 0: not drawn */
};

static double share(double part, double whole)
{
	double s = whole > 0 ? part / whole : 0;

	return s > 1 ? 1 : s > 0 ? s : 0; /* also of NaN */
}

static void find_whole(struct making *m)
{
	for (size_t i = 0; i < m->e->n_functions; i++) {
		const struct fah_exact_times *t = &m->e->functions[i].times;

		m->whole_self += t->self_s > 0 ? t->self_s : 0;
		if (t->total_s > m->whole)
			m->whole = t->total_s;
	}
	if (m->wanted->whole > m->whole_self)
		m->whole_self = m->wanted->whole;
	if (m->whole_self > m->whole)
		m->whole = m->whole_self;
}

/*
 * The functions that match, and all that they reach (or that reach them, where up), in reach[].
 * queue has room for all. False: nothing matches.
 */
static bool reach(const struct fah_exact *e, const char *text, bool up, bool *reached,
		  uint32_t *queue)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->n_functions; i++) {
		reached[i] = fah_function_called(&e->functions[i], text);
		if (reached[i])
			queue[n++] = i;
	}
	for (size_t at = 0; at < n; at++) {
		const struct fah_exact_function *f = &e->functions[queue[at]];

		for (uint32_t x = up ? f->first_caller : f->first_callee; x;
		     x = up ? e->edges[x - 1].next_caller : e->edges[x - 1].next_callee) {
			uint32_t next = up ? e->edges[x - 1].caller : e->edges[x - 1].callee;

			if (!reached[next]) {
				reached[next] = true;
				queue[n++] = next;
			}
		}
	}
	return n > 0;
}

static int limit(struct making *m, const char *text, bool up)
{
	_cleanup_(fah_freep) bool *reached = NULL;
	_cleanup_(fah_freep) uint32_t *queue = NULL;

	if (!text)
		return 0;
	reached = calloc(m->e->n_functions + 1, sizeof(*reached));
	queue = calloc(m->e->n_functions + 1, sizeof(*queue));
	if (!reached || !queue)
		return FAH_ERR_NOMEM;
	if (!reach(m->e, text, up, reached, queue))
		return FAH_ERR_USAGE;
	for (size_t i = 0; i < m->e->n_functions; i++)
		m->shown[i] = m->shown[i] && reached[i];
	return 0;
}

static int hottest_first(const void *a, const void *b)
{
	const struct fah_callgraph_node *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static void add_nodes(struct fah_callgraph *g, struct making *m)
{
	for (uint32_t i = 0; i < m->e->n_functions; i++) {
		const struct fah_exact_times *t = &m->e->functions[i].times;
		struct fah_callgraph_node n = {i, share(t->self_s, m->whole_self),
					       share(t->total_s, m->whole),
					       m->e->samples ? 0 : t->calls};

		if (m->shown[i] && n.total >= m->wanted->node_share)
			g->nodes[g->n_nodes++] = n;
	}
	if (g->n_nodes)
		qsort(g->nodes, g->n_nodes, sizeof(*g->nodes), hottest_first);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		m->node_of[g->nodes[i].function] = i + 1;
}

/* Files of Python's profile module tell how often a function was called by another, but not how
 * long that took: then its time is divided among its callers by that. */
static double time_of(const struct fah_exact *e, const struct fah_exact_edge *edge)
{
	const struct fah_exact_times *t = &e->functions[edge->callee].times;

	if (!edge->only_count)
		return edge->times.total_s;
	return t->calls ? t->total_s * ((double)edge->times.calls / (double)t->calls) : 0;
}

static int dearest_first(const void *a, const void *b)
{
	const struct fah_callgraph_edge *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void add_edges(struct fah_callgraph *g, const struct making *m)
{
	for (size_t i = 0; i < m->e->n_edges; i++) {
		const struct fah_exact_edge *x = &m->e->edges[i];
		uint32_t caller = m->node_of[x->caller], callee = m->node_of[x->callee];
		struct fah_callgraph_edge edge = {caller - 1, callee - 1, 0,
						  m->e->samples ? 0 : x->times.calls};

		if (!caller || !callee)
			continue;
		edge.share = share(time_of(m->e, x), m->whole);
		/* A call lies inside its caller's and is its callee's. */
		if (edge.share > g->nodes[caller - 1].total)
			edge.share = g->nodes[caller - 1].total;
		if (edge.share > g->nodes[callee - 1].total)
			edge.share = g->nodes[callee - 1].total;
		if (edge.share >= m->wanted->edge_share)
			g->edges[g->n_edges++] = edge;
	}
	if (g->n_edges)
		qsort(g->edges, g->n_edges, sizeof(*g->edges), dearest_first);
}

int fah_callgraph_init(struct fah_callgraph *g, const struct fah_exact *exact,
		       const struct fah_callgraph_wanted *wanted)
{
	size_t n = exact->n_functions;
	_cleanup_(fah_freep) bool *shown = malloc((n + 1) * sizeof(*shown));
	_cleanup_(fah_freep) uint32_t *node_of = calloc(n + 1, sizeof(*node_of));
	struct making m = {.e = exact, .wanted = wanted, .shown = shown, .node_of = node_of};
	int err;

	*g = (struct fah_callgraph){.exact = exact};
	g->nodes = calloc(n + 1, sizeof(*g->nodes));
	g->edges = calloc(exact->n_edges + 1, sizeof(*g->edges));
	if (!shown || !node_of || !g->nodes || !g->edges)
		return FAH_ERR_NOMEM;
	memset(shown, true, n + 1);
	find_whole(&m);
	err = limit(&m, wanted->root, false);
	if (err == 0)
		err = limit(&m, wanted->leaf, true);
	if (err < 0)
		return err;
	add_nodes(g, &m);
	add_edges(g, &m);
	return 0;
}

void fah_callgraph_done(struct fah_callgraph *g)
{
	free(g->nodes);
	free(g->edges);
	*g = (struct fah_callgraph){0};
}
