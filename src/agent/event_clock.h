/*
 * event_clock.h - what calls and lines are timed by: the processor's own clock where it is steady,
 * else the kernel's.
 */
#ifndef FAH_AGENT_EVENT_CLOCK_H
#define FAH_AGENT_EVENT_CLOCK_H

#include "agent/agent.h"
#include "core/arch.h"

struct fah_event_clock {
	bool steady; /* the processor's clock serves */
	int64_t ticks_begun;
	uint64_t ns_begun;
};
extern struct fah_event_clock fah_event_clock;

void fah_event_clock_start(void); /* once, before it is asked */

static inline int64_t fah_event_ticks(void)
{
	return (int64_t)(fah_event_clock.steady ? fah_arch_ticks() : fah_now_mono());
}

/* By what both clocks say since the start. */
double fah_event_ns_a_tick(void);

#endif
