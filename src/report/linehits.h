/*
 * linehits.h - functions with hits and time of each line, in line_profiler's layout; and a column
 * more where it is known how much of a line's time was spent in what it called.
 */
#ifndef FAH_REPORT_LINEHITS_H
#define FAH_REPORT_LINEHITS_H

#include "model/linehits.h"
#include "report/report.h"

struct fah_linehits_options {
	double unit;	  /* of the times shown, in seconds; 0: microseconds */
	bool skip_zero;	  /* functions that did not run are left out */
	bool by_time;	  /* the dearest function last */
	bool summarize;	  /* and a line for each function below */
	const char *cwd;  /* what relative paths are relative to; NULL: this folder */
	const char *code; /* the source of "<string>"; NULL: none */
};

/* h is sorted. 0, FAH_ERR_NOMEM, FAH_ERR_SYS. */
int fah_report_linehits(FILE *out, const struct fah_linehits *h,
			const struct fah_linehits_options *how, const struct fah_report_options *o);

/* All of it, in seconds. 0 or FAH_ERR_SYS. */
int fah_report_linehits_json(FILE *out, const struct fah_linehits *h);

#endif
