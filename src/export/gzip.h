/*
 * gzip.h - a gzip stream in front of an output. Built without zlib the stream is as valid, but not
 * smaller: its blocks are stored.
 */
#ifndef FAH_EXPORT_GZIP_H
#define FAH_EXPORT_GZIP_H

#include "export/out.h"

struct fah_gzip; /* opaque */

/* 0 or FAH_ERR_NOMEM. out is borrowed; the caller owns *ret (fah_gzip_free). */
int fah_gzip_new(struct fah_out *out, struct fah_gzip **ret);
void fah_gzip_add(struct fah_gzip *g, const void *data, size_t len);
void fah_gzip_end(struct fah_gzip *g);	/* the stream's tail; nothing may be added after */
void fah_gzip_free(struct fah_gzip *g); /* NULL is fine */

#endif
