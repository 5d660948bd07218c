/*
 * threads.c - finding a thread's state: the runtime's interpreters, each one's list of states.
 *
 * The lists may change under us (another thread starts or ends): each step is bounded, and what is
 * found is what fah_py_thread_is checks again at each sample.
 */
#include "core/err.h"
#include "cpython/layout.h"

struct steps {
	uint64_t interp, next;
	int interpreters, threads;
};

static bool enter(const struct fah_mem *mem, const struct fah_py_layout *layout, struct steps *s)
{
	if (s->interp == 0 || s->interpreters++ >= FAH_PY_MAX_INTERPRETERS)
		return false;
	return fah_load(mem, s->interp + layout->interp_threads_head, &s->next, 8) == 0;
}

/* *ret is the next state; false: that was the last, or the walk cannot go on. */
static bool step(const struct fah_mem *mem, const struct fah_py_layout *layout, struct steps *s,
		 struct fah_py_thread *ret)
{
	while (s->next == 0) {
		if (fah_load(mem, s->interp + layout->interp_next, &s->interp, 8) < 0 ||
		    !enter(mem, layout, s))
			return false;
	}
	if (s->threads++ >= FAH_PY_MAX_THREADS)
		return false;
	ret->tstate = s->next;
	const struct fah_piece pieces[] = {
		{&s->next, ret->tstate + layout->ts_next, 8},
		{&ret->pthread_id, ret->tstate + layout->ts_thread_id, 8},
	};

	return mem->read(mem, pieces, 2) == 2;
}

static bool begin(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t runtime,
		  struct steps *s)
{
	*s = (struct steps){0};
	return fah_load(mem, runtime + layout->runtime_interpreters_head, &s->interp, 8) == 0 &&
	       enter(mem, layout, s);
}

int fah_py_find_thread(const struct fah_mem *mem, const struct fah_py_layout *layout,
		       uint64_t runtime_addr, uint64_t pthread_id, uint64_t *ret_tstate)
{
	struct fah_py_thread t;
	struct steps s;

	if (!begin(mem, layout, runtime_addr, &s))
		return FAH_ERR_DOUBT;
	while (step(mem, layout, &s, &t))
		if (t.pthread_id == pthread_id) {
			*ret_tstate = t.tstate;
			return 0;
		}
	return FAH_ERR_DOUBT;
}

size_t fah_py_list_threads(const struct fah_mem *mem, const struct fah_py_layout *layout,
			   uint64_t runtime_addr, struct fah_py_thread *ret, size_t max)
{
	struct steps s;
	size_t n = 0;

	if (!begin(mem, layout, runtime_addr, &s))
		return 0;
	while (n < max && step(mem, layout, &s, &ret[n]))
		n++;
	return n;
}

/*
 * A state that was freed still names its thread until its memory is used again (a thread that runs
 * code in other interpreters has one of each): so it must also be in its interpreter's list.
 */
bool fah_py_thread_is(const struct fah_mem *mem, const struct fah_py_layout *layout,
		      uint64_t tstate, uint64_t pthread_id)
{
	uint64_t id, prev, interp, back;
	const struct fah_piece pieces[] = {
		{&id, tstate + layout->ts_thread_id, 8},
		{&prev, tstate + layout->ts_next - 8,
		 8}, /* prev stands before next in all versions */
		{&interp, tstate + layout->ts_interp, 8},
	};

	if (tstate == 0 || mem->read(mem, pieces, 3) != 3 || id != pthread_id)
		return false;
	if (fah_load(mem, prev ? prev + layout->ts_next : interp + layout->interp_threads_head,
		     &back, 8) < 0)
		return false;
	return back == tstate;
}
