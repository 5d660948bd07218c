/*
 * buckets.h - CPU over the time of a run: spread it, settle it, then ask what a second of it
 * counts.
 */
#ifndef FAH_MODEL_BUCKETS_H
#define FAH_MODEL_BUCKETS_H

#include <stdint.h>

/* CPU in time. All arrays have n + 2 entries: a record may stand exactly at the run's end. */
struct fah_buckets {
	double *cpu;   /* CPU of the bucket, in widths of a fine bucket (of both kinds) */
	double *steps; /* changes of CPU for all buckets from here on; 0 once settled */
	double *scale; /* seconds that a second of CPU counts here; the same memory, after that */
	double *sum;   /* integral of scale up to the bucket's start */
	uint32_t n;
};

/* 0 or FAH_ERR_NOMEM; n > 0. The caller releases, also after a failure. */
int fah_buckets_init(struct fah_buckets *b, uint32_t n);
void fah_buckets_release(struct fah_buckets *b);
/* Make cpu[] whole from cpu[] and steps[]. More may be spread afterwards, and settled again. */
void fah_buckets_settle(struct fah_buckets *b);
/* Make sum[] from scale[], which the caller has set for all n. */
void fah_buckets_integrate(struct fah_buckets *b);

/* Hot: once a sample each. 0 <= from <= to <= n, in buckets. */
static inline void fah_buckets_spread(struct fah_buckets *b, double from, double to, double cpu)
{
	uint32_t i = (uint32_t)from, j = (uint32_t)to;
	double density;

	if (i == j || !(to > from)) {
		b->cpu[i] += cpu;
		return;
	}
	density = cpu / (to - from);
	b->cpu[i] += density * ((double)(i + 1) - from);
	b->cpu[j] += density * (to - (double)j);
	if (j - i > 1) {
		b->steps[i + 1] += density;
		b->steps[j] -= density;
	}
}

/* What a second of CPU counts, on average from here to there. */
static inline double fah_buckets_scale(const struct fah_buckets *b, double from, double to)
{
	uint32_t i = (uint32_t)from, j = (uint32_t)to;

	if (i == j || !(to > from))
		return b->scale[i];
	return (b->sum[j] + b->scale[j] * (to - (double)j) - b->sum[i] -
		b->scale[i] * (from - (double)i)) /
	       (to - from);
}

#endif
