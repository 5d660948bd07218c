/*
 * jit.c - the machine code that CPython's own JIT has made (3.14 and later, where it is built in
 * and switched on), of the thread that is walked.
 *
 * An evaluation loop goes over to such code by a jump or a call and comes back; meanwhile frames
 * stand in the thread's state as always, and what runs is named there. What that says is only ever
 * held against an address where the thread is: were it wrong, no address would be in it.
 */
#include "cpython/walk.h"

#define PAGE 4096u
#define CODE_MAX (16u << 20) /* CPython's own bound is 1 MB */

void fah_py_walk_see_jit(struct fah_py_walk *walk, const struct fah_mem *mem,
			 const struct fah_py_layout *layout, uint64_t executor)
{
	uint64_t start, size;
	const struct fah_piece pieces[] = {
		{&start, executor + layout->executor_code, 8},
		{&size, executor + layout->executor_size, 8},
	};

	walk->jit_start = walk->jit_end = 0;
	if (layout->ts_executor == 0 || executor == 0 || executor & 7 ||
	    mem->read(mem, pieces, 2) != 2 || start == 0 || start % PAGE || size > CODE_MAX)
		return;
	walk->jit_start = start;
	walk->jit_end = start + size;
}
