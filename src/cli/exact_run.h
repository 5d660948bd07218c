/* exact_run.h - runs a script whose calls, or lines, are all told, and gets what was told. */
#ifndef FAH_CLI_EXACT_RUN_H
#define FAH_CLI_EXACT_RUN_H

#include "cli/cli.h"
#include "collect/run.h"
#include "model/profile.h"

struct fah_exact_job {
	const char *name;		  /* of the command, for messages */
	const char *python;		  /* asked for; NULL: the usual one */
	const char *file, *module, *code; /* one of them */
	char **rest;			  /* the program's own arguments */
	int n_rest;
	const char *words;   /* as it was typed */
	const char *capture; /* where it goes; NULL: a temporary file, which is gone after */
	uint32_t exact;	     /* enum fah_exact_wanted */
	const char *lines;   /* lines are told, not calls: of whom (collect/run.h); NULL: no */
};

struct fah_exact_run {
	struct fah_run_result result;
	struct fah_profile *profile; /* NULL: nothing could be read, which was said */
};

/* The first argument that is no option of ours, or what stands behind --module or --code, begins
 * the program's: as `python -m cProfile` has it. take: as in fah_args_capture. 0, an exit status
 * after printing, or -1: help was printed. */
int fah_exact_parse(struct fah_exact_job *job, const struct fah_command *cmd, int argc, char **argv,
		    int (*take)(void *ctx, int option, const char *value), void *ctx);
/* The ids of options that every such command has. */
enum { FAH_EXACT_OPT_MODULE = 1001, FAH_EXACT_OPT_CODE, FAH_EXACT_OPT_PYTHON };
#define FAH_EXACT_OPTIONS \
	{FAH_EXACT_OPT_MODULE, "module", "m", "MODULE", "run a module, as python -m does"}, \
		{FAH_EXACT_OPT_CODE, "code", "c", "CODE", "run this text, as python -c does"}, \
	{ \
		FAH_EXACT_OPT_PYTHON, "python", NULL, "PYTHON", \
			"the interpreter (default: the active virtual environment's, or python3)" \
	}

/* 0, or an exit status after printing why it did not run. The caller releases *ret either way. */
int fah_exact_run(const struct fah_exact_job *job, struct fah_exact_run *ret);
void fah_exact_run_release(struct fah_exact_run *r); /* also for _cleanup_, on a zeroed struct */

#endif
