/*
 * budget.h - how much a run may cost: what handlers and the collector together used of a core is
 * compared with what was allowed, and both are told how to go on. Pure arithmetic; no clock.
 */
#ifndef FAH_COLLECT_BUDGET_H
#define FAH_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct fah_budget {
	double share;	/* of one core, for both together; 0: no limit */
	double agents;	/* of the threads' CPU, for handlers */
	double stretch; /* our own pauses are that much longer than usual, from 1 on */
	uint64_t wall_ns, own_ns, handler_ns; /* at the last look */
};

/* percent of one core; 0: no limit. The counts as they are now. */
void fah_budget_init(struct fah_budget *b, double percent, uint64_t wall_ns, uint64_t own_ns);

/*
 * wall_ns: the time; own_ns: the collector's CPU; handler_ns: that of all handlers of all
 * processes. Each only grows. True: agents or stretch may have changed. To be called about once a
 * second: what is closer to the last look is left to the next.
 */
bool fah_budget_look(struct fah_budget *b, uint64_t wall_ns, uint64_t own_ns, uint64_t handler_ns);

/* For segments: millionths of the threads' CPU, 0: no limit. */
uint32_t fah_budget_ppm(const struct fah_budget *b);

#endif
