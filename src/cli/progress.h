/*
 * progress.h - one line on the terminal's stderr that says how a recording goes, rewritten in
 * place.
 */
#ifndef FAH_CLI_PROGRESS_H
#define FAH_CLI_PROGRESS_H

#include "collect/run.h"

struct fah_progress {
	bool on;    /* stderr is a terminal that can be rewritten */
	bool shown; /* a line stands there */
	struct fah_run_progress last;
};

/* wanted: false keeps it off wherever it is. */
void fah_progress_init(struct fah_progress *p, bool wanted);
/* For fah_run_options.progress; ctx is the struct. */
void fah_progress_show(void *ctx, const struct fah_run_progress *now);
void fah_progress_erase(struct fah_progress *p);

#endif
