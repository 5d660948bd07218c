/*
 * inspect.h - what is in a capture, in words; on request every record.
 */
#ifndef FAH_REPORT_INSPECT_H
#define FAH_REPORT_INSPECT_H

#include <stdbool.h>
#include <stdio.h>

struct fah_inspect_options {
	bool health;  /* what recording cost, and how well samples came */
	bool records; /* every one */
};

/*
 * Print to out. A capture that is cut or damaged prints as far as it is whole, with what is
 * missing: that is no failure. FAH_ERR_* where it can't be opened at all, FAH_ERR_SYS also where
 * out fails.
 */
int fah_report_inspect(FILE *out, const char *path, const struct fah_inspect_options *o);

#endif
