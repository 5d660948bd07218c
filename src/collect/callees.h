/*
 * callees.h - what a frame of the interpreter's own code does for the Python code that is at a call
 * instruction: does it begin or end a call of Python, or does a C function run that was called?
 *
 * Most builds have no names for most of these functions, so it is told by how one calls the other:
 * helpers are called by name, C functions through a pointer that is no slot for freeing. What is an
 * exception to that stands in the interpreter's own tables: functions that pass calls on, and C
 * functions that a compiler has found to be called so often that it calls them by name. One thread.
 */
#ifndef FAH_COLLECT_CALLEES_H
#define FAH_COLLECT_CALLEES_H

#include "native/names.h"

enum fah_callee_step {
	FAH_CALLEE_UNKNOWN = 0,
	FAH_CALLEE_HELPER = 1,	/* more is to be seen below it */
	FAH_CALLEE_PASSES = 2,	/* likewise: it calls what it is given */
	FAH_CALLEE_PYTHON = 3,	/* Python's, with all that is below */
	FAH_CALLEE_POINTER = 4, /* a C function, unless the garbage collector has made the call */
	FAH_CALLEE_C = 5,	/* a C function */
	FAH_CALLEE_FREES = 6,	/* as PYTHON: an object is freed */
};

struct fah_callees; /* opaque: of one interpreter */

/* Both borrowed until fah_callees_free. Reads the file. NULL: no memory. */
struct fah_callees *fah_callees_new(struct fah_elf *elf, struct fah_names *names);
void fah_callees_free(struct fah_callees *c); /* NULL is fine */

/* caller, callee: offsets of two frames, one behind the other; the caller's is the last byte of its
 * call instruction, as walks have it. */
enum fah_callee_step fah_callees_step(struct fah_callees *c, uint64_t caller, uint64_t callee);
/* The same where the caller is code that the interpreter's own JIT has made, which is in no file.
 */
enum fah_callee_step fah_callees_step_of_jit(struct fah_callees *c, uint64_t callee);

#endif
