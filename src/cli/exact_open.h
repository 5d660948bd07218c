/*
 * exact_open.h - calls that were told one by one, from any file that has them: Python's own stats
 * files, and captures. What a file is, its content tells.
 */
#ifndef FAH_CLI_EXACT_OPEN_H
#define FAH_CLI_EXACT_OPEN_H

#include "model/exact.h"

#define FAH_EXACT_NONE 1

/*
 * Into *e, which is empty. 0. FAH_EXACT_NONE: a capture without such calls, a folder, or a profile
 * of scalene's: nothing for e, but summarize reads it. Else an enum fah_err, for fah_exact_fail.
 */
int fah_exact_open(const char *path, struct fah_exact *e);
/* Why that failed, in words for one line behind the file's name; errno as it was left. */
const char *fah_exact_why(int err, const char *path);
/* That line on stderr; the exit status. */
int fah_exact_fail(int err, const char *command, const char *path);

#endif
