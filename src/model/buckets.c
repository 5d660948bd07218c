/*
 * buckets.c - see buckets.h.
 */
#include "model/buckets.h"

#include "core/err.h"

#include <stddef.h>
#include <stdlib.h>

/* One calloc: fresh pages, not touched before they are used. */
int fah_buckets_init(struct fah_buckets *b, uint32_t n)
{
	size_t room = (size_t)n + 2;

	b->n = n;
	b->cpu = calloc(room * 3, sizeof(double));
	if (!b->cpu)
		return FAH_ERR_NOMEM;
	b->steps = b->scale = b->cpu + room;
	b->sum = b->cpu + room * 2;
	return 0;
}

void fah_buckets_release(struct fah_buckets *b)
{
	free(b->cpu);
}

void fah_buckets_settle(struct fah_buckets *b)
{
	double level = 0;

	for (uint32_t i = 0; i < b->n + 2; i++) {
		level += b->steps[i];
		b->steps[i] = 0; /* so that more may be spread, and settled again */
		b->cpu[i] += level;
		if (b->cpu[i] < 0) /* by rounding */
			b->cpu[i] = 0;
	}
	/* What lies exactly at the end of the run belongs to the last bucket. */
	b->cpu[b->n - 1] += b->cpu[b->n];
	b->cpu[b->n] = 0;
}

void fah_buckets_integrate(struct fah_buckets *b)
{
	b->scale[b->n] = b->scale[b->n + 1] = b->scale[b->n - 1];
	for (uint32_t i = 0; i < b->n + 1; i++)
		b->sum[i + 1] = b->sum[i] + b->scale[i];
}
