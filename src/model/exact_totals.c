/*
 * exact_totals.c - see exact_totals.h. Circles are the strongly connected components of the graph,
 * found by Tarjan's algorithm with a stack of its own: graphs may be deep.
 */
#include "model/exact_totals.h"

#include "base/cleanup.h"
#include "core/err.h"

#include <stdlib.h>

struct visit {
	uint32_t order;	 /* when it was met, from 1 on; 0: not yet */
	uint32_t lowest; /* that it reaches, among those not in a circle yet */
	uint32_t circle; /* from 1 on; 0: not known yet */
	uint32_t edge;	 /* the next to follow: index + 1 */
};

struct search {
	const struct fah_exact *e;
	struct visit *visits; /* by function */
	uint32_t *path;	      /* functions being followed */
	uint32_t *open;	      /* functions met whose circle is not known yet */
	size_t n_path, n_open;
	uint32_t met, circles;
};

static void meet(struct search *s, uint32_t function)
{
	struct visit *v = &s->visits[function];

	v->order = v->lowest = ++s->met;
	v->edge = s->e->functions[function].first_callee;
	s->path[s->n_path++] = s->open[s->n_open++] = function;
}

static void leave(struct search *s)
{
	uint32_t function = s->path[--s->n_path], member;
	struct visit *v = &s->visits[function];

	if (v->lowest == v->order) {
		s->circles++;
		do {
			member = s->open[--s->n_open];
			s->visits[member].circle = s->circles;
		} while (member != function);
	}
	if (s->n_path) {
		struct visit *above = &s->visits[s->path[s->n_path - 1]];

		if (v->lowest < above->lowest)
			above->lowest = v->lowest;
	}
}

static void follow(struct search *s, uint32_t from)
{
	meet(s, from);
	while (s->n_path) {
		struct visit *v = &s->visits[s->path[s->n_path - 1]], *to;
		uint32_t callee;

		if (!v->edge) {
			leave(s);
			continue;
		}
		callee = s->e->edges[v->edge - 1].callee;
		v->edge = s->e->edges[v->edge - 1].next_callee;
		to = &s->visits[callee];
		if (!to->order)
			meet(s, callee);
		else if (!to->circle && to->order < v->lowest)
			v->lowest = to->order;
	}
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* whole: by circle, zeroed. */
static void add_up(struct fah_exact *e, const struct visit *visits, double *whole,
		   const double *known)
{
	for (size_t i = 0; i < e->n_functions; i++) {
		struct fah_exact_times *t = &e->functions[i].times;

		t->total_s = t->self_s;
		whole[visits[i].circle] += t->self_s;
	}
	for (size_t i = 0; i < e->n_edges; i++) {
		const struct fah_exact_edge *x = &e->edges[i];
		uint32_t circle = visits[x->caller].circle;

		if (circle != visits[x->callee].circle)
			whole[circle] += x->times.total_s;
		if (x->caller != x->callee) /* else it is in what the callee took */
			e->functions[x->caller].times.total_s += x->times.total_s;
	}
	for (size_t i = 0; i < e->n_functions; i++) {
		struct fah_exact_times *t = &e->functions[i].times;

		t->total_s = least(known && known[i] >= 0 ? known[i] : t->total_s,
				   whole[visits[i].circle]);
	}
	for (size_t i = 0; i < e->n_edges; i++) {
		struct fah_exact_edge *x = &e->edges[i];

		x->times.total_s =
			least(x->times.total_s, least(e->functions[x->caller].times.total_s,
						      e->functions[x->callee].times.total_s));
	}
}

int fah_exact_totals(struct fah_exact *e, const double *known)
{
	size_t n = e->n_functions + 1;
	_cleanup_(fah_freep) struct visit *visits = calloc(n, sizeof(*visits));
	_cleanup_(fah_freep) uint32_t *path = calloc(n, sizeof(*path));
	_cleanup_(fah_freep) uint32_t *open = calloc(n, sizeof(*open));
	_cleanup_(fah_freep) double *whole = calloc(n, sizeof(*whole));
	struct search s = {.e = e, .visits = visits, .path = path, .open = open};

	if (!visits || !path || !open || !whole)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < e->n_functions; i++)
		if (!visits[i].order)
			follow(&s, i);
	add_up(e, visits, whole, known);
	return 0;
}
