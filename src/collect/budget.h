/*
 * budget.h - how much a run may cost: what handlers and the collector together used of a core is
 * compared with what was allowed, and both are told how to go on. Pure arithmetic; no clock.
 */
#ifndef FAH_COLLECT_BUDGET_H
#define FAH_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define FAH_BUDGET_DEFAULT 1.0 /* percent, where neither a rate nor a budget was asked for */

/* Counts that only grow, ns. */
struct fah_budget_use {
	uint64_t wall;	  /* the time */
	uint64_t own;	  /* the collector's CPU */
	uint64_t handler; /* that of all handlers of all processes */
	uint64_t told;	  /* and that counting calls took, which keeps within a part of its own */
	uint64_t program; /* that of the program, with its handlers */
};

struct fah_budget {
	double share;	   /* of one core, for both together; 0: no limit */
	bool each_core;	   /* of each core that the program keeps busy, but of one at least */
	uint64_t free_ns;  /* what handlers may use before any of this matters */
	double agents;	   /* of the threads' CPU, for handlers; 0: no limit */
	double stretch;	   /* our own pauses are that much longer than usual, from 1 on */
	double stretch_to; /* at most */
	struct fah_budget_use last;
};

/* percent of one core; 0: no limit. The counts as they are now. */
void fah_budget_init(struct fah_budget *b, double percent, const struct fah_budget_use *now);

/*
 * Nobody asked: FAH_BUDGET_DEFAULT of each core that is busy, and short runs, which cost little in
 * any case and need all of their samples, are left alone.
 */
void fah_budget_init_default(struct fah_budget *b, const struct fah_budget_use *now);

/* True: agents or stretch may have changed. To be called about once a second: what is closer to the
 * last look is left to the next. */
bool fah_budget_look(struct fah_budget *b, const struct fah_budget_use *now);

/* For segments: millionths of the threads' CPU, 0: no limit. */
uint32_t fah_budget_ppm(const struct fah_budget *b);

#endif
