/* thin.h - why a report has little or nothing to show. */
#ifndef FAH_REPORT_THIN_H
#define FAH_REPORT_THIN_H

#include "report/text.h"

/* The run was so short that few samples came: a sentence. Whether there was one to say. */
bool fah_thin_short(struct fah_text *t, const struct fah_profile *p);
/* Nothing of the scope is worth listing: where the time was; all_listed: and all code
 * follows. */
void fah_thin_scope(struct fah_text *t, const struct fah_profile *p,
		    const struct fah_charges *charges, bool all_listed);

#endif
