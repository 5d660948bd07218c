/*
 * perf.h - one event of perf's task-clock: after so much CPU of a thread, our signal to it.
 */
#ifndef FAH_COLLECT_PERF_H
#define FAH_COLLECT_PERF_H

#include <stdbool.h>
#include <stdint.h>

/* Disabled. A descriptor, or -1 with errno. */
int fah_perf_open(uint32_t tid, uint64_t period_ns, bool user_only);
/* What the event sends, and to whom: the thread alone. 0 or -1 with errno. */
int fah_perf_aim(int fd, uint32_t tid);

/* Whether the kernel lets us have such events, tried on ourselves. */
struct fah_clocks_leave {
	bool granted;
	bool user_only; /* not while the thread is in the kernel: there its timer serves */
	char why[160];	/* not granted: in words, with the cure where there is one */
};
/* user_only: inside the kernel none is wanted; otherwise where the kernel grants that. */
void fah_clocks_probe(bool user_only, struct fah_clocks_leave *ret);

#endif
