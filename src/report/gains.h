/* gains.h - the bottleneck in one sentence, and what the run would take if a line took less. */
#ifndef FAH_REPORT_GAINS_H
#define FAH_REPORT_GAINS_H

#include "report/text.h"

/* One paragraph; nothing where nothing was seen. */
void fah_bottleneck_say(struct fah_text *t, const struct fah_profile *p,
			const struct fah_charges *charges);
/* A table of the dearest lines; nothing where no line has 1 %. FAH_ERR_NOMEM. */
int fah_gains_print(struct fah_text *t, struct fah_profile *p, const struct fah_charges *charges);

#endif
