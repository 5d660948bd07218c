/*
 * exact_stacks.h - stacks made into functions and who called whom, for views that know no stacks.
 *
 * A function has a stack's seconds once, however often it stands in it, and so has each pair of
 * caller and callee: nothing exceeds the whole. Samples don't tell how often a function was called:
 * calls stay 0.
 */
#ifndef FAH_MODEL_EXACT_STACKS_H
#define FAH_MODEL_EXACT_STACKS_H

#include "model/exact.h"
#include "model/view.h"

struct fah_exact_stacks {
	struct fah_exact *into; /* borrowed; functions are made there by the caller */
	uint64_t *functions;	/* by function: the last stack it was met in */
	uint64_t *edges;	/* by edge, likewise */
	size_t cap_functions, cap_edges;
	uint64_t stack;
};

void fah_exact_stacks_init(struct fah_exact_stacks *s, struct fah_exact *into);
void fah_exact_stacks_done(struct fah_exact_stacks *s); /* also for _cleanup_ */

/* Functions of a stack, the outermost first, n > 0. FAH_ERR_NOMEM. */
int fah_exact_stacks_add(struct fah_exact_stacks *s, const uint32_t *functions, size_t n,
			 double seconds);

/* All that a view shows. Native functions have their module as file. FAH_ERR_NOMEM. */
int fah_exact_of_view(struct fah_exact *into, struct fah_stacks *view);

#endif
