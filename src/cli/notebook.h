/*
 * notebook.h - a notebook as a program: what is wrong with it before anything is made or run, who
 * runs its cells, and what the capture keeps of them.
 */
#ifndef FAH_CLI_NOTEBOOK_H
#define FAH_CLI_NOTEBOOK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define FAH_NOTEBOOK_PATH_MAX 4096

struct fah_notebook {
	char runner[FAH_NOTEBOOK_PATH_MAX]; /* the Python file to start with the notebook; "": none
					     */
	struct fah_arena arena;
	const char **cells; /* pairs for META: the sources; NULL at the end */
};

/* By its name. */
bool fah_notebook_is(const char *file);

/* 0, or an exit status after printing why it cannot be run: no JSON, no code, another language, a
 * format that is too old. The caller releases *nb either way. */
int fah_notebook_open(struct fah_notebook *nb, const char *file);
void fah_notebook_release(struct fah_notebook *nb); /* a zeroed one is fine; also for _cleanup_ */

/* The pairs of meta, NULL at the end, and those of the notebook; belongs to it. NULL: no memory. */
const char *const *fah_notebook_meta(struct fah_notebook *nb, const char *const *meta);

#endif
