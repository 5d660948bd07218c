/* live_view.h - one look at a run that goes on: its summary into the file, and onto the terminal.
 */
#ifndef FAH_CLI_LIVE_VIEW_H
#define FAH_CLI_LIVE_VIEW_H

#include "cli/live.h"
#include "cli/live_screen.h"
#include "cli/runfolder.h"
#include "collect/run.h"

struct fah_live_view {
	const struct fah_runfolder *folder; /* borrowed */
	_Atomic int *state;		    /* enum fah_live_state */
	bool draw;
	struct fah_live_screen screen;
};

/* What cannot be read or written now is left as it is. A SIGTERM meanwhile leaves no file half
 * made. */
void fah_live_view_show(struct fah_live_view *v, const struct fah_run_progress *now);

#endif
