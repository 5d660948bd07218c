/* exact_of.c - the calls of a capture that were told one by one. */
#include "core/err.h"
#include "model/exact.h"
#include "model/internal.h"

#include <string.h>

/* A capture counts processes from 1. */
static bool is_of(const struct fah_rec_timed *t, uint32_t process)
{
	return process == FAH_EXACT_ALL || t->process == process + 1;
}

bool fah_exact_has(const struct fah_profile *p, uint32_t process)
{
	for (size_t i = 0; i < p->n_timed; i++)
		if (is_of(&p->timed[i], process))
			return true;
	return false;
}

static int function(const struct fah_profile *p, uint32_t id, struct fah_exact *e, uint32_t *ret)
{
	const struct fah_function *f = &p->functions[id < p->n_functions ? id : 0];

	return fah_exact_function(e, f->file, strlen(f->file), f->first_line, f->plain,
				  strlen(f->plain), ret);
}

static int add(const struct fah_profile *p, const struct fah_rec_timed *t, struct fah_exact *e)
{
	struct fah_exact_times times = {.calls = t->calls,
					.primitive = t->calls - t->recursive,
					.self_s = (double)t->self_ns / 1e9,
					.total_s = (double)t->total_ns / 1e9};
	uint32_t callee, caller, edge;
	int err = function(p, t->function, e, &callee);

	if (err < 0)
		return err;
	if (t->whole) {
		struct fah_exact_times *own = &e->functions[callee].times;

		own->primitive -= t->recursive;
		own->total_s += times.total_s;
		return 0;
	}
	e->functions[callee].times.calls += t->calls;
	e->functions[callee].times.primitive += t->calls;
	e->functions[callee].times.self_s += times.self_s;
	if (!t->caller)
		return 0;
	err = function(p, t->caller, e, &caller);
	if (err == 0)
		err = fah_exact_edge(e, caller, callee, &edge);
	if (err == 0)
		fah_exact_times_add(&e->edges[edge].times, &times);
	return err;
}

/* What telling costs is taken off: of the least things a little more than there was. */
static void not_below_nothing(struct fah_exact_times *t)
{
	if (t->self_s < 0)
		t->self_s = 0;
	if (t->total_s < t->self_s)
		t->total_s = t->self_s;
}

int fah_exact_of(const struct fah_profile *p, uint32_t process, struct fah_exact *ret)
{
	int err = 0;

	for (size_t i = 0; i < p->n_timed && err == 0; i++)
		if (is_of(&p->timed[i], process))
			err = add(p, &p->timed[i], ret);
	for (size_t i = 0; i < ret->n_functions; i++)
		not_below_nothing(&ret->functions[i].times);
	for (size_t i = 0; i < ret->n_edges; i++)
		not_below_nothing(&ret->edges[i].times);
	return err;
}
