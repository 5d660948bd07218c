/*
 * clocks.h - perf's task-clock on every recorded thread.
 *
 * The events are ours: the target has no descriptor of them, and they are gone when we are. Each
 * sends our signal to its thread after so much of the thread's CPU. Agents say in their segment
 * which threads want one (struct fah_segment_head.clocks).
 */
#ifndef FAH_COLLECT_CLOCKS_H
#define FAH_COLLECT_CLOCKS_H

#include "collect/drain.h"
#include "collect/perf.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_clocks; /* opaque */

/* d is borrowed. cost_at_once: what events cost decides on the rate, above the tick's or with a
 * budget. FAH_ERR_NOMEM. */
int fah_clocks_new(struct fah_drain *d, bool user_only, bool cost_at_once, struct fah_clocks **ret);
void fah_clocks_free(struct fah_clocks *c); /* ends all events; NULL is fine */

/* What the agents ask for since the last look; to be called every 20 ms or so. */
void fah_clocks_tick(struct fah_clocks *c, uint64_t now_ns);

/* Threads that had an event, those for which the kernel gave none, and how often it was not given
 * or taken away because of switches: they have their timers. */
struct fah_clocks_stats {
	uint64_t given, refused, dear;
};
const struct fah_clocks_stats *fah_clocks_stats(const struct fah_clocks *c);

#endif
