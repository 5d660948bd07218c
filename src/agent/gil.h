/* gil.h - whether the calling thread has the GIL. Not in a handler. */
#ifndef FAH_AGENT_GIL_H
#define FAH_AGENT_GIL_H

#include <stdbool.h>
#include <stdint.h>

void fah_gil_setup(void); /* once; GIL held */
/* This thread's state, where it has the GIL; else 0. *ret_none: it has no state at all. */
uint64_t fah_gil_state(bool *ret_none);
/* This thread's state, with the GIL or without; 0: none, or not known. */
uint64_t fah_gil_own_state(void);

#endif
