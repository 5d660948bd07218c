/*
 * stats.h - the same program run several times: mean, deviation and extremes of what each function
 * took, and which functions differ from run to run by more than the samples can explain.
 *
 * Runs of one program are those with the same command line and Python; a function is known by its
 * file and qualified name (several of one name in a file are added up), since its line moves when
 * the code is edited. In a run of its program that does not have it, it took no time.
 */
#ifndef FAH_MODEL_STATS_H
#define FAH_MODEL_STATS_H

#include "model/profile.h"

struct fah_stat {
	double mean, sd, min, max; /* sd: of the sample, n - 1; NAN where there is one */
};

struct fah_stats_function {
	const char *file; /* below its run's root without it */
	const char *name;
	uint32_t line;			/* first, in the last run that has it */
	size_t n;			/* runs that have it */
	struct fah_stat seconds, share; /* share: of each run's wall time, 0..1 */
	double sampling_sd; /* of seconds: what the choice of samples alone makes; 0: unknown */
	/* Differs: sd above a tenth of the mean, and above twice sampling_sd. */
	bool unstable;
};

enum fah_stats_left { FAH_STATS_USED, FAH_STATS_CUT, FAH_STATS_EMPTY, FAH_STATS_FAILED };

struct fah_stats_run {
	const char *path;	  /* as it was added */
	uint32_t program;	  /* index into programs */
	enum fah_stats_left left; /* why it is left out: the capture has no end, it has nothing, its
				      program failed while other runs of it did not */
	double wall_s;
	uint64_t start_ns; /* UTC, since the epoch; 0: unknown */
	int wait_status;
	const char *git_commit, *git_branch, *git_dirty; /* "" where the capture does not say */
};

struct fah_stats_program {
	const char *name;	 /* "script.py --size 10" */
	uint32_t python_version; /* as sys.hexversion; 0: unknown */
	size_t n;		 /* runs that are used */
	struct fah_stat wall_s;
	const struct fah_stats_function *functions; /* largest mean first */
	size_t n_functions;
};

struct fah_stats; /* opaque */

int fah_stats_new(struct fah_stats **ret);
/* A run, in the order of time where that matters; p and charges are not needed afterwards. */
int fah_stats_add(struct fah_stats *s, const char *path, const struct fah_profile *p,
		  const struct fah_charges *charges, const char *root);
/* When all are added. What follows is borrowed until fah_stats_free. FAH_ERR_NOMEM. */
int fah_stats_finish(struct fah_stats *s);
const struct fah_stats_program *fah_stats_programs(const struct fah_stats *s, size_t *ret_n);
const struct fah_stats_run *fah_stats_runs(const struct fah_stats *s, size_t *ret_n);
void fah_stats_free(struct fah_stats *s); /* NULL is fine */

#endif
