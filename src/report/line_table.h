/*
 * line_table.h - the table of a file's lines: their number, their part of the run in columns, what
 * they held of the memory where that was recorded, and their source.
 */
#ifndef FAH_REPORT_LINE_TABLE_H
#define FAH_REPORT_LINE_TABLE_H

#include "model/heap.h"
#include "report/source.h"
#include "report/text.h"

#define FAH_LINE_CELLS 8

struct fah_line_column; /* line_table.c */

struct fah_line_table {
	struct fah_text *t; /* borrowed, as all the rest */
	const struct fah_line_column *columns[FAH_LINE_CELLS];
	int cells;
	int number;    /* columns of line numbers */
	size_t source; /* columns of source */
	double wall_s;
	const struct fah_heap *heap; /* NULL: not recorded */
};

/* A file, and what it held. */
struct fah_line_subject {
	const struct fah_file_cost *file;
	const struct fah_heap_file *heap; /* NULL: nothing that was recorded */
};

/* All tables of a report have the same columns: there is one for waiting where any line did. */
void fah_line_table_init(struct fah_line_table *tb, struct fah_text *t,
			 const struct fah_charges *charges, const struct fah_heap *heap);
void fah_line_table_put(struct fah_line_table *tb, const struct fah_line_subject *of,
			const struct fah_source *source);

#endif
