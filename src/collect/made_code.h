/*
 * made_code.h - reads out of a running process what it says of code that it has made: the list of
 * the GDB JIT interface, and the .eh_frame that its agent has seen registered. Never stops it. One
 * thread.
 *
 * All of it is the process's word, which it may change while it is read: lengths and numbers are
 * bounded, an entry that has changed under the reading is left out.
 */
#ifndef FAH_COLLECT_MADE_CODE_H
#define FAH_COLLECT_MADE_CODE_H

#include "core/load.h"

#include <stddef.h>
#include <stdint.h>

struct fah_made;

#define FAH_JIT_DESCRIPTOR "__jit_debug_descriptor" /* the variable that begins the list */

/* Adds what the list says that begins at this address of the process. FAH_ERR_NOMEM. */
int fah_made_code_list(const struct fah_mem *mem, uint64_t descriptor, struct fah_made *made);
/* The same for the agent's struct fah_registered at this address. */
int fah_made_code_frames(const struct fah_mem *mem, uint64_t frames, struct fah_made *made);

#endif
