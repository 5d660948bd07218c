/*
 * walk_gens.c - the generators that run, known from the thread's list of exception states.
 *
 * A generator's frame is in its object, so the data stack does not prove that it is part of the
 * stack. But resuming one pushes its exception state onto a list in the thread state, and leaving
 * it pops that. Only around this the list and the chain of frames differ, by the innermost one.
 * Others push there as well (Cython's generators): what is no generator object is passed over.
 */
#include "cpython/walk_internal.h"

#define FOREIGN_MAX 1000

static const char *const names[3] = {"generator", "coroutine", "async_generator"};

bool fah_py_is_gen(struct fah_py_walk *w, uint64_t type)
{
	for (int i = 0; i < 3; i++)
		if (w->gen_types[i] == type && type != 0)
			return true;
	for (int i = 0; i < 3; i++)
		if (w->gen_types[i] == 0 && fah_py_type_is(w, type, &w->gen_types[i], names[i]))
			return true;
	return false;
}

void fah_py_gens_begin(struct fah_py_walk *w, uint64_t exc_info, uint64_t exc_base)
{
	w->exc = exc_info;
	w->exc_base = exc_base;
	w->gens_met = w->gens_extra = 0;
	w->gen_extra = 0;
}

/* Passes over the list's first entry, which the chain does not have. */
static int pass(struct fah_py_walk *w)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t type = 0, next;

	if (fah_load(w->mem, w->exc + 8, &next, 8) < 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	if (w->exc > l->gen_exc &&
	    fah_load(w->mem, w->exc - l->gen_exc + l->ob_type, &type, 8) == 0 &&
	    fah_py_is_gen(w, type)) {
		w->gen_extra = w->exc - l->gen_exc + l->gen_iframe;
		if (w->gens_met > 0 || w->gens_extra++ > 0)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	}
	w->exc = next;
	return 0;
}

int fah_py_gens_met(struct fah_py_walk *w, uint64_t gen, uint64_t next)
{
	uint64_t want = gen + w->layout->gen_exc, second;
	int err;

	if (w->test_skip & FAH_PY_SKIP_GENS)
		return 0;
	/* The innermost one may have left the list already: it is about to yield or to end. */
	if (w->n_walked == 1 && w->exc != want &&
	    (w->exc == w->exc_base || fah_load(w->mem, w->exc + 8, &second, 8) < 0 ||
	     second != want))
		return 0;
	for (int i = 0; i < FOREIGN_MAX && w->exc != w->exc_base && w->exc != 0; i++) {
		if (w->exc == want) {
			w->exc = next;
			w->gens_met++;
			return 0;
		}
		err = pass(w);
		if (err < 0)
			return err;
	}
	return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
}

int fah_py_gens_end(struct fah_py_walk *w)
{
	int err;

	if (w->test_skip & FAH_PY_SKIP_GENS)
		return 0;
	for (int i = 0; w->exc != w->exc_base && w->exc != 0; i++) {
		if (i == FOREIGN_MAX)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_LOOP);
		err = pass(w);
		if (err < 0)
			return err;
	}
	return 0;
}
