/*
 * series.h - several runs of a program: captures below a folder, made into statistics; and the runs
 * themselves, one after the other.
 */
#ifndef FAH_CLI_SERIES_H
#define FAH_CLI_SERIES_H

#include "cli/profile_report.h"
#include "cli/runfolder.h"
#include "report/report.h"

#define FAH_STATS_FILE "function_stats.json"

struct fah_series_view {
	const struct fah_report_options *report; /* NULL: print nothing */
	bool json;				 /* print that in place of the table */
	bool everything;			 /* blame all code, not each run's own project */
	const char *output_file;		 /* the table goes there as well; NULL: no */
};

/*
 * Statistics of all captures below folder, hidden folders left out: printed as asked, and written
 * to function_stats.json in it. 0, or an exit status after printing one line that begins with the
 * command's name.
 */
int fah_series_stats(const char *command, const char *folder, const struct fah_series_view *view);

/*
 * Run once() n times, each in a process of its own and a folder of its own below folder, until one
 * fails; then the statistics of those that did not, shown as is asked: in the output file the table
 * stands, not a run. Returns the status of the first that failed.
 * once() returns the status to exit with.
 */
int fah_series_run(uint32_t n, const struct fah_runfolder *folder,
		   const struct fah_profile_shown *how,
		   int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx);

#endif
