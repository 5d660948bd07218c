/* heap_kept.h - heaps that were charged, by scope: a run's reports ask for the same one several
 * times, and it takes a pass over all that was recorded. For the files of this folder only. */
#ifndef FAH_MODEL_HEAP_KEPT_H
#define FAH_MODEL_HEAP_KEPT_H

#include "model/heap.h"
#include "model/internal.h"

/* Of a scope with the same contents; NULL: there is none yet. */
const struct fah_heap *fah_heap_kept_get(const struct fah_profile *p,
					 const struct fah_scope *scope);
/* heap lives in the profile's arena. Where there is no memory for it, it is not kept. */
void fah_heap_kept_put(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_heap *heap);

#endif
