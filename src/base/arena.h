/*
 * arena.h - memory that is freed all at once. Objects are zeroed and aligned to 16 bytes.
 */
#ifndef FAH_BASE_ARENA_H
#define FAH_BASE_ARENA_H

#include <stddef.h>

struct fah_arena_block;

struct fah_arena {
	struct fah_arena_block *blocks;
	char *p, *end;
	size_t used; /* bytes handed out, for tests and statistics */
};

#define FAH_ARENA_INIT \
	{ \
		NULL, NULL, NULL, 0 \
	}

/* NULL: no memory (also where n * size does not fit a size_t). size 0 gives a valid pointer. */
void *fah_arena_alloc(struct fah_arena *a, size_t size);
void *fah_arena_array(struct fah_arena *a, size_t n, size_t size);
/* A copy with a NUL behind it. */
char *fah_arena_strndup(struct fah_arena *a, const char *s, size_t len);
char *fah_arena_strdup(struct fah_arena *a, const char *s);
void fah_arena_release(struct fah_arena *a); /* usable again after; also for _cleanup_ */

#endif
