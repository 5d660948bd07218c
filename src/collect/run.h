/*
 * run.h - one run from start to end: start the program with the agent, drain, wait, finish the
 * capture. The program keeps its terminal, its process group and its signals.
 */
#ifndef FAH_COLLECT_RUN_H
#define FAH_COLLECT_RUN_H

#include "capture/writer.h"
#include "collect/drain.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAH_CAPTURE_PATH_MAX 4352

/* How a recording goes, about once a second. */
struct fah_run_progress {
	double elapsed_s;
	uint64_t samples, drops; /* so far */
	uint64_t rss_bytes;	 /* of the largest process now */
	pid_t pid;		 /* of the program */
	bool ended; /* it has, and its traffic can be read a last time; else only pid is set */
};

enum fah_exact_wanted {
	FAH_EXACT_CALLS = 1,
	FAH_EXACT_CHILDREN = 2, /* of forks and of what they start, too */
	FAH_EXACT_RAW = 4,	/* what telling costs is left in */
};

struct fah_run_options {
	char *const *argv;	  /* the program and its arguments, NULL at the end */
	const char *program;	  /* the file to run; NULL: argv[0] */
	const char *capture_path; /* where the .fah goes */
	bool add_pid;		  /* capture_path lacks its end: it is <capture_path>-<pid>.fah */
	double rate;		  /* Hz of thread CPU; 0: the default */
	uint32_t clock;		  /* FAH_CLOCK_THREAD_CPU, FAH_CLOCK_PERF; 0: by the rate */
	double test_hz;		  /* tests only: monotonic timers at this rate; 0: off */
	double budget;		  /* percent of a core for handlers and collector; 0: not given */
	/* Calls are counted of functions in these files: lines "+folder", "-folder", "=file"; NULL:
	 * none are. From CPython 3.12 on. */
	const char *count;
	uint32_t exact; /* enum fah_exact_wanted: each call is told and timed */
	/* Lines are told of functions that this chooses (agent/lines_scope.c); NULL: none are. */
	const char *lines;
	bool heap;		/* blocks of memory are counted, and some recorded: */
	uint64_t heap_interval; /* where one of their bytes is picked, one in so many; or
				   FAH_HEAP_EVERY */
	double duration;	/* seconds after which recording ends; 0: with the program */
	/* Recording ends when this is not 0; a handler of the caller's for SIGINT sets it. NULL:
	 * SIGINT is the program's alone. */
	const volatile sig_atomic_t *stop;
	void (*progress)(void *ctx, const struct fah_run_progress *progress); /* may be NULL */
	void *progress_ctx;
	/* CPU of a process that works for the caller's views meanwhile: a cost of profiling too,
	 * but none of the budget's. NULL: there is none. */
	const volatile uint64_t *view_cpu_ns;
	uint32_t log_level;   /* of Python's: what goes to log_path; 0: nothing */
	const char *log_path; /* made when the first record comes; NULL: as if log_level were 0 */
	uint32_t plots;	      /* enum fah_plots */
	/* Pairs for the capture's META, NULL at the end; may be NULL. A key without a value is left
	 * out. */
	const char *const *meta;
};

enum fah_ending {
	FAH_ENDED_PROGRAM = 0,
	FAH_ENDED_DURATION, /* and the program goes on */
	FAH_ENDED_STOPPED,  /* likewise, because *stop was set */
};

struct fah_run_result {
	int start_errno; /* the program could not be started; nothing was recorded */
	pid_t pid;
	enum fah_ending ending;
	int wait_status;		    /* as wait4 gives it; of a program that has ended */
	char capture[FAH_CAPTURE_PATH_MAX]; /* its path */
	struct fah_run_end end;
	struct fah_write_loss loss;
	struct fah_drain_stats stats;
	int capture_err; /* the capture could not be finished: enum fah_err, 0: it was */
	int capture_errno;
};

#define FAH_RATE_DEFAULT 250.0
#define FAH_RATE_MAX 20000.0 /* of perf's clock; a handler needs half of that time and more */

/* Neither a rate nor a budget was asked for: collect/budget.h. */
static inline bool fah_run_has_default_budget(const struct fah_run_options *opt)
{
	return !(opt->budget > 0) && !(opt->rate > 0) && !(opt->test_hz > 0);
}

static inline double fah_run_hz(const struct fah_run_options *opt)
{
	if (opt->test_hz > 0)
		return opt->test_hz;
	return opt->rate > 0 ? opt->rate : FAH_RATE_DEFAULT;
}

/*
 * 0: the program ran (or result->start_errno says why not). FAH_ERR_EXISTS, FAH_ERR_SPECIAL or
 * FAH_ERR_SYS before anything was started: the capture or the session's folder cannot be made.
 */
int fah_run(const struct fah_run_options *opt, struct fah_run_result *result);

/*
 * Where the recording has ended before the program: wait for that. end_it: it is to end, by SIGTERM
 * and, 5 seconds later, by SIGKILL. Sets result->wait_status.
 */
void fah_run_wait(struct fah_run_result *result, bool end_it);

#endif
