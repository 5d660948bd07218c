/*
 * progress.h - one line on the terminal's stderr that says how a recording goes, rewritten in
 * place.
 *
 * The terminal is the program's: the line comes when the program has written nothing for a while,
 * stands in a row of its own with the cursor below it, and is taken away only where nothing else
 * was written since. Whoever writes now and then has it less and less often.
 */
#ifndef FAH_CLI_PROGRESS_H
#define FAH_CLI_PROGRESS_H

#include "collect/run.h"
#include "target/traffic.h"

struct fah_progress {
	bool on;    /* stderr is a terminal that can be rewritten */
	bool shown; /* a line stands above the cursor */
	bool asks;  /* the program has read what was typed: that moves the cursor too */
	struct fah_run_progress last;
	struct fah_traffic traffic; /* of the program, when it was last looked at */
	double quiet_since, quiet;  /* seconds of the run; how many of them a line needs */
};

/* wanted: false keeps it off wherever it is. */
void fah_progress_init(struct fah_progress *p, bool wanted);
/* For fah_run_options.progress; ctx is the struct. */
void fah_progress_show(void *ctx, const struct fah_run_progress *now);
/* Before anything of ours is written there. */
void fah_progress_erase(struct fah_progress *p);

#endif
