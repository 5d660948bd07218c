/* calls.h - the call tree as indented text: total, interval, own time, seconds, name and place. */
#ifndef FAH_REPORT_CALLS_H
#define FAH_REPORT_CALLS_H

#include "model/calltree.h"
#include "report/report.h"

struct fah_calls_options {
	double min;	/* shares of the run below it are left out, and said */
	uint32_t depth; /* calls that stand deeper are left out, and said; 0: none */
	bool self_less; /* leave out calls that only pass on to one other */
};

/* p is the profile that tree is of. 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where the stream failed. */
int fah_report_calls(FILE *out, struct fah_profile *p, const struct fah_calltree *tree,
		     const struct fah_calls_options *c, const struct fah_report_options *o);

/* All calls with all numbers, in reading order, as JSON. */
int fah_report_calls_json(FILE *out, const struct fah_profile *p, const struct fah_calltree *tree);

#endif
