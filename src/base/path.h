/*
 * path.h - names of files made comparable, by their letters only: nothing is looked up on disk.
 */
#ifndef FAH_BASE_PATH_H
#define FAH_BASE_PATH_H

#include "base/arena.h"

#include <stdbool.h>

/* The path made absolute (relative to cwd) and lexically normal; NULL: no memory. */
char *fah_path_absolute(struct fah_arena *arena, const char *cwd, const char *path);

/* Lexically normal, but relative where it is: "./csu/../csu/a.c" is "./csu/a.c", what leads further
 * up than it begins stays. NULL: no memory. */
char *fah_path_normal(struct fah_arena *arena, const char *path);

/* Is path dir itself, or below it? Both absolute and normal; dir may end in '/'. */
bool fah_path_below(const char *path, const char *dir);

/* Does it end so, with something before that? */
bool fah_path_ends(const char *path, const char *end);

/* The part that people need of a Python file's path: of the standard library and of packages from
 * their own name on, of what is below dir (NULL: none) without it, else all. Borrowed from path. */
const char *fah_path_short(const char *path, const char *dir);

#endif
