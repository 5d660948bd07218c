/*
 * chain.h - the calling thread's own frames by plain loads: no proof, no system call.
 *
 * Only for a thread that holds the GIL and is inside a call of an allocator. There the interpreter
 * itself lets tracemalloc follow the same pointers, and a finaliser may look at its frames: the
 * chain is whole, what it names is alive, and nobody else changes it. Anywhere else (a signal
 * handler, a thread without the GIL, another process) it takes fah_py_walk_thread.
 */
#ifndef FAH_CPYTHON_CHAIN_H
#define FAH_CPYTHON_CHAIN_H

#include "cpython/layout.h"

/* One frame as it stands in memory: equal links are the same place of the same code object. */
struct fah_py_link {
	uint64_t code;
	uint64_t instr; /* f_lasti; or the instruction's address, + 1 in a generator */
};

#define FAH_PY_CHAIN_DOUBT UINT32_MAX

/* The frames of tstate, innermost first, at most max: the others are outer ones, and left out. How
 * many; FAH_PY_CHAIN_DOUBT: a pointer that cannot be one. */
uint32_t fah_py_chain(const struct fah_py_layout *layout, uint64_t tstate,
		      struct fah_py_link *links, uint32_t max);

/* What is read of a link's code object, by plain loads too. */
struct fah_py_chain_code {
	uint32_t firsttraceable; /* byte offset; 0 before 3.11 */
	bool skip;		 /* the interpreter's own code around __init__: no frame */
};
struct fah_py_chain_code fah_py_chain_code(const struct fah_py_layout *layout, uint64_t code);

/* As in struct fah_py_frame. */
uint32_t fah_py_chain_instr(const struct fah_py_layout *layout, const struct fah_py_link *link,
			    uint32_t firsttraceable);

#endif
