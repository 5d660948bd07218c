/* calls.h - what commands that show a call tree begin with: the capture, its tree, the terminal. */
#ifndef FAH_CLI_CALLS_H
#define FAH_CLI_CALLS_H

#include "cli/open.h"
#include "model/calltree.h"
#include "report/report.h"

struct fah_calls {
	struct fah_opened opened;
	struct fah_stacks *stacks;
	struct fah_calltree *tree;
	struct fah_report_options terminal;
};

/* As fah_open_capture, and with the view's tree (leaves: see fah_calltree_new). The caller releases
 * *ret either way. */
int fah_open_calls(struct fah_calls *ret, const char *command, const char *argument,
		   const struct fah_view *view, bool leaves);
void fah_calls_release(struct fah_calls *c); /* also for _cleanup_, on a zeroed struct */

#endif
