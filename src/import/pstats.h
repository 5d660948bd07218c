/*
 * pstats.h - Python's own stats files, as cProfile, profile, pstats.dump_stats and others write
 * them: the marshal of {(file, line, name): (primitive, calls, self, total, callers)}, where
 * callers is {function: (calls, primitive, self, total)}, or {function: calls} of the module
 * profile. Files are untrusted.
 */
#ifndef FAH_IMPORT_PSTATS_H
#define FAH_IMPORT_PSTATS_H

#include "model/exact.h"

/*
 * All functions, in the file's order, on top of what is in e. Bytes of a file's name that were no
 * text for Python (surrogates U+DC80 to U+DCFF) are those bytes again. Counts below zero, which
 * others write where they know none, are 0. FAH_ERR_FORMAT: no such file. FAH_ERR_DAMAGED: it is
 * cut. FAH_ERR_RANGE: a number that cannot be. FAH_ERR_NOMEM. On a failure e has some of it.
 */
int fah_pstats_parse(const void *data, size_t len, struct fah_exact *e);
/* The same of a file; also FAH_ERR_SYS. */
int fah_pstats_read(const char *path, struct fah_exact *e);

/* Could these first bytes of a file (16 are enough) be one? For saying what a file is not. */
bool fah_pstats_is_likely(const void *data, size_t len);

#endif
