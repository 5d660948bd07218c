/*
 * vary.h - the interval between events of perf's clock, which must not stay the same: a loop that
 * takes as long as one, or two or three, keeps step with it, and then all samples see the same
 * place.
 */
#ifndef FAH_COLLECT_VARY_H
#define FAH_COLLECT_VARY_H

#include <stdbool.h>
#include <stdint.h>

struct fah_vary {
	double at; /* 0 to 1: where among the rates the present one is */
	bool often;
};

/* often: where there are events outside of the kernel only, which are few enough. */
void fah_vary_init(struct fah_vary *v, bool often, uint64_t random);
/* How long one interval stays, and how many of it there are at least. */
uint64_t fah_vary_after(const struct fah_vary *v, uint64_t period_ns);
/* The next interval, for period_ns on average; it differs by FAH_CLOCK_VARIES at most. */
uint64_t fah_vary_next(struct fah_vary *v, uint64_t period_ns);

#endif
