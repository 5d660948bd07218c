/*
 * threads.c - finding a thread's state: the runtime's interpreters, each one's list of states.
 *
 * The lists may change under us (another thread starts or ends): each step is bounded, and what is
 * found is what fah_py_thread_is checks again at each sample.
 */
#include "core/err.h"
#include "cpython/layout.h"

int fah_py_find_thread(const struct fah_mem *mem, const struct fah_py_layout *layout,
		       uint64_t runtime_addr, uint64_t pthread_id, uint64_t *ret_tstate)
{
	uint64_t interp = 0, tstate = 0, next, id;
	int interpreters = 0, threads = 0;

	if (fah_load(mem, runtime_addr + layout->runtime_interpreters_head, &interp, 8) < 0)
		return FAH_ERR_DOUBT;
	while (interp != 0 && interpreters++ < FAH_PY_MAX_INTERPRETERS) {
		if (fah_load(mem, interp + layout->interp_threads_head, &tstate, 8) < 0)
			return FAH_ERR_DOUBT;
		while (tstate != 0 && threads++ < FAH_PY_MAX_THREADS) {
			const struct fah_piece pieces[] = {
				{&next, tstate + layout->ts_next, 8},
				{&id, tstate + layout->ts_thread_id, 8},
			};

			if (mem->read(mem, pieces, 2) != 2)
				return FAH_ERR_DOUBT;
			if (id == pthread_id) {
				*ret_tstate = tstate;
				return 0;
			}
			tstate = next;
		}
		if (fah_load(mem, interp + layout->interp_next, &interp, 8) < 0)
			return FAH_ERR_DOUBT;
	}
	return FAH_ERR_DOUBT;
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
