/* loops.h - a loop whose iterations the program marked, in one sentence. */
#ifndef FAH_REPORT_LOOPS_H
#define FAH_REPORT_LOOPS_H

#include "base/strbuf.h"
#include "model/profile.h"

void fah_report_loop(struct fah_strbuf *out, const struct fah_loop *loop, const char *plus_minus);

#endif
