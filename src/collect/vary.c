/* vary.c - see vary.h. */
#include "collect/vary.h"

#include "core/segment.h"

/* Setting an interval begins it anew, which takes an interrupt and half an interval: not more often
 * than is needed. */
#define OFTEN_NS 40000000u
#define SELDOM_NS 100000000u
#define AT_LEAST 8u
/* Steps of the golden ratio round a circle: any few of them in a row are spread evenly over it. */
#define GOLDEN 0.6180339887498949

void fah_vary_init(struct fah_vary *v, bool often, uint64_t random)
{
	v->at = (double)(random % 1000) / 1000;
	v->often = often;
}

uint64_t fah_vary_after(const struct fah_vary *v, uint64_t period_ns)
{
	uint64_t ns = v->often ? OFTEN_NS : SELDOM_NS;

	return ns > AT_LEAST * period_ns ? ns : AT_LEAST * period_ns;
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
	return (uint64_t)(period - period * period / 2 / (double)fah_vary_after(v, period_ns));
}
