/*
 * links.h - names that the program knew its own code by, and that lead through a symlink: META
 * "links", of each link a line with the path it has and one with where it led. Text only: when a
 * capture is read, the links may be gone.
 */
#ifndef FAH_MODEL_LINKS_H
#define FAH_MODEL_LINKS_H

#include "base/arena.h"

#include <stdbool.h>

struct fah_link {
	const char *from, *to; /* absolute and normal; borrowed from the arena */
};

/* The next of *text, which moves on. false: there is none, or (*text is NULL) no memory. */
bool fah_links_next(struct fah_arena *arena, const char **text, struct fah_link *ret);

/* Of a path at or below dir: what it is called where dir is called instead; else path itself. NULL:
 * no memory. */
const char *fah_link_replace(struct fah_arena *arena, const char *path, const char *dir,
			     const char *instead);

/* An absolute path, by the links it leads through (NULL: there are none). NULL: no memory. */
const char *fah_links_real(struct fah_arena *arena, const char *links, const char *path);

#endif
