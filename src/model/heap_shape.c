/* heap_shape.c - what a timeline says at a glance: its steady growth, and heights for the eye. */
#include "model/heap_whole.h"

#include <stdlib.h>

#define PAIRS (FAH_HEAP_BUCKETS * (FAH_HEAP_BUCKETS - 1) / 2)

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double fah_heap_slope(const double *timeline, double seconds)
{
	double slopes[PAIRS], part = seconds / FAH_HEAP_BUCKETS;
	size_t n = 0;

	if (!(seconds > 0))
		return 0;
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++)
		for (int k = i + 1; k < FAH_HEAP_BUCKETS; k++)
			slopes[n++] = (timeline[k] - timeline[i]) / (part * (k - i));
	qsort(slopes, n, sizeof(*slopes), by_value);
	return (slopes[(n - 1) / 2] + slopes[n / 2]) / 2;
}

void fah_heap_heights(const double *timeline, double most, int n, unsigned char *ret)
{
	for (int i = 0; i < n; i++) {
		int from = i * FAH_HEAP_BUCKETS / n, to = (i + 1) * FAH_HEAP_BUCKETS / n;
		double high = 0, height;

		for (int k = from; k < to; k++)
			high = timeline[k] > high ? timeline[k] : high;
		height = most > 0 ? high / most * 8 : 0;
		/* Anything at all is seen. */
		ret[i] = (unsigned char)(!(high > 0)   ? 0
					 : height >= 8 ? 8
					 : height < 1  ? 1
						       : height + 0.5);
	}
}
