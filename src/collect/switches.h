/*
 * switches.h - whether a thread gives its core away so often that an event on it would cost too
 * much (switch_cost.h). Pure arithmetic over the kernel's account of the thread.
 *
 * Switches may cost a 100th of the time, and a 20th of the thread's own CPU: fifty threads that
 * wait for the GIL, and each wake 200 times a second for it, are each below the former. A 2,000th
 * of the time is always left: that is nothing, however little a thread does.
 */
#ifndef FAH_COLLECT_SWITCHES_H
#define FAH_COLLECT_SWITCHES_H

#include "target/task.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_switches { /* of one thread; {0}: not looked at yet */
	struct fah_sched last;
	uint64_t last_ns;  /* 0: none yet */
	uint64_t calm_ns;  /* since then switches cost little */
	uint64_t quiet_ns; /* so long that is to be before it may have an event */
	uint64_t since_ns; /* it may since then */
	double left_ns;	   /* of what switches may cost: saved up for a few at once */
	uint32_t taken;	   /* so often it was not to have one */
	bool may;	   /* have an event */
};

/* The kernel's account at now_ns, and what a switch costs. */
bool fah_switches_are_dear(const struct fah_switches *s, const struct fah_sched *sched,
			   uint64_t now_ns, uint64_t cost_ns);
/* Likewise, and from then on; whether it may have an event. */
bool fah_switches_look(struct fah_switches *s, const struct fah_sched *sched, uint64_t now_ns,
		       uint64_t cost_ns);

#endif
