/*
 * heap_sums.h - what is held, and the most so far: of all blocks, recorded or not.
 *
 * Each thread adds up for itself and joins when FAH_HEAP_BATCH has come together, so sums, and the
 * most so far, are right to FAH_HEAP_BATCH bytes a thread. All of it in any thread and in handlers.
 */
#ifndef FAH_AGENT_HEAP_SUMS_H
#define FAH_AGENT_HEAP_SUMS_H

#include "agent/heap.h"

/* h: the calling thread's. */
void fah_heap_sums_join(struct fah_heap_thread *h);

static inline void fah_heap_sums_add(struct fah_heap_thread *h, uint32_t kind, int64_t bytes)
{
	int64_t *delta = &h->delta[kind != FAH_MEMORY_PYTHON];

	*delta += bytes;
	if (__builtin_expect((uint64_t)(*delta + FAH_HEAP_BATCH) > 2 * FAH_HEAP_BATCH, 0))
		fah_heap_sums_join(h);
}

/* By what is joined; ret_python: of it Python's, or NULL. */
int64_t fah_heap_held(int64_t *ret_python);
/* The most so far, now among it; it never falls. */
int64_t fah_heap_most(int64_t now);
/* Held and the most so far, with what this thread has not joined yet, which stays where it is. */
void fah_heap_sums(uint64_t *ret_held, uint64_t *ret_most);
/* The same two, joined, as varints. */
uint8_t *fah_heap_sums_put(uint8_t *p);
/* The most counts anew; what is held then. */
int64_t fah_heap_sums_begin(void);

#endif
