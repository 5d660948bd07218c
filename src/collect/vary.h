/*
 * vary.h - the interval between events of perf's clock, which must not stay the same: a loop that
 * takes as long as one, or two or three, keeps step with it, and then all samples see the same
 * place.
 */
#ifndef FAH_COLLECT_VARY_H
#define FAH_COLLECT_VARY_H

#include <stdint.h>

struct fah_vary {
	double at; /* 0 to 1: where among the rates the present one is */
};

void fah_vary_init(struct fah_vary *v, uint64_t random);
/* How much CPU of the thread one interval stays for. */
uint64_t fah_vary_after(uint64_t period_ns);
/* The next interval, for period_ns on average; it differs by FAH_CLOCK_VARIES at most. */
uint64_t fah_vary_next(struct fah_vary *v, uint64_t period_ns);
/* CPU from one event to the next on average, where the interval is this one of period_ns. */
uint64_t fah_vary_stands_for(uint64_t interval_ns, uint64_t period_ns);

#endif
