/*
 * calltree.c - nodes merged by function into a tree of calls.
 *
 * Callers stand before their callees in both arrays, so two passes do it all, without recursion:
 * forwards to merge, backwards to add up.
 */
#include "model/calltree.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "capture/words.h"
#include "core/err.h"
#include "model/internal.h"

#include <math.h>

struct making {
	const struct fah_profile *p;
	struct fah_calltree *t;
	size_t cap;
	struct fah_map by_caller; /* caller, function, kind, reason -> call */
	uint32_t *of_node;	  /* the call of each node */
	bool *no_python;	  /* by node: neither it nor a caller is Python's */
};

/* The callee of a call; made where there is none yet. UINT32_MAX: no memory. */
static uint32_t callee(struct making *m, uint32_t caller, uint32_t function, uint32_t kind,
		       uint32_t reason)
{
	struct fah_calltree *t = m->t;
	uint32_t *slot =
		fah_map_put(&m->by_caller, fah_key_u32x4(caller, function, kind, reason), NULL);
	struct fah_call *c;

	if (!slot)
		return UINT32_MAX;
	if (*slot)
		return *slot;
	if (!fah_room(&t->calls, t->n, &m->cap, sizeof(*t->calls)))
		return UINT32_MAX;
	c = &t->calls[t->n];
	*c = (struct fah_call){.function = function, .kind = kind, .reason = reason};
	c->parent = caller;
	c->depth = t->calls[caller].depth + 1;
	if (c->depth > t->max_depth)
		t->max_depth = c->depth;
	return *slot = (uint32_t)t->n++;
}

static void add(struct fah_times *to, const struct fah_times *more)
{
	to->python += more->python;
	to->native += more->native;
	to->system += more->system;
	to->waiting += more->waiting;
}

/*
 * The call of node i. What stands above a stack's first Python frame, the start of the program or
 * of the thread, is not there in stacks that were read from outside: left out, both are one tree.
 * Stacks with no Python frame at all stay whole.
 */
static uint32_t call_of(struct making *m, const struct fah_calltree_options *o, uint32_t i)
{
	const struct fah_profile *p = m->p;
	const struct fah_node *node = &p->nodes[i];
	bool python = fah_is_python(p, node->function);

	if (!python && !o->others)
		return m->of_node[node->parent];
	m->no_python[i] = !python && m->no_python[node->parent];
	return callee(m, python && m->no_python[node->parent] ? 0 : m->of_node[node->parent],
		      p->canonical[node->function], FAH_CALL_FUNCTION, 0);
}

static int merge(struct making *m, const struct fah_calltree_options *o)
{
	const struct fah_profile *p = m->p;

	m->no_python[0] = true;
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		const struct fah_node_cost *cost = &p->costs[i];
		struct fah_times times = {
			.python = cost->seconds[FAH_IN_PYTHON],
			.native = cost->seconds[FAH_IN_NATIVE],
			.system = cost->seconds[FAH_IN_SYSTEM],
			.waiting = cost->waiting,
		};
		uint32_t call = i ? call_of(m, o, i) : 0;

		m->of_node[i] = call;
		if (call == 0 && (fah_times_sum(&times) > 0 || cost->samples))
			call = callee(m, 0, 0, FAH_CALL_NO_STACK, 0);
		if (call == UINT32_MAX)
			return FAH_ERR_NOMEM;
		add(&m->t->calls[call].self, &times);
		m->t->calls[call].samples += cost->samples;
	}
	return 0;
}

/* Move seconds from a call's own time to a leaf below it. */
static int split(struct making *m, uint32_t call, uint32_t kind, uint32_t reason, double seconds)
{
	uint32_t leaf;
	struct fah_times part = {0}, *from;

	if (!(seconds > 0))
		return 0;
	leaf = callee(m, call, 0, kind, reason);
	if (leaf == UINT32_MAX)
		return FAH_ERR_NOMEM;
	*(kind == FAH_CALL_NATIVE   ? &part.native
	  : kind == FAH_CALL_SYSTEM ? &part.system
				    : &part.waiting) = seconds;
	add(&m->t->calls[leaf].self, &part);
	from = &m->t->calls[call].self;
	from->native -= part.native;
	from->system -= part.system;
	from->waiting -= part.waiting;
	if (from->waiting < 1e-9) /* the reasons add up to it but for their rounding */
		from->waiting = 0;
	return 0;
}

static int split_all(struct making *m)
{
	const struct fah_profile *p = m->p;
	size_t n = m->t->n;
	int err = 0;

	for (size_t i = 0; err == 0 && i < p->n_waits; i++) {
		uint32_t call = m->of_node[p->waits[i].node];

		if (call == 0) /* what has no stack stays with its like */
			continue;
		err = split(m, call, FAH_CALL_WAITING, p->waits[i].reason, p->waits[i].seconds);
	}
	for (uint32_t i = 1; err == 0 && i < n; i++) {
		const struct fah_call c = m->t->calls[i]; /* the array may move */

		if (c.kind != FAH_CALL_FUNCTION)
			continue;
		if (fah_is_python(p, c.function))
			err = split(m, i, FAH_CALL_NATIVE, 0, c.self.native);
		if (err == 0)
			err = split(m, i, FAH_CALL_SYSTEM, 0, c.self.system);
	}
	return err;
}

static void add_up(struct fah_calltree *t, const struct fah_totals *totals)
{
	for (size_t i = t->n; i--;) {
		struct fah_call *c = &t->calls[i];
		double ran;

		add(&c->total, &c->self);
		if (i) {
			add(&t->calls[c->parent].total, &c->total);
			t->calls[c->parent].samples += c->samples;
		}
		/* As of functions (charge.c): what is idle is measured, not sampled. */
		ran = fah_times_sum(&c->total) - c->total.waiting;
		c->interval = totals->on_cpu_s > 0 && totals->wall_s > 0
				      ? fah_share_interval(ran / totals->on_cpu_s,
							   totals->effective_samples) *
						totals->on_cpu_s / totals->wall_s
				      : 1;
	}
}

struct place {
	long long ns; /* rounded, so that equals keep the order of the capture */
	uint32_t call;
};

static int dearest_last(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->call > y->call ? -1 : x->call < y->call;
}

/* Lists of callees, the dearest first. */
static int link_calls(struct fah_calltree *t)
{
	_cleanup_(fah_freep) struct place *order = reallocarray(NULL, t->n, sizeof(*order));

	if (!order)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = (struct place){llround(fah_times_sum(&t->calls[i].total) * 1e9), i};
	qsort(order, t->n, sizeof(*order), dearest_last);
	for (size_t k = 0; k < t->n; k++) {
		struct fah_call *c = &t->calls[order[k].call];

		if (!order[k].call)
			continue;
		c->sibling = t->calls[c->parent].child;
		t->calls[c->parent].child = order[k].call;
	}
	return 0;
}

FAH_DEFINE_FREEP(struct fah_calltree *, fah_calltree_free)

int fah_calltree_new(const struct fah_profile *p, const struct fah_calltree_options *o,
		     struct fah_calltree **ret)
{
	_cleanup_(fah_calltree_freep) struct fah_calltree *t = calloc(1, sizeof(*t));
	_cleanup_(fah_freep) uint32_t *of_node = reallocarray(NULL, p->n_nodes, sizeof(*of_node));
	_cleanup_(fah_freep) bool *no_python = calloc(p->n_nodes, sizeof(*no_python));
	struct making m = {.p = p, .t = t, .of_node = of_node, .no_python = no_python};
	int err;

	if (!t || !of_node || !no_python || !fah_room(&t->calls, t->n, &m.cap, sizeof(*t->calls)))
		return FAH_ERR_NOMEM;
	t->calls[t->n++] = (struct fah_call){.kind = FAH_CALL_RUN};
	t->wall_s = p->totals.wall_s;
	err = merge(&m, o);
	if (err == 0 && o->leaves)
		err = split_all(&m);
	fah_map_release(&m.by_caller);
	if (err == 0) {
		add_up(t, &p->totals);
		err = link_calls(t);
	}
	if (err == 0)
		*ret = TAKE_PTR(t);
	return err;
}

void fah_calltree_free(struct fah_calltree *t)
{
	if (!t)
		return;
	free(t->calls);
	free(t);
}

uint32_t fah_calltree_next(const struct fah_calltree *t, uint32_t i, bool skip)
{
	if (!skip && t->calls[i].child)
		return t->calls[i].child;
	while (i && !t->calls[i].sibling)
		i = t->calls[i].parent;
	return t->calls[i].sibling; /* of calls[0]: 0 */
}

void fah_call_name(struct fah_strbuf *sb, const struct fah_profile *p, const struct fah_call *c)
{
	switch (c->kind) {
	case FAH_CALL_RUN:
		fah_strbuf_adds(sb, "all");
		break;
	case FAH_CALL_NATIVE:
		fah_strbuf_adds(sb, "native");
		break;
	case FAH_CALL_SYSTEM:
		fah_strbuf_adds(sb, "system");
		break;
	case FAH_CALL_WAITING:
		fah_strbuf_addf(sb, "waiting: %s", fah_wait_words(c->reason));
		break;
	case FAH_CALL_NO_STACK:
		fah_strbuf_adds(sb, "outside any Python frame");
		break;
	default:
		fah_strbuf_adds(sb, fah_profile_function(p, c->function)->name);
	}
}

void fah_call_place(struct fah_strbuf *sb, const struct fah_profile *p, const struct fah_call *c)
{
	const struct fah_function *f = fah_profile_function(p, c->function);

	if (c->kind != FAH_CALL_FUNCTION || !*f->file)
		return;
	fah_strbuf_adds(sb, fah_basename(f->file));
	if (f->kind == FAH_FUNCTION_PYTHON)
		fah_strbuf_addf(sb, ":%u", f->first_line);
}
