/*
 * health.h - what recording cost the program, and how well the samples came.
 */
#ifndef FAH_REPORT_HEALTH_H
#define FAH_REPORT_HEALTH_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Appended to out, whose failure says that memory ended. */
void fah_report_health(struct fah_strbuf *out, const struct fah_profile *p);

/* The words for the clock that samples were taken by. */
void fah_report_clock(struct fah_strbuf *out, const struct fah_profile *p);

/* before, and what perf's clock may do to the program, or why it was not to be had: one of them at
 * most, often nothing. */
void fah_report_caveat(struct fah_strbuf *out, const char *before, const struct fah_profile *p);

/* before, and "lowered to 47 Hz to stay within the budget of 0.10% of a core", or to what else;
 * nothing where the rate was not lowered. */
void fah_report_lowered(struct fah_strbuf *out, const char *before, const struct fah_totals *t);

#endif
