/* waits.h - what was waited for, in words. */
#ifndef FAH_REPORT_WAITS_H
#define FAH_REPORT_WAITS_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Append "socket 30, GIL 11": percent of the run by reason, largest first, of seconds by enum
 * fah_wait. What is below 1 % each is "other"; with the numbers shown it adds up to the whole,
 * rounded. Nothing where the whole rounds to 0. */
void fah_waits_add(struct fah_strbuf *out, const double by[FAH_WAIT_COUNT], double wall_s);

/* The line of the summary, "Waited 41% (socket 30, GIL 11); no core 3%": its parts where they are
 * 1 % of the run; they do not overlap. false: nothing to say, *out is as it was. */
bool fah_waits_summary(struct fah_strbuf *out, const struct fah_totals *t);

#endif
