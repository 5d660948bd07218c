/*
 * heap_here.h - where a thread is that allocates: on a stack of ours, as a handler would see it,
 * and nothing of it is one of the program's allocations.
 */
#ifndef FAH_AGENT_HEAP_HERE_H
#define FAH_AGENT_HEAP_HERE_H

#include "agent/agent.h"

/* Between these two no signal comes, and what we do is none of the program's allocations. NULL:
 * nothing can be written now. */
struct fah_thread_state *fah_heap_write_begin(uint64_t *ret_mask);
void fah_heap_write_end(struct fah_thread_state *t, const uint64_t *mask);

/* fn(t, arg) between those two, on the thread's stack of ours, the caller's registers in t->here.
 * False: it could not be done now. */
bool fah_heap_here(void (*fn)(struct fah_thread_state *t, void *arg), void *arg);
/* Takes our own frames off a native stack that begins in one. */
void fah_heap_strip_own(struct fah_thread_state *t);

/* Likewise, with the Python stack in t->walk, by a proved walk; empty where there is none. */
bool fah_heap_walk(void (*fn)(struct fah_thread_state *t, void *arg), void *arg);

#endif
