/*
 * run.h - one run from start to end: start the program with the agent, drain, wait, finish the
 * capture. The program keeps its terminal, its process group and its signals.
 */
#ifndef FAH_COLLECT_RUN_H
#define FAH_COLLECT_RUN_H

#include "capture/writer.h"
#include "collect/drain.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_run_options {
	char *const *argv;	  /* the program and its arguments, NULL at the end */
	const char *capture_path; /* where the .fah goes */
	double rate;		  /* Hz of thread CPU; 0: the default */
	double test_hz;		  /* tests only: monotonic timers at this rate; 0: off */
	double budget;		  /* percent of a core for handlers and collector; 0: no limit */
	/* Pairs for the capture's META, NULL at the end; may be NULL. */
	const char *const *meta;
};

struct fah_run_result {
	int start_errno; /* the program could not be started; nothing was recorded */
	int wait_status; /* as wait4 gives it */
	struct fah_run_end end;
	struct fah_write_loss loss;
	struct fah_drain_stats stats;
	int capture_err; /* the capture could not be finished: enum fah_err, 0: it was */
	int capture_errno;
};

#define FAH_RATE_DEFAULT 250.0
#define FAH_RATE_MAX 1000.0 /* of thread CPU timers: no kernel ticks faster */

/*
 * 0: the program ran (or result->start_errno says why not). FAH_ERR_EXISTS or FAH_ERR_SYS before
 * anything was started: the capture or the session's folder cannot be made.
 */
int fah_run(const struct fah_run_options *opt, struct fah_run_result *result);

#endif
