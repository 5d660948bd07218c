/*
 * state.c - who holds the GIL, and whether the collector of garbage is at work.
 *
 * The holder is the last one that took the GIL, counted only while the lock is held: a thread that
 * gave it up stays written there.
 */
#include "core/err.h"
#include "cpython/layout.h"

/*
 * struct _gil_runtime_state, the same since 3.8: interval, last holder, locked and a count, 32
 * bytes; a condition and a mutex to get it, and the same again to see that somebody else did: 48 +
 * 40 each.
 */
#define GIL_BYTES 208

int fah_py_gil_span(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t tstate,
		    uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t gil = layout->runtime + layout->runtime_gil, interp = 0;

	if (layout->interp_gil != 0) {
		if (fah_load(mem,
			     tstate ? tstate + layout->ts_interp
				    : layout->runtime + layout->runtime_interpreters_main,
			     &interp, 8) < 0 ||
		    interp == 0 || fah_load(mem, interp + layout->interp_gil, &gil, 8) < 0 ||
		    gil == 0)
			return FAH_ERR_FAULT;
	}
	*ret_start = gil;
	*ret_end = gil + GIL_BYTES;
	return 0;
}

int fah_py_gil_holder(const struct fah_mem *mem, const struct fah_py_layout *layout,
		      uint64_t runtime_addr, uint64_t *ret_tstate)
{
	uint64_t gil = runtime_addr + layout->runtime_gil, interp, holder;
	int32_t locked;

	if (layout->interp_gil != 0) {
		if (fah_load(mem, runtime_addr + layout->runtime_interpreters_main, &interp, 8) <
			    0 ||
		    interp == 0 || fah_load(mem, interp + layout->interp_gil, &gil, 8) < 0 ||
		    gil == 0)
			return FAH_ERR_FAULT;
	}
	const struct fah_piece pieces[] = {
		{&holder, gil + layout->gil_holder, 8},
		{&locked, gil + layout->gil_locked, 4},
	};

	if (mem->read(mem, pieces, 2) != 2)
		return FAH_ERR_FAULT;
	if (locked != 0 && locked != 1 && locked != -1) /* -1: the lock is not made yet */
		return FAH_ERR_RANGE;
	*ret_tstate = locked == 1 ? holder : 0;
	return 0;
}

int fah_py_gc_collecting(const struct fah_mem *mem, const struct fah_py_layout *layout,
			 uint64_t tstate, bool *ret_collecting)
{
	uint64_t interp, addr = layout->runtime + layout->runtime_collecting;
	int32_t collecting;

	if (layout->interp_collecting != 0) {
		if (fah_load(mem, tstate + layout->ts_interp, &interp, 8) < 0)
			return FAH_ERR_FAULT;
		addr = interp + layout->interp_collecting;
	}
	if (fah_load(mem, addr, &collecting, 4) < 0)
		return FAH_ERR_FAULT;
	if (collecting != 0 && collecting != 1)
		return FAH_ERR_RANGE;
	*ret_collecting = collecting == 1;
	return 0;
}
