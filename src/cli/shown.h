/*
 * shown.h - how a capture of `profile` is shown, by what it says of itself: whose code is blamed,
 * what paths are relative to, and where the code is kept as it ran.
 */
#ifndef FAH_CLI_SHOWN_H
#define FAH_CLI_SHOWN_H

#include "cli/run_scope.h"
#include "cli/runfolder.h"
#include "report/report.h"

struct fah_shown {
	struct fah_report_options report; /* for the caller to complete: width, colour, utf8 */
	struct fah_run_scope scope;
	char copy[FAH_RUN_PATH_MAX + 300];
};

/* capture: its path, beside which the copy of the code lies. *s, zeroed before, has pointers into
 * itself and p. 0 or FAH_ERR_NOMEM; the caller releases it either way. */
int fah_shown_init(struct fah_shown *s, const struct fah_profile *p, const char *capture);
void fah_shown_release(struct fah_shown *s); /* also for _cleanup_ */

/* Width, colour and letters of the terminal that stdout is, or of none. */
void fah_shown_on_stdout(struct fah_report_options *o);

#endif
