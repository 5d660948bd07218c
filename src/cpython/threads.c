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

bool fah_py_thread_is(const struct fah_mem *mem, const struct fah_py_layout *layout,
		      uint64_t tstate, uint64_t pthread_id)
{
	uint64_t id;

	return tstate != 0 && fah_load(mem, tstate + layout->ts_thread_id, &id, 8) == 0 &&
	       id == pthread_id;
}
