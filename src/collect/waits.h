/*
 * waits.h - what threads wait for, seen from outside: every 20 ms or so each thread's account is
 * read, and where one is found blocked, the place and the reason. Nothing is ever stopped.
 *
 * A thread's time is its CPU, its want of a core, and the rest, which it waited: the first two come
 * from the kernel, to the nanosecond, and the looks only divide the third among places.
 */
#ifndef FAH_COLLECT_WAITS_H
#define FAH_COLLECT_WAITS_H

#include "capture/writer.h"
#include "collect/drain.h"

#include <stdint.h>

struct fah_waits; /* opaque */

struct fah_waits_stats {
	uint64_t ticks, longest_ns; /* and the longest time between two of them */
	uint64_t readings;	    /* threads found blocked at a new place */
	uint64_t rejected;	    /* of them, those that ran meanwhile, or stood still for us */
	uint64_t no_stack;	    /* accepted without a stack: no Python, or not proved */
	uint64_t refused;	    /* accepted without a reason: the kernel does not tell us */
	uint64_t put_off;	    /* looks left out to keep the cost down */
	uint64_t cpu_ns;	    /* our CPU for all of it */
};

/* d and w are borrowed; all of them belong to one thread. */
int fah_waits_new(struct fah_drain *d, struct fah_writer *w, uint64_t run_start_ns,
		  struct fah_waits **ret);
void fah_waits_free(struct fah_waits *ws); /* NULL is fine */

/* How long to wait until the next tick, ns: varies, so that no program keeps step with it. */
uint64_t fah_waits_pause(struct fah_waits *ws);
void fah_waits_tick(struct fah_waits *ws);
/* Before each cycle of the drain: what is known up to now goes to the writer. What the drain then
 * learns of ends, it tells by itself (fah_drain_tell_ends). */
void fah_waits_flush(struct fah_waits *ws);
/* After the last one: whoever has no end by now gets none. */
void fah_waits_finish(struct fah_waits *ws);

const struct fah_waits_stats *fah_waits_stats(const struct fah_waits *ws);

#endif
