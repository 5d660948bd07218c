/*
 * arena.c - memory that is freed all at once: blocks that grow from 16 kB to 1 MB, a large object
 * in a block of its own.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u
#define BLOCK_MIN (16u << 10)
#define BLOCK_MAX (1u << 20)

struct fah_arena_block {
	struct fah_arena_block *next;
	size_t size;
};

_Static_assert(sizeof(struct fah_arena_block) % ALIGN == 0, "objects follow the block's head");

static void *new_block(struct fah_arena *a, size_t size)
{
	struct fah_arena_block *b;
	size_t block = a->blocks ? a->blocks->size * 2 : BLOCK_MIN;

	if (block > BLOCK_MAX)
		block = BLOCK_MAX;
	if (size > block / 4) { /* its own; the block in use stays in use */
		b = calloc(1, sizeof(*b) + size);
		if (!b)
			return NULL;
		if (a->blocks) {
			b->next = a->blocks->next;
			a->blocks->next = b;
		} else {
			a->blocks = b;
		}
		b->size = BLOCK_MIN;
		return b + 1;
	}
	b = calloc(1, sizeof(*b) + block);
	if (!b)
		return NULL;
	b->size = block;
	b->next = a->blocks;
	a->blocks = b;
	a->p = (char *)(b + 1) + size;
	a->end = (char *)(b + 1) + block;
	return b + 1;
}

void *fah_arena_alloc(struct fah_arena *a, size_t size)
{
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!size)
		size = ALIGN;
	if ((size_t)(a->end - a->p) >= size) {
		p = a->p;
		a->p += size;
	} else {
		p = new_block(a, size);
	}
	if (p)
		a->used += size;
	return p;
}

void *fah_arena_array(struct fah_arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return fah_arena_alloc(a, bytes);
}

char *fah_arena_strndup(struct fah_arena *a, const char *s, size_t len)
{
	char *p = len < SIZE_MAX ? fah_arena_alloc(a, len + 1) : NULL;

	if (p && len)
		memcpy(p, s, len);
	return p;
}

char *fah_arena_strdup(struct fah_arena *a, const char *s)
{
	return fah_arena_strndup(a, s, strlen(s));
}

void fah_arena_release(struct fah_arena *a)
{
	while (a->blocks) {
		struct fah_arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	*a = (struct fah_arena)FAH_ARENA_INIT;
}
