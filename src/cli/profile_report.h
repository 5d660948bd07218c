/* profile_report.h - after a profiled run: the files of its folder, and the summary on stdout. */
#ifndef FAH_CLI_PROFILE_REPORT_H
#define FAH_CLI_PROFILE_REPORT_H

#include "cli/runfolder.h"
#include "collect/run.h"

struct fah_profile_shown {
	bool quiet;
	const char *output_file; /* summary and lines in one go there too; "-": stdout; NULL: no */
};

/* Never fails the run: what cannot be written is said on stderr (not with quiet). */
void fah_profile_report(const struct fah_runfolder *folder, const struct fah_run_result *result,
			const struct fah_profile_shown *how);

#endif
