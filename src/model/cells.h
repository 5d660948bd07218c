/*
 * cells.h - the code cells of a notebook, as files of their own.
 *
 * Code of the cell with number N (code cells count from 1) has "<notebook's path>/cell N" for its
 * file name: python/fixingahole/notebook gives it. The capture has the cells' sources in META,
 * under "cell N".
 */
#ifndef FAH_MODEL_CELLS_H
#define FAH_MODEL_CELLS_H

#include "base/strbuf.h"
#include "model/profile.h"

/* Of a path that names a cell: its number, and through ret_len (may be NULL) how long the
 * notebook's own path is. 0: it names none. */
uint32_t fah_cell_number(const char *path, size_t *ret_len);

/* Append "file.py:12", or without a line "file.py"; of a cell "x.ipynb, cell 4, line 2". Not clean.
 */
void fah_place_add(struct fah_strbuf *sb, const char *file, uint32_t line);

/* The META key of a cell's source, into buf. */
#define FAH_CELL_KEY_MAX 24
const char *fah_cell_key(uint32_t number, char buf[FAH_CELL_KEY_MAX]);

/* A cell's source, where path names one and the capture has it; else NULL. Belongs to the profile.
 */
const char *fah_profile_cell(const struct fah_profile *p, const char *path);

#endif
