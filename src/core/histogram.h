/*
 * histogram.h - durations counted by their length: four buckets to each doubling, so that what is
 * read from one is known to an eighth. The agent counts in a handler, the tool reads.
 */
#ifndef FAH_CORE_HISTOGRAM_H
#define FAH_CORE_HISTOGRAM_H

#include <stdint.h>

#define FAH_HIST_BUCKETS 96u
#define FAH_HIST_FIRST 8u /* bucket 0 is below 2^8 ns; the last has all from 3.2 s on */

static inline uint32_t fah_hist_bucket(uint64_t ns)
{
	uint32_t power, bucket;

	if (ns >> FAH_HIST_FIRST == 0)
		return 0;
	power = 63u - (uint32_t)__builtin_clzll(ns);
	bucket = (power - FAH_HIST_FIRST) * 4 + (uint32_t)(ns >> (power - 2) & 3) + 1;
	return bucket < FAH_HIST_BUCKETS ? bucket : FAH_HIST_BUCKETS - 1;
}

/* The shortest duration that is counted in it. */
static inline uint64_t fah_hist_from(uint32_t bucket)
{
	return bucket ? (uint64_t)(4 + (bucket - 1) % 4) << ((bucket - 1) / 4 + FAH_HIST_FIRST - 2)
		      : 0;
}

#endif
