/* threads.h - a table of the threads: how long each lived, ran, had no core, and waited for what.
 */
#ifndef FAH_REPORT_THREADS_H
#define FAH_REPORT_THREADS_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Append the table, those with the most CPU first, at most 20; nothing where there is no thread.
 * FAH_ERR_NOMEM. */
int fah_report_threads(struct fah_strbuf *out, const struct fah_profile *p);

#endif
