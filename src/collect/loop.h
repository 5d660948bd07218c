/*
 * loop.h - the collector's main loop: while the program runs, looks at its threads, clocks and
 * memory every 20 ms or so, and about once a second takes what the agents wrote. It may be slow,
 * the target may not.
 */
#ifndef FAH_COLLECT_LOOP_H
#define FAH_COLLECT_LOOP_H

#include "collect/budget.h"
#include "collect/clocks.h"
#include "collect/drain.h"
#include "collect/memory_series.h"
#include "collect/run.h"
#include "collect/waits.h"

#include <signal.h>
#include <sys/resource.h>

/* All borrowed. */
struct fah_loop {
	pid_t pid; /* of the program */
	uint64_t start_ns;
	const struct fah_run_options *opt;
	const sigset_t *signals; /* blocked, but for SIGINT where opt->stop is there */
	struct fah_budget *budget;
	struct fah_drain *d;
	struct fah_waits *waits;
	struct fah_clocks *clocks;	  /* NULL: timers alone */
	struct fah_memory_series *memory; /* NULL: not asked for */
};

/* CPU and time so far; d NULL: before anything was recorded. */
struct fah_budget_use fah_loop_use(const struct fah_drain *d);

/* How it ended. */
struct fah_loop_end {
	enum fah_ending ending;
	uint64_t time_ns;
	int wait_status;     /* of a program that has ended, */
	struct rusage usage; /* likewise */
};

/* Until the program or the recording ends. */
struct fah_loop_end fah_loop_run(const struct fah_loop *l);

#endif
