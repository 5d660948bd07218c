/* lines.h - profile_results.txt: the lines of each file that took at least 1 % of the run. */
#ifndef FAH_REPORT_LINES_H
#define FAH_REPORT_LINES_H

#include "report/report.h"

/* 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where the stream failed. */
int fah_report_lines(FILE *out, struct fah_profile *p, const struct fah_report_options *o);

#endif
