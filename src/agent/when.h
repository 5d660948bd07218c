/*
 * when.h - when a thread had used so much CPU, by points at which both clocks were read. Runs in
 * the signal handler.
 *
 * A sample may account for CPU that was used some samples ago (account.c), and its time is that of
 * its CPU. Between two points a thread that never blocked had a core as often before any instant as
 * after it; one that blocked is taken to have run just before the later one.
 */
#ifndef FAH_AGENT_WHEN_H
#define FAH_AGENT_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#define FAH_WHEN_POINTS 16u /* accounts are seldom farther behind */

struct fah_when {
	uint32_t n; /* that there were; the last FAH_WHEN_POINTS are kept */
	struct fah_when_point {
		uint64_t mono_ns, cpu_ns;
		bool blocked; /* since the one before */
	} points[FAH_WHEN_POINTS];
};

/* The thread begins, or its account does. */
void fah_when_begin(struct fah_when *w, uint64_t mono_ns, uint64_t cpu_ns);
void fah_when_add(struct fah_when *w, uint64_t mono_ns, uint64_t cpu_ns, bool blocked);
/* When it had used this CPU; at the earliest the first point that is kept. */
uint64_t fah_when_used(const struct fah_when *w, uint64_t cpu_ns);
/* It did not block while it used that, as far as is known. */
bool fah_when_ran_on(const struct fah_when *w, uint64_t from_cpu_ns, uint64_t to_cpu_ns);

#endif
