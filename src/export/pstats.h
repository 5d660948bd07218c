/*
 * pstats.h - calls that were told one by one, as Python's own stats file: what cProfile writes, and
 * pstats, snakeviz, gprof2dot and others read, on any Python from 3.4 on.
 */
#ifndef FAH_EXPORT_PSTATS_H
#define FAH_EXPORT_PSTATS_H

#include "export/out.h"
#include "model/exact.h"

/* Behind what is in out; fah_out_finish says how it went. FAH_ERR_NOMEM. */
int fah_pstats_export(struct fah_out *out, const struct fah_exact *e);
/*
 * A file, which appears under its name when it is whole. FAH_ERR_EXISTS: something else than a file
 * has that name. FAH_ERR_SYS, FAH_ERR_NOMEM. What was there stays there on a failure.
 */
int fah_pstats_write(const char *path, const struct fah_exact *e);

#endif
