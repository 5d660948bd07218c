/* top.h - a numbered list of functions, each with what it took and its place; as wide as its
 * longest row, or as the terminal. */
#ifndef FAH_REPORT_TOP_H
#define FAH_REPORT_TOP_H

#include "report/text.h"

#define FAH_TOP_MAX 32 /* bytes of a cost */

struct fah_top_row {
	struct fah_strbuf name, behind; /* clean */
	char cost[FAH_TOP_MAX];
	double heat;   /* share that its colour is of */
	bool is_extra; /* not one of those counted */
};

struct fah_top {
	struct fah_top_row *rows;
	size_t n, cap;
	int counted;		   /* rows that are not extra */
	int name_columns, longest; /* of the names as shown, of a whole row: see fah_top_fit */
	int cost;		   /* columns of the longest cost */
};

/* A row with its name and place still to be written, until the next is added. NULL: no memory. */
struct fah_top_row *fah_top_add(struct fah_top *top, const char *cost, double heat);
/* All rows are there: how wide they are. cost: columns that costs have at least. */
void fah_top_fit(struct fah_top *top, const struct fah_text *t, int cost);
void fah_top_print(struct fah_text *t, const struct fah_top *top);
void fah_top_release(struct fah_top *top);

#endif
