/*
 * moments.h - the samples and waits of a profile one by one, in time, each with the seconds that it
 * stands for. Only of a profile from fah_profile_load_moments.
 *
 * Two measures. Seconds of the run (FAH_RUN_TIME) are those of the reports: each moment divided
 * among the threads that ran in it, or wanted a core where none did, and else the main thread's
 * waiting; all moments of all threads add up to on_cpu_s - unsampled_s + waited_s. A thread's own
 * time (FAH_OWN_TIME) is its CPU and, of waits, how long it waited; those of one thread add up to
 * its cpu_s and to what is known of its waited_s, whatever others did meanwhile. Short threads of a
 * process are scaled together (timeline.c), so there it holds for all of them, not for each.
 */
#ifndef FAH_MODEL_MOMENTS_H
#define FAH_MODEL_MOMENTS_H

#include "model/profile.h"

enum fah_measure {
	FAH_RUN_TIME = 0,
	FAH_OWN_TIME = 1,
};

/* Or a block of memory, of a view of those: seconds are then bytes (view.h). */
struct fah_moment {
	uint64_t time_ns;   /* when it was taken; of a wait: when it ended */
	uint64_t length_ns; /* of a wait: the stretch before that; else its CPU as measured */
	double seconds;	    /* of the measure asked for, one of: */
	double run_s, own_s;
	double system;	 /* of seconds: the kernel's */
	double variance; /* of a block: of the bytes that it stands for */
	uint32_t node;
	uint32_t flags;	 /* enum fah_sample_flag; 0 of a wait */
	uint32_t reason; /* of a wait: enum fah_wait, known ones only */
	bool is_wait;
};

typedef void fah_moment_fn(void *context, const struct fah_moment *m);

/* Calls fn for the samples of a thread in time order and, where waits is set, for its waits among
 * them, by their end. */
void fah_profile_moments(struct fah_profile *p, uint32_t thread, enum fah_measure measure,
			 bool waits, fah_moment_fn *fn, void *context);

#endif
