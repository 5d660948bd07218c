/*
 * source.h - the lines of a source file, ready for a table: UTF-8, tabs expanded, nothing that
 * a terminal would obey.
 */
#ifndef FAH_REPORT_SOURCE_H
#define FAH_REPORT_SOURCE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_source {
	char *data;
	size_t len;
	size_t *starts; /* of each line, and data's end */
	size_t n_lines; /* 0: could not be read */
	bool newer;	/* changed after the time given */
};

/* A file that cannot be read gives a source without lines. since_ns: real time, 0: never newer.
 * FAH_ERR_NOMEM. The caller releases *s. */
int fah_source_init(struct fah_source *s, const char *path, uint64_t since_ns);
/* The same of text at hand, which is copied. */
int fah_source_of_text(struct fah_source *s, const char *text);
void fah_source_release(struct fah_source *s);

/* Append line number (from 1), cut to columns. Lines that could not be made UTF-8 are read as
 * Latin-1. */
void fah_source_line(const struct fah_source *s, uint32_t number, struct fah_strbuf *out,
		     size_t columns, bool ascii);

#endif
