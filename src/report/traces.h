/* traces.h - the Stack Trace Summary: where the dearest functions are called from. */
#ifndef FAH_REPORT_TRACES_H
#define FAH_REPORT_TRACES_H

#include "report/text.h"

/* Of charges, which are those of t's scope; nothing where there is none. 0 or FAH_ERR_NOMEM. */
int fah_traces_print(struct fah_text *t, struct fah_profile *p, const struct fah_charges *charges);

#endif
