/*
 * running.c - in which of its thread states does a thread run, where there are several
 * interpreters?
 *
 * A thread that enters another interpreter has a state in each, and all of them have frames. Which
 * one runs is not written where it could be asked without a call, so it is told by what each
 * version leaves behind, also while the GIL is given up: 3.13+       the state that was made
 * current last is the one bound to the GILState API; 3.10-3.12   the state whose newest C frame
 * lies lowest on this thread's C stack; 3.8, 3.9    the state that the C stack names nearest to its
 * end: each evaluation loop and each Py_BEGIN_ALLOW_THREADS keeps it there or in a register.
 * Before 3.12 a thread may run in a state that another thread made and that still names that one.
 * With one interpreter, nothing of this is asked. Runs in the agent's signal handler.
 */
#include "core/err.h"
#include "cpython/layout.h"

#define BOUND_GILSTATE 8u  /* of _status, 3.12+ */
#define TSTATE_BYTES 4096u /* the first C frame stands in the state itself */
#define CANDIDATES 32
#define SCAN_BYTES (64u << 10) /* of the C stack */
#define SCAN_WORDS 128

struct search {
	const struct fah_mem *mem;
	const struct fah_py_layout *l;
	const struct fah_py_who *who;
	uint64_t main;		    /* the main interpreter */
	uint64_t own;		    /* the first state that names this thread */
	uint64_t with_frames;	    /* one of these that has frames */
	uint64_t bound;		    /* 3.13+ */
	uint64_t lowest, lowest_at; /* 3.10-3.12 */
	uint32_t n_own, n_with_frames;
	bool bound_has_frames;
	uint32_t n_candidates; /* 3.8, 3.9: states that may run here, and their newest frames */
	uint64_t candidates[CANDIDATES], frames[CANDIDATES];
};

/* What is read of one state. */
struct state {
	uint64_t next, id, frame, base, cframe;
	uint32_t status;
};

static int read_state(const struct fah_mem *mem, const struct fah_py_layout *l, uint64_t tstate,
		      struct state *ret)
{
	struct fah_piece pieces[6] = {
		{&ret->next, tstate + l->ts_next, 8},
		{&ret->id, tstate + l->ts_thread_id, 8},
		{&ret->frame, tstate + l->ts_frame, 8},
	};
	int n = 3;

	ret->base = ret->cframe = 0;
	ret->status = 0;
	if (l->ts_base_frame != 0)
		pieces[n++] = (struct fah_piece){&ret->base, tstate + l->ts_base_frame, 8};
	if (l->ts_cframe != 0)
		pieces[n++] = (struct fah_piece){&ret->cframe, tstate + l->ts_cframe, 8};
	if (l->ts_status != 0)
		pieces[n++] = (struct fah_piece){&ret->status, tstate + l->ts_status, 4};
	return mem->read(mem, pieces, n) == n ? 0 : FAH_ERR_FAULT;
}

static bool has_frames(const struct fah_py_layout *l, uint64_t tstate, const struct state *s)
{
	if (l->ts_cframe != 0)
		return s->cframe - tstate >= TSTATE_BYTES;
	return s->frame != 0 && s->frame != s->base;
}

/* One state of the lists. */
static void consider(struct search *f, uint64_t interp, uint64_t tstate, const struct state *s)
{
	bool own = s->id == f->who->pthread_id, frames = has_frames(f->l, tstate, s);

	if (own && f->n_own++ == 0)
		f->own = tstate;
	if (own && frames && f->n_with_frames++ == 0)
		f->with_frames = tstate;
	if (own && s->status & BOUND_GILSTATE) {
		f->bound = tstate;
		f->bound_has_frames = frames;
	}
	if (!frames || (!own && interp == f->main))
		return; /* the main interpreter's states always name their thread */
	if (f->l->ts_cframe != 0 && s->cframe >= f->who->sp && s->cframe < f->who->stack_end &&
	    (f->lowest == 0 || s->cframe < f->lowest_at)) {
		f->lowest = tstate;
		f->lowest_at = s->cframe;
	}
	if (f->n_candidates < CANDIDATES) {
		f->candidates[f->n_candidates] = tstate;
		f->frames[f->n_candidates++] = s->frame;
	}
}

static int consider_all(struct search *f, uint64_t interp)
{
	const struct fah_py_layout *l = f->l;
	int interpreters = 0, threads = 0;
	uint64_t tstate;
	struct state s;

	while (interp != 0) {
		if (interpreters++ == FAH_PY_MAX_INTERPRETERS ||
		    fah_load(f->mem, interp + l->interp_threads_head, &tstate, 8) < 0)
			return FAH_ERR_DOUBT;
		for (; tstate != 0; tstate = s.next) {
			if (threads++ == FAH_PY_MAX_THREADS ||
			    read_state(f->mem, l, tstate, &s) < 0)
				return FAH_ERR_DOUBT;
			consider(f, interp, tstate, &s);
		}
		if (fah_load(f->mem, interp + l->interp_next, &interp, 8) < 0)
			return FAH_ERR_DOUBT;
	}
	return 0;
}

/* The candidate that this word names; 0: none. */
static uint64_t named(const struct search *f, uint64_t word)
{
	for (uint32_t i = 0; i < f->n_candidates; i++)
		if (word == f->candidates[i] || word == f->frames[i])
			return f->candidates[i];
	return 0;
}

/* 3.8, 3.9: the one that stands nearest to where the thread is. */
static uint64_t nearest(const struct search *f)
{
	uint64_t words[SCAN_WORDS], at = (f->who->sp + 7) & ~(uint64_t)7, found;
	uint64_t end = at + SCAN_BYTES;
	size_t n;

	for (uint32_t i = 0; i < f->who->n_regs; i++)
		if ((found = named(f, f->who->regs[i])) != 0)
			return found;
	if (end > f->who->stack_end)
		end = f->who->stack_end;
	for (; at + 8 <= end; at += n * 8) {
		n = (end - at) / 8 < SCAN_WORDS ? (size_t)((end - at) / 8) : SCAN_WORDS;
		while (n > 0 && fah_load(f->mem, at, words, n * 8) < 0)
			n /= 2; /* the stack's end is not known to the byte */
		if (n == 0)
			return 0;
		for (size_t i = 0; i < n; i++)
			if ((found = named(f, words[i])) != 0)
				return found;
	}
	return 0;
}

/* Of what was found, the one that runs; 0: several may. */
static uint64_t choose(const struct search *f)
{
	uint64_t found;

	if (f->l->ts_status != 0 && f->bound != 0) {
		/* an interpreter that is being made or ended has no frame: its maker has */
		return f->bound_has_frames || f->n_with_frames != 1 ? f->bound : f->with_frames;
	}
	if (f->l->ts_cframe != 0 && f->lowest != 0)
		return f->lowest;
	if (f->l->ts_cframe == 0 && f->l->ts_status == 0 && f->n_candidates > 1 &&
	    (found = nearest(f)) != 0)
		return found;
	if (f->n_with_frames == 1)
		return f->with_frames;
	return f->n_with_frames == 0 ? f->own : 0;
}

/* Whether tstate, the one of last time, can be no other now. *ret_head: the first interpreter. */
static int still_it(const struct fah_mem *mem, const struct fah_py_layout *l, uint64_t runtime_addr,
		    const struct fah_py_who *who, uint64_t tstate, uint64_t *ret_head)
{
	uint64_t interp = 0, prev = 0, back = 0, next = 0, id = 0;
	const struct fah_piece first[] = {
		{ret_head, runtime_addr + l->runtime_interpreters_head, 8},
		{&id, tstate + l->ts_thread_id, 8},
		{&prev, tstate + l->ts_next - 8, 8}, /* before next in all versions */
		{&interp, tstate + l->ts_interp, 8},
	};
	int n = mem->read(mem, first, tstate != 0 ? 4 : 1);
	struct state s;

	if (n < 1)
		return FAH_ERR_DOUBT;
	if (n < 4 || id != who->pthread_id)
		return 0;
	/*
	 * A state that was freed still names its thread until its memory is used again: so it must
	 * also be in its interpreter's list.
	 */
	const struct fah_piece second[] = {
		{&next, interp + l->interp_next, 8},
		{&back, prev ? prev + l->ts_next : interp + l->interp_threads_head, 8},
	};

	if (mem->read(mem, second, 2) != 2 || back != tstate)
		return 0;
	if (interp == *ret_head && next == 0)
		return 1; /* one interpreter */
	return l->ts_status != 0 && read_state(mem, l, tstate, &s) == 0 &&
	       s.status & BOUND_GILSTATE && has_frames(l, tstate, &s);
}

int fah_py_running(const struct fah_mem *mem, const struct fah_py_layout *layout,
		   uint64_t runtime_addr, const struct fah_py_who *who, uint64_t *tstate)
{
	struct search f = {.mem = mem, .l = layout, .who = who};
	uint64_t head = 0, found;
	int err = still_it(mem, layout, runtime_addr, who, *tstate, &head);

	if (err < 0)
		return err;
	if (err > 0)
		return 0;
	if (fah_load(mem, runtime_addr + layout->runtime_interpreters_main, &f.main, 8) < 0)
		return FAH_ERR_DOUBT;
	err = consider_all(&f, head);
	if (err < 0)
		return err;
	found = choose(&f);
	if (found == 0 && f.n_own > 0)
		return FAH_ERR_DOUBT;
	*tstate = found;
	return 0;
}
