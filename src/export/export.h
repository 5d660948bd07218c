/*
 * export.h - the formats of other tools, one file each, one table. A new one: its file, an extern
 * and a line in table.c, a line in meson.build, its paragraph in doc/export.md.
 *
 * A format writes what the view shows and computes no numbers of its own: stacks, their seconds and
 * their moments come from model/view.h. Names and paths come from outside: each format escapes what
 * would mean something in it. Nothing here prints or exits.
 */
#ifndef FAH_EXPORT_EXPORT_H
#define FAH_EXPORT_EXPORT_H

#include "base/strbuf.h"
#include "export/out.h"
#include "model/view.h"

#define FAH_EXPORT_NAMES 4

struct fah_export {
	const char *name;
	const char *aliases[FAH_EXPORT_NAMES];	  /* as other profilers call it; ends with NULL */
	const char *extensions[FAH_EXPORT_NAMES]; /* with their dot, the usual one first */
	const char *summary;			  /* one line, no full stop */
	bool binary;				  /* not for a terminal */
	bool memory;				  /* it can hold bytes as well: views of memory */
	/* 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where out failed; the caller finishes out. */
	int (*write)(struct fah_out *out, struct fah_stacks *stacks);
};

extern const struct fah_export *const fah_exports[]; /* table.c; ends with NULL */

/* By name or alias; NULL: there is none. */
const struct fah_export *fah_export_find(const char *name);
/* By how the path ends, in any case of letters; NULL: it does not say. */
const struct fah_export *fah_export_of_path(const char *path);

/* The whole way: stacks of the profile as the view wants them, into f. 0, FAH_ERR_NOMEM,
 * FAH_ERR_USAGE (view->only), FAH_ERR_SYS with errno set. note (NULL: not wanted) gets a line for
 * people where the format cannot hold all as it was recorded. */
int fah_export_write(const struct fah_export *format, struct fah_profile *p,
		     const struct fah_view *view, FILE *f, struct fah_strbuf *note);

#endif
