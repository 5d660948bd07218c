/* lprof.h - line_profiler's own file, a pickle of its LineStats: `python -m line_profiler FILE`. */
#ifndef FAH_EXPORT_LPROF_H
#define FAH_EXPORT_LPROF_H

#include "model/linehits.h"

#include <stdio.h>

/*
 * h is sorted. What line_profiler has no place for, the time of a line in what it called, is an
 * attribute more, "called", which it does not look at. FAH_ERR_SYS: the stream failed.
 */
int fah_export_lprof(FILE *out, const struct fah_linehits *h);

#endif
