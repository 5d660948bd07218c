/*
 * totals.c - self and total seconds of each function over whole stacks.
 *
 * Total counts a stack once for a function, however often it recurs in it: at the outermost node of
 * the function on the path. One walk over the tree with a counter a function finds those, so the
 * cost does not grow with the depth of the stacks.
 */
#include "model/internal.h"

#include "base/cleanup.h"
#include "core/err.h"

#define NONE 0 /* the root is nobody's child */

struct tree {
	uint32_t *child, *sibling; /* first child, next sibling; NONE */
	double *below;		   /* seconds of the node and all below it */
	uint32_t *active;	   /* by function: nodes of it on the path */
	double *self;		   /* seconds of the node, and of those that are looked through */
};

static void link_tree(const struct fah_profile *p, bool others, struct tree *t)
{
	for (size_t i = p->n_nodes; i-- > 1;) { /* children before their parents */
		uint32_t parent = p->nodes[i].parent;

		t->self[i] += fah_node_cost_sum(&p->costs[i]);
		t->below[i] += fah_node_cost_sum(&p->costs[i]);
		t->below[parent] += t->below[i];
		if (!others && !fah_is_python(p, p->nodes[i].function))
			t->self[parent] += t->self[i];
		t->sibling[i] = t->child[parent];
		t->child[parent] = (uint32_t)i;
	}
}

static void walk_tree(const struct fah_profile *p, struct tree *t, struct fah_function_total *out)
{
	uint32_t i = t->child[0];

	while (i != NONE) {
		uint32_t f = p->canonical[p->nodes[i].function];

		out[f].self_s += t->self[i];
		if (!t->active[f]++)
			out[f].total_s += t->below[i];
		if (t->child[i] != NONE) {
			i = t->child[i];
			continue;
		}
		for (;;) { /* leave this node, and those above that have no more children */
			t->active[p->canonical[p->nodes[i].function]]--;
			if (t->sibling[i] != NONE) {
				i = t->sibling[i];
				break;
			}
			i = p->nodes[i].parent;
			if (i == NONE)
				return;
		}
	}
}

static int by_total(const void *a, const void *b)
{
	const struct fah_function_total *x = a, *y = b;

	if (x->total_s != y->total_s)
		return x->total_s > y->total_s ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

int fah_profile_function_totals(struct fah_profile *p, bool others,
				const struct fah_function_total **ret, size_t *ret_n)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	struct fah_function_total *out;
	struct tree t;
	size_t n = 0;

	t.child = fah_arena_array(&arena, p->n_nodes, sizeof(*t.child));
	t.sibling = fah_arena_array(&arena, p->n_nodes, sizeof(*t.sibling));
	t.below = fah_arena_array(&arena, p->n_nodes, sizeof(*t.below));
	t.active = fah_arena_array(&arena, p->n_functions, sizeof(*t.active));
	t.self = fah_arena_array(&arena, p->n_nodes, sizeof(*t.self));
	out = fah_arena_array(&p->arena, p->n_functions, sizeof(*out));
	if (!t.child || !t.sibling || !t.below || !t.active || !t.self || !out)
		return FAH_ERR_NOMEM;
	link_tree(p, others, &t);
	walk_tree(p, &t, out);
	for (uint32_t i = 0; i < p->n_functions; i++) {
		if (!(out[i].total_s > 0) || (!others && !fah_is_python(p, i)))
			continue;
		out[n] = out[i];
		out[n++].function = i;
	}
	qsort(out, n, sizeof(*out), by_total);
	*ret = out;
	*ret_n = n;
	return 0;
}
