/*
 * walk_gens.c - the generators that run, known from the thread's list of exception states.
 *
 * A generator's frame is in its object, so the data stack does not prove that it is part of the
 * stack. But resuming one pushes its exception state onto a list in the thread state, and leaving
 * it pops that. Only around this the list and the chain of frames differ, by the innermost one.
 * Others push there as well (Cython's generators): what is no generator object is passed over.
 *
 * throw() and close() go through a generator that waits in `await` or `yield from` without resuming
 * it: as long as the one that it waits for runs, it is in the chain and not in the list. Its object
 * says that it runs, its frame is as it was left when it began to wait.
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
	w->gens_met = w->gens_extra = w->gens_looked = 0;
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

/* Whether the list has it: not just here, where the next one of the chain is looked for. */
static bool is_listed(struct fah_py_walk *w, uint64_t want)
{
	uint64_t at = w->exc;

	while (at != w->exc_base && at != 0 && w->gens_looked++ < FOREIGN_MAX) {
		if (at == want)
			return true;
		if (fah_load(w->mem, at + 8, &at, 8) < 0)
			return true; /* which leads nowhere */
	}
	return w->gens_looked >= FOREIGN_MAX;
}

static bool waits(struct fah_py_walk *w, uint64_t want, const uint8_t *raw)
{
	const struct fah_py_layout *l = w->layout;

	/* A stack pointer is stored while no instruction runs; from 3.14 on at other times too. */
	if (raw[l->gen_state] != l->gen_executing ||
	    (l->code_tag_mask == 0 && fah_py_i32(raw + l->gen_iframe + l->f_stack) < 0))
		return false;
	return w->exc != want && !is_listed(w, want);
}

int fah_py_gens_met(struct fah_py_walk *w, uint64_t gen, const uint8_t *raw)
{
	uint64_t want = gen + w->layout->gen_exc, next = fah_py_u64(raw + w->layout->gen_exc + 8);
	uint64_t second;
	int err;

	if (w->test_skip & FAH_PY_SKIP_GENS)
		return 0;
	if (waits(w, want, raw))
		return FAH_PY_GEN_WAITS;
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
