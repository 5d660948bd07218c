/*
 * python_gc.h - where in the interpreter's code its garbage collector stands, for fah_py_in_gc.
 */
#ifndef FAH_AGENT_PYTHON_GC_H
#define FAH_AGENT_PYTHON_GC_H

#include "cpython/cpython.h"

/* Filled by fah_gc_learn, then read only. n_collect 0: it could not be told. */
extern struct fah_py_gc_code fah_gc_code;

/* Once, before the first sample, not in a handler. */
void fah_gc_learn(void);

#endif
