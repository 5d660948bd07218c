/* summary.h - profile_summary.txt, and what is printed when a run has ended. */
#ifndef FAH_REPORT_SUMMARY_H
#define FAH_REPORT_SUMMARY_H

#include "report/report.h"

/* 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where the stream failed. */
int fah_report_summary(FILE *out, struct fah_profile *p, const struct fah_report_options *o);
/* The same numbers and more, for programs; top and floor of o limit the functions where set. */
int fah_report_summary_json(FILE *out, struct fah_profile *p, const struct fah_report_options *o);

#endif
