/* lprof.h - line_profiler's files (kernprof -l), of its versions 3 to 5; and ours. */
#ifndef FAH_IMPORT_LPROF_H
#define FAH_IMPORT_LPROF_H

#include "model/linehits.h"

#define FAH_LPROF_MAX (256u << 20)

/*
 * What the bytes hold, into h, which is empty. FAH_ERR_FORMAT: no pickle of line_profiler's;
 * FAH_ERR_NOMEM. The caller releases h in any case.
 */
int fah_import_lprof(const void *data, size_t len, struct fah_linehits *h);

#endif
