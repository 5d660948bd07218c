/*
 * timeline.h - what the steps from samples to seconds share; timeline.c says what they mean and in
 * which order they run. For those files only.
 */
#ifndef FAH_MODEL_TIMELINE_H
#define FAH_MODEL_TIMELINE_H

#include "model/buckets.h"
#include "model/internal.h"

#define FAH_FIRM_RATIO 1.25
#define FAH_LOOSE_MAX (1u << 20) /* stretches kept; a thread that has no room is read again */

struct fah_sums { /* of one group of threads */
	double cpu_s, true_s, weight_s, weight_s2;
	uint64_t first_ns; /* by which first samples weigh more than the CPU before them */
};

struct fah_scratch { /* by node, for the group at hand */
	double s[3];
	uint32_t samples;
};

struct fah_timeline {
	struct fah_profile *p;
	const struct fah_timeline_input *in;
	double wall_ns, width_ns, per_ns, per_coarse; /* per_: buckets a ns, coarse a fine one */
	uint32_t ratio;				      /* fine buckets in a coarse one */
	double slept;				      /* dt / w from which the thread slept */
	struct fah_buckets fine, coarse;
	struct fah_buckets
		native; /* fine ones, of threads without Python; n is 0 where there are none */
	bool in_native; /* the thread at hand is one of those */
	double *room; /* by fine bucket: what firm CPU leaves of all before it; NULL in PASS_FIRM */
	double *room_owned;
	double *idle; /* by coarse bucket: in which no thread ran, in widths of a fine one */
	struct fah_stretch *loose; /* loose CPU that PASS_FIRM met, up to FAH_LOOSE_MAX */
	size_t n_loose;
	bool loose_full;       /* of the thread at hand: it needs a pass of its own */
	struct fah_want *want; /* of want_thread, which is all but alone; NULL: there is none */
	uint32_t want_thread;
	struct fah_sums group;
	struct fah_scratch *scratch;
	uint32_t *touched;
	size_t n_touched;
	/* fah_walk_visit: each sample with the seconds of the run and the CPU (ns) that it stands
	 * for, both before the scales of its thread. */
	void (*visit)(void *context, const struct fah_sample_item *item, double run_s,
		      double own_ns);
	void *context;
};

/* What the samples and waits of a thread are scaled by. */
struct fah_scales {
	double run;  /* seconds of the run, of samples */
	double own;  /* CPU */
	double wait; /* waiting */
};

/* All that moments.c needs to go through the samples again. */
struct fah_kept {
	struct fah_timeline t;
	struct fah_timeline_input in;
	struct fah_buckets waited; /* idle.c: what a second waited by the main thread counts */
	struct fah_scales *scales; /* by thread */
	struct fah_chain *chains;
	struct fah_block *blocks;
	struct fah_dropped *drops;
	struct fah_wait_block *waits;
	struct fah_state_point *states;
};

struct fah_stretch { /* CPU w, somewhere in the length before now; ns */
	uint64_t now;
	uint32_t length, w;
};

/* Times below 2^63 convert in one instruction, others are no times. */
static inline double fah_time_ns(uint64_t ns)
{
	return ns <= INT64_MAX ? (double)(int64_t)ns : 0;
}

/* The waits of a thread, one by one. */
struct fah_wait_iter {
	const struct fah_wait_block *blocks;
	uint32_t next;
	struct fah_waits_block open;
};
static inline struct fah_wait_iter fah_wait_begin(const struct fah_timeline_input *in,
						  uint32_t thread)
{
	return (struct fah_wait_iter){.blocks = in->waits, .next = in->chains[thread].waits.first};
}
static inline bool fah_wait_next(struct fah_wait_iter *it, struct fah_wait_item *ret)
{
	while (!fah_waits_next(&it->open, ret)) {
		if (it->next == FAH_NO_BLOCK)
			return false;
		it->open = it->blocks[it->next].waits;
		it->next = it->blocks[it->next].next;
	}
	return true;
}

/* The buckets and what is known of them. */
void fah_timeline_release(struct fah_timeline *t);

/* walk.c: all CPU of one thread in time order. */
void fah_walk_firm(struct fah_timeline *t, uint32_t thread);
void fah_walk_loose(struct fah_timeline *t, uint32_t thread);
void fah_walk_seconds(struct fah_timeline *t, uint32_t thread);
void fah_walk_visit(struct fah_timeline *t, uint32_t thread);
/* Loose CPU that fah_walk_firm kept, once room is known. */
void fah_walk_kept(struct fah_timeline *t);

/* want.c: what a thread that is all but alone wanted of a core where samples don't say it. 0 or
 * FAH_ERR_NOMEM. */
int fah_want_find(struct fah_timeline *t);
void fah_want_free(struct fah_want *want); /* NULL is fine */
struct fah_want_at { /* samples in the order of time; want NULL: of another thread */
	struct fah_want *want;
	size_t i;
};
/* What part of the time before a sample that blocked, without its CPU, was want of a core. */
double fah_want_part(struct fah_want_at *at, uint64_t time_ns);

/* settle.c: what each bucket's CPU counts, on_cpu_s, and idle. 0 or FAH_ERR_NOMEM. */
int fah_settle(struct fah_timeline *t, double *room);
/* A thread whose first sample found no Python state never has one: pools don't turn to Python. */
bool fah_thread_is_native(const struct fah_timeline *t, uint32_t thread);

/* seconds.c: the nodes' seconds, and the totals that come from samples. 0 or FAH_ERR_NOMEM. */
int fah_seconds_run(struct fah_timeline *t);

/* idle.c: the nodes' waiting, and what the idle time was. 0 or FAH_ERR_NOMEM. */
int fah_idle_run(struct fah_timeline *t);
/* Is it the thread that the program began with, also where it was replaced by exec? */
bool fah_thread_is_main(const struct fah_profile *p, uint32_t thread);
/* Seconds of the run of one wait of that thread; waited is idle.c's. */
double fah_wait_seconds(const struct fah_timeline *t, const struct fah_buckets *waited,
			const struct fah_wait_item *item);

/* states.c: each thread's states. */
void fah_states_run(struct fah_timeline *t);

/* A stretch of a thread's time, what of it was CPU and what was want of a core. */
struct fah_state_step {
	uint64_t from_ns, to_ns, cpu_ns, ready_ns; /* cpu + ready <= to - from */
};
struct fah_state_iter {
	const struct fah_state_point *points;
	struct fah_state_point last;
	uint32_t next;
};
struct fah_state_iter fah_state_begin(const struct fah_timeline *t, uint32_t thread);
bool fah_state_next(struct fah_state_iter *it, struct fah_state_step *ret);

#endif
