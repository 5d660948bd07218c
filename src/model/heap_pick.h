/* heap_pick.h - the blocks of memory that a view shows, thread by thread; for the files of this
 * folder only. */
#ifndef FAH_MODEL_HEAP_PICK_H
#define FAH_MODEL_HEAP_PICK_H

#include "model/heap.h"
#include "model/heap_records.h"
#include "model/internal.h"

struct fah_heap_picked {
	const struct fah_heap_block **blocks; /* by thread, then by birth */
	size_t *first;			      /* by thread, and the end of the last */
	struct fah_heap_block
		*alike; /* where every block was recorded: those that are alike as one */
};

/* Zeroed *ret; which is not FAH_HEAP_VIEW_NONE. FAH_ERR_NOMEM. Release it in any case. */
int fah_heap_pick(struct fah_profile *p, enum fah_heap_view which, struct fah_heap_picked *ret);
void fah_heap_picked_release(struct fah_heap_picked *picked);

#endif
