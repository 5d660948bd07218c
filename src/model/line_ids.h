/*
 * line_ids.h - the lines that something is charged to, counted from 0 as they come; for the files
 * of this folder only.
 */
#ifndef FAH_MODEL_LINE_IDS_H
#define FAH_MODEL_LINE_IDS_H

#include "base/map.h"
#include "model/internal.h"

struct fah_line_id {
	uint32_t file, line; /* file: index into files[] */
};

struct fah_line_ids {
	struct fah_line_id *all;
	size_t n, cap;
	struct fah_map by_line;
};

/* The number of a line, given to it where it has none. 0 or FAH_ERR_NOMEM. */
int fah_line_ids_put(struct fah_line_ids *ids, uint32_t file, uint32_t line, uint32_t *ret);
void fah_line_ids_release(struct fah_line_ids *ids);

#endif
