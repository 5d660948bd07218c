/*
 * table_file.h - tables kept between runs, one file a module:
 * $XDG_CACHE_HOME/fixingahole/unwind/NAME. Tool side. Files appear whole or not at all; a damaged
 * one is made anew.
 */
#ifndef FAH_NATIVE_TABLE_FILE_H
#define FAH_NATIVE_TABLE_FILE_H

#include "base/strbuf.h"
#include "native/table_build.h"
#include "native/elf_file.h"

/*
 * The name that a module's table has in a folder: its build-id and a sum of its program headers (an
 * edited copy keeps the build-id); without a build-id its device, inode, size and time. Also the
 * key in the table's head.
 */
void fah_table_name(const struct fah_elf *elf, struct fah_strbuf *out);

/* $XDG_CACHE_HOME/fixingahole/WHAT, or ~/.cache/…; the caller frees *ret. what is "unwind" for
 * tables, "names" for names.h. FAH_ERR_USAGE: neither variable is set to an absolute path,
 * or a home that is not there, which is not for us to make. */
int fah_native_cache_dir(const char *what, char **ret);

struct fah_table_bytes {
	void *bytes; /* for fah_table_open; from malloc */
	size_t len;
	bool made; /* it was not in the folder */
};

/*
 * The module's table: from the folder, or built and put there. A folder that cannot be written to
 * is no error (dir NULL: none is used). ret->bytes is checked; the caller frees it. FAH_ERR_SYS,
 * FAH_ERR_NOMEM, FAH_ERR_DAMAGED as fah_table_build.
 */
int fah_table_get(struct fah_elf *elf, const char *dir, struct fah_table_bytes *ret);

#endif
