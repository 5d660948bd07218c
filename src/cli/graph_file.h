/* graph_file.h - a graph of calls from whatever file holds one: other tools' and our captures. */
#ifndef FAH_CLI_GRAPH_FILE_H
#define FAH_CLI_GRAPH_FILE_H

#include "cli/open.h"
#include "model/exact.h"
#include "model/view.h"

struct fah_graph_file {
	struct fah_exact exact;
	double whole;	    /* what the file says that all took; 0: it does not */
	char *title;	    /* a line about it; NULL: none */
	const char *folder; /* files below it are shown without it; NULL: none */
	struct fah_opened opened;
	struct fah_stacks *stacks;
	char cwd[4096];
};

/*
 * format: pstats, callgrind or folded; NULL: as the file looks. view is for captures. argument may
 * be "-": stdin. 0, or an exit status after printing one line; the caller releases *ret either way.
 */
int fah_graph_open(struct fah_graph_file *ret, const char *format, const char *argument,
		   const struct fah_view *view);
void fah_graph_release(struct fah_graph_file *g); /* also for _cleanup_, on a zeroed struct */

#endif
