/*
 * err.h - failures in words. One table for all of enum fah_err; only cli/ prints them.
 */
#ifndef FAH_BASE_ERR_H
#define FAH_BASE_ERR_H

#include "base/strbuf.h"
#include "core/err.h"

/* Both never NULL; for a number that is no enum fah_err: "unknown error", "". No full stop. */
const char *fah_err_text(int err);
const char *fah_err_advice(int err); /* what to do about it; "" where there is nothing to say */

/*
 * One line for people: the text, for FAH_ERR_SYS the system's (of sys_errno), then "; " and the
 * advice. E.g. "no space left on device; free some space, or write elsewhere with -o".
 */
void fah_err_describe(struct fah_strbuf *out, int err, int sys_errno);

#endif
