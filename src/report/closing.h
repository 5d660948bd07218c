/* closing.h - the words of a report: what was measured and how sure, and why nothing was. */
#ifndef FAH_REPORT_CLOSING_H
#define FAH_REPORT_CLOSING_H

#include "model/calltree.h"
#include "report/text.h"

/* Interpreters that were not profiled, and why; false where there are none. */
bool fah_closing_refused(struct fah_text *t, const struct fah_profile *p);
/* Why there is not one sample, and what to do; of a run that waited, that it did. */
void fah_closing_empty(struct fah_text *t, const struct fah_profile *p);
/* What perf's clock may do to the program, or why it was not to be had; often nothing. */
void fah_closing_caveat(struct fah_text *t, const struct fah_profile *p);
/* Clock, rate, samples, drops, interval, waiting, what is outside, what is missing. */
void fah_closing_words(struct fah_text *t, const struct fah_profile *p,
		       const struct fah_charges *charges);
/* How the program ended, where that was not by status 0; what the capture lacks. */
void fah_closing_end(struct fah_text *t, const struct fah_profile *p);

/* Of views that show calls: what stands above them (the command, what was not profiled), and below:
 * the words above, or why there is nothing. seconds: what is shown. 0 or FAH_ERR_NOMEM. */
void fah_closing_above(struct fah_text *t, const struct fah_profile *p);
int fah_closing_below(struct fah_text *t, struct fah_profile *p, double seconds);
/* The same of a tree, also of one of memory. */
int fah_closing_below_tree(struct fah_text *t, struct fah_profile *p,
			   const struct fah_calltree *tree);

#endif
