/* exact_tree.h - calls that were told one by one, as a tree: who called whom, and for how long. */
#ifndef FAH_REPORT_EXACT_TREE_H
#define FAH_REPORT_EXACT_TREE_H

#include "model/exact.h"

#include <stdbool.h>
#include <stdio.h>

struct fah_exact_tree_look {
	bool utf8;    /* lines of the tree in it */
	double floor; /* branches with a smaller part of the whole are left out; 0..1 */
};

/*
 * What is known is who called whom, not by which way: where a function has several callers, what it
 * called is shared out over them by its time with each; such rows are marked, have no number of
 * calls, and a sentence below the tree says what the mark means. FAH_ERR_SYS (out failed),
 * FAH_ERR_NOMEM.
 */
int fah_report_exact_tree(FILE *out, const struct fah_exact *e,
			  const struct fah_exact_tree_look *look);

#endif
