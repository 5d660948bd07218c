/*
 * live.h - profile --live: the summary so far, every few seconds while the program runs.
 *
 * A process of its own, of low priority, reads the capture as far as it is written; the collector
 * only tells it when, so it is never late for a report. profile_summary.txt is replaced each time;
 * on a terminal the summary is drawn on stderr too.
 */
#ifndef FAH_CLI_LIVE_H
#define FAH_CLI_LIVE_H

#include "cli/runfolder.h"
#include "collect/run.h"

#define FAH_LIVE_LEAST 1.0 /* seconds: the capture grows once a second */

/* What both processes see. */
enum fah_live_state { FAH_LIVE_READING, FAH_LIVE_WRITING, FAH_LIVE_OVER };
struct fah_live_shared {
	volatile uint64_t cpu_ns; /* that it has used, for fah_run_options.view_cpu_ns */
	_Atomic int state;	  /* enum fah_live_state: once it is over, nothing is written */
};

struct fah_live {
	double every, last;		/* seconds; of the run, when a report was last asked for */
	pid_t pid;			/* of the process; 0: there is none */
	int fd;				/* to it */
	struct fah_live_shared *shared; /* with it */
};

/*
 * Before fah_run. every: seconds between reports. draw: on stderr too, where that is a terminal. 0,
 * or an exit status after printing why. The folder must live as long as *l.
 */
int fah_live_begin(struct fah_live *l, const struct fah_runfolder *folder, double every, bool draw);
/* For fah_run_options.progress; ctx is the struct. Never waits. */
void fah_live_tick(void *ctx, const struct fah_run_progress *now);
/* No report of it comes after this; also for _cleanup_, on a zeroed struct. */
void fah_live_end(struct fah_live *l);

#endif
