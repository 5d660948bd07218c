/*
 * file.h - whole files, folders, and outputs that appear under their name only when they are whole.
 * All return 0 or an enum fah_err; FAH_ERR_SYS leaves errno.
 */
#ifndef FAH_BASE_FILE_H
#define FAH_BASE_FILE_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * The whole file (also one of /proc, whose size is unknown), with a NUL behind it that *ret_len
 * does not count; the caller frees *ret. FAH_ERR_RANGE: longer than max bytes. A folder is
 * FAH_ERR_SYS, EISDIR.
 */
int fah_file_read(const char *path, size_t max, char **ret, size_t *ret_len);
/* The same for a path that somebody else chose, e.g. in a capture: anything but a regular file is
 * FAH_ERR_SYS, EINVAL; never waits for a pipe or a terminal. */
int fah_file_read_regular(const char *path, size_t max, char **ret, size_t *ret_len);

/* The folder and those above it. Also 0 where it is there; a file in the way is FAH_ERR_SYS,
 * ENOTDIR. */
int fah_mkdir_p(const char *path, mode_t mode);

/* May an output take this name? 0: nothing or a regular file is there. FAH_ERR_EXISTS: a folder or
 * a symlink (even a dangling one). FAH_ERR_SPECIAL: a device, a pipe or a socket, also by a
 * symlink. FAH_ERR_SYS: the path leads nowhere. */
int fah_file_check_output(const char *path);

/* Whether both are there and one file, by whatever names. */
bool fah_file_same(const char *a, const char *b);

/* An output being written, as a hidden file beside path. */
struct fah_outfile {
	FILE *f; /* write here */
	char *path, *temp;
};

/* FAH_ERR_EXISTS, FAH_ERR_SPECIAL as above, FAH_ERR_SYS, FAH_ERR_NOMEM. A file that is replaced
 * keeps its mode. */
int fah_outfile_open(struct fah_outfile *of, const char *path);
/* Flush, check all writes, rename over path. On failure the temporary file is gone and path is as
 * it was. *of is released either way. */
int fah_outfile_commit(struct fah_outfile *of);
/* Forget the output; nothing stays. Fine after commit and on a zeroed struct; also for _cleanup_.
 */
void fah_outfile_abort(struct fah_outfile *of);

/* The three in one, for data at hand. */
int fah_file_replace(const char *path, const void *data, size_t len);

/* The part after the last '/', borrowed from path. */
const char *fah_basename(const char *path);

/* More open files for us, as many as may be. Only once the program has been started: it would
 * inherit the limit. */
void fah_files_more(void);

#endif
