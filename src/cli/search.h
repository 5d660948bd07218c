/*
 * search.h - a script by its name, anywhere below a folder. Looks at names only; follows no
 * symlinked folder; prints nothing.
 */
#ifndef FAH_CLI_SEARCH_H
#define FAH_CLI_SEARCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define FAH_SEARCH_ENTRIES_MAX 2000000 /* names looked at; then it is no project any more */
#define FAH_SEARCH_NEAREST 3

struct fah_search {
	const char *root;	 /* absolute, resolved */
	const char *const *skip; /* absolute folders that are not looked into */
	size_t n_skip;		 /* .git, virtual environments and run folders never are */
};

struct fah_found {
	struct fah_arena arena;
	const char **paths; /* absolute, by name; several names of one file count once */
	size_t n;
	/* Where there is none: scripts whose names are like it, the likest first. */
	const char *nearest[FAH_SEARCH_NEAREST];
	size_t n_nearest;
	bool gave_up; /* too many files: what there is, is not all */
};

/*
 * Regular files (or symlinks to one) called name, which may have folders in front: "a/b.py" is
 * <root>/x/a/b.py, unless <root>/a/b.py is there. 0 or FAH_ERR_NOMEM; the caller releases *ret
 * either way. Folders that cannot be read are passed over.
 */
int fah_search(const struct fah_search *where, const char *name, struct fah_found *ret);
void fah_found_release(struct fah_found *f); /* also for _cleanup_, on a zeroed struct */

#endif
