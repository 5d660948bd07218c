/*
 * heap_account.h - what one line, function or process held, while its blocks come and go in the
 * order of time; for the files of this folder only.
 */
#ifndef FAH_MODEL_HEAP_ACCOUNT_H
#define FAH_MODEL_HEAP_ACCOUNT_H

#include "model/heap.h"
#include "model/heap_records.h"

/* The time recorded, divided into buckets. */
struct fah_heap_clock {
	uint64_t from_ns, to_ns;
};
void fah_heap_clock_init(struct fah_heap_clock *c, const struct fah_heap_records *h);

struct fah_heap_account {
	double held, variance;
	uint64_t n_held; /* blocks */
	double peak, peak_variance, at_peak, at_peak_variance;
	double integral; /* bytes times ns, up to since_ns */
	uint64_t since_ns;
	int bucket;	   /* of since_ns */
	uint64_t until_ns; /* before this it stays the same */
	double live, live_variance;
	double allocated, allocated_variance, python, temporary;
	double copied;
	uint64_t blocks;
	double timeline[FAH_HEAP_BUCKETS];
};

void fah_heap_account_init(struct fah_heap_account *a, const struct fah_heap_clock *c);
void fah_heap_account_alloc(struct fah_heap_account *a, const struct fah_heap_clock *c,
			    const struct fah_heap_block *b);
/* It is given back at its died_ns; or it lived when its process ended, at time_ns. */
void fah_heap_account_free(struct fah_heap_account *a, const struct fah_heap_clock *c,
			   const struct fah_heap_block *b, uint64_t time_ns);
/* Up to time_ns it held what it holds. */
void fah_heap_account_settle(struct fah_heap_account *a, const struct fah_heap_clock *c,
			     uint64_t time_ns);
/* The same two of a block that stands for itself, inline: by the ten million. */
static inline void fah_heap_account_came(struct fah_heap_account *a, const struct fah_heap_clock *c,
					 uint64_t time_ns, double bytes, bool python,
					 bool temporary)
{
	if (time_ns > a->since_ns)
		fah_heap_account_settle(a, c, time_ns);
	a->held += bytes;
	a->n_held++;
	a->blocks++;
	a->allocated += bytes;
	a->python += python ? bytes : 0;
	a->temporary += temporary ? bytes : 0;
	if (a->held > a->timeline[a->bucket])
		a->timeline[a->bucket] = a->held;
	if (a->held > a->peak)
		a->peak = a->held;
}

static inline void fah_heap_account_went(struct fah_heap_account *a, const struct fah_heap_clock *c,
					 uint64_t time_ns, double bytes)
{
	if (time_ns > a->since_ns)
		fah_heap_account_settle(a, c, time_ns);
	a->held -= bytes;
	a->n_held--;
}
/* Of an account without blocks: it holds so much from now on, and held up to most meanwhile. */
void fah_heap_account_set(struct fah_heap_account *a, const struct fah_heap_clock *c,
			  uint64_t time_ns, double held, double most);
/* This is when the run holds the most. */
void fah_heap_account_mark(struct fah_heap_account *a);
/* Up to the end of the time recorded. */
void fah_heap_account_close(struct fah_heap_account *a, const struct fah_heap_clock *c);

#endif
