/*
 * exact_totals.h - what functions took with all that they called, where only their own time and
 * that of their calls is known, as in callgrind's files.
 */
#ifndef FAH_MODEL_EXACT_TOTALS_H
#define FAH_MODEL_EXACT_TOTALS_H

#include "model/exact.h"

/*
 * Sets total_s of each function from self_s and the edges' total_s. Exact where a function recurs
 * only by calling itself. Functions that call each other in a circle may count the time of inner
 * calls twice; none has more than the circle as a whole, which is exact. Edges that say more than
 * that are cut to it. known, by function, has totals that the caller knows better, negative where
 * it does not; NULL: of none. FAH_ERR_NOMEM: nothing was changed.
 */
int fah_exact_totals(struct fah_exact *e, const double *known);

#endif
