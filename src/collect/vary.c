/* vary.c - see vary.h. */
#include "collect/vary.h"

#include "core/segment.h"

/* Of the thread's CPU. Setting an interval begins it anew, which takes an interrupt and half an
 * interval: not more often than is needed. */
#define STAYS_NS 40000000u
#define AT_LEAST 8u
/* Steps of the golden ratio round a circle: any few of them in a row are spread evenly over it. */
#define GOLDEN 0.6180339887498949

void fah_vary_init(struct fah_vary *v, uint64_t random)
{
	v->at = (double)(random % 1000) / 1000;
}

uint64_t fah_vary_after(uint64_t period_ns)
{
	return STAYS_NS > AT_LEAST * period_ns ? STAYS_NS : AT_LEAST * period_ns;
}

/*
 * Rates spread evenly, so that their mean is the one asked for and at most one of many in a row is
 * near to a loop's own. Drawn by chance, several at a time were: 38 % were shown for a function of
 * 20 where a loop took as long as the interval.
 */
uint64_t fah_vary_next(struct fah_vary *v, uint64_t period_ns)
{
	double period;

	v->at += GOLDEN;
	v->at -= v->at >= 1 ? 1 : 0;
	period = (double)period_ns / (1 + (2 * v->at - 1) * FAH_CLOCK_VARIES);
	/* the last of each is cut off, in the middle on average */
	return (uint64_t)(period - period * period / 2 / (double)fah_vary_after(period_ns));
}

uint64_t fah_vary_stands_for(uint64_t interval_ns, uint64_t period_ns)
{
	double interval = (double)interval_ns;

	return (uint64_t)(interval / (1 - interval / 2 / (double)fah_vary_after(period_ns)));
}
