/* flame.h - the call tree as rows of boxes, callers above what they call, as wide as their time. */
#ifndef FAH_REPORT_FLAME_H
#define FAH_REPORT_FLAME_H

#include "model/calltree.h"
#include "report/report.h"

/*
 * tree with leaves, of profile p. rows: at most so many below the first; 0: all. What is too narrow
 * for a column, or too deep, is counted and said. 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where the stream
 * failed.
 */
int fah_report_flame(FILE *out, struct fah_profile *p, const struct fah_calltree *tree,
		     uint32_t rows, const struct fah_report_options *o);

#endif
