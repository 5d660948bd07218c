/* heap_account.c - see heap_account.h. Exact to the byte where all blocks are recorded: sums of
 * whole numbers in doubles are, up to 2^53. */
#include "model/heap_account.h"

void fah_heap_clock_init(struct fah_heap_clock *c, const struct fah_heap_records *h)
{
	c->from_ns = h->from_ns;
	c->to_ns = h->to_ns;
}

static int bucket_of(const struct fah_heap_clock *c, uint64_t time_ns)
{
	double span = (double)(c->to_ns - c->from_ns), at;

	if (time_ns <= c->from_ns)
		return 0;
	at = (double)(time_ns - c->from_ns) * FAH_HEAP_BUCKETS;
	return at >= span * FAH_HEAP_BUCKETS ? FAH_HEAP_BUCKETS - 1 : (int)(at / span);
}

/* A time at which the next bucket has not begun, close to where it does. */
static uint64_t bucket_until(const struct fah_heap_clock *c, int bucket)
{
	double span = (double)(c->to_ns - c->from_ns);

	return c->from_ns + (uint64_t)(span * (bucket + 0.999) / FAH_HEAP_BUCKETS);
}

void fah_heap_account_settle(struct fah_heap_account *a, const struct fah_heap_clock *c,
			     uint64_t time_ns)
{
	int bucket;

	if (time_ns <= a->since_ns)
		return;
	a->integral += a->held * (double)(time_ns - a->since_ns);
	a->since_ns = time_ns;
	if (time_ns < a->until_ns)
		return;
	for (bucket = bucket_of(c, time_ns); a->bucket < bucket;)
		a->timeline[++a->bucket] = a->held;
	a->until_ns = bucket_until(c, bucket);
}

/* held went up. */
static void went_up(struct fah_heap_account *a, double held)
{
	if (held > a->timeline[a->bucket])
		a->timeline[a->bucket] = held;
	if (held > a->peak) {
		a->peak = held;
		a->peak_variance = a->variance;
	}
}

void fah_heap_account_init(struct fah_heap_account *a, const struct fah_heap_clock *c)
{
	*a = (struct fah_heap_account){.since_ns = c->from_ns};
}

void fah_heap_account_alloc(struct fah_heap_account *a, const struct fah_heap_clock *c,
			    const struct fah_heap_block *b)
{
	fah_heap_account_settle(a, c, b->born_ns);
	a->held += b->weight;
	a->variance += fah_heap_variance(b);
	a->n_held++;
	a->blocks++;
	a->allocated += b->weight;
	a->allocated_variance += fah_heap_variance(b);
	if (b->kind == FAH_MEMORY_PYTHON)
		a->python += b->weight;
	if (b->is_temporary)
		a->temporary += b->weight;
	went_up(a, a->held);
}

void fah_heap_account_free(struct fah_heap_account *a, const struct fah_heap_clock *c,
			   const struct fah_heap_block *b, uint64_t time_ns)
{
	fah_heap_account_settle(a, c, time_ns);
	if (b->died_ns == FAH_HEAP_LIVES) {
		a->live += b->weight;
		a->live_variance += fah_heap_variance(b);
	}
	a->held -= b->weight;
	a->variance -= fah_heap_variance(b);
	if (!--a->n_held) /* no error of rounding stays */
		a->held = a->variance = 0;
	if (a->held < 0)
		a->held = 0;
	if (a->variance < 0)
		a->variance = 0;
}

void fah_heap_account_set(struct fah_heap_account *a, const struct fah_heap_clock *c,
			  uint64_t time_ns, double held, double most)
{
	fah_heap_account_settle(a, c, time_ns);
	went_up(a, most);
	went_up(a, held);
	a->held = held;
}

void fah_heap_account_mark(struct fah_heap_account *a)
{
	a->at_peak = a->held;
	a->at_peak_variance = a->variance;
}

void fah_heap_account_close(struct fah_heap_account *a, const struct fah_heap_clock *c)
{
	fah_heap_account_settle(a, c, c->to_ns);
}
