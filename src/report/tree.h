/* tree.h - Functions by Module: folders, files and functions with their part of the run. */
#ifndef FAH_REPORT_TREE_H
#define FAH_REPORT_TREE_H

#include "model/heap.h"
#include "report/text.h"

struct fah_tree; /* opaque */

/* Of all charged files; functions with less than floor are not listed, and counted only where their
 * file has no other. With heap, which may be NULL, functions that held at least 1 % of it have
 * behind them how much. FAH_ERR_NOMEM. */
int fah_tree_new(const struct fah_profile *p, const struct fah_charges *charges,
		 const struct fah_heap *heap, const struct fah_report_options *o, double floor,
		 struct fah_tree **ret);
/* Columns of its longest line, where all fit into width. */
int fah_tree_width(const struct fah_tree *tree, int width);
void fah_tree_print(const struct fah_tree *tree, struct fah_text *t);
void fah_tree_free(struct fah_tree *tree); /* NULL is fine */

#endif
