/*
 * map.h - hash maps to 32-bit ids or indices. Tool side, one thread per map.
 *
 * struct fah_map has keys of two u64, which holds a u64, a pair of ids, a stack node (parent,
 * function, line) or a function (four ids): hot, so look-ups are inline. struct fah_strmap has byte
 * strings as keys and keeps its own copy of each. Nothing is ever removed.
 *
 * A value of a new key is 0. Pointers to values live until the next put.
 */
#ifndef FAH_BASE_MAP_H
#define FAH_BASE_MAP_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_key {
	uint64_t a, b;
};

struct fah_map_slot {
	struct fah_key key;
	uint32_t value;
	uint32_t used;
};

struct fah_map {
	struct fah_map_slot *slots;
	size_t n;    /* keys in it */
	size_t mask; /* slots - 1 */
};

#define FAH_MAP_INIT \
	{ \
		NULL, 0, 0 \
	}

static inline struct fah_key fah_key_u64(uint64_t v)
{
	return (struct fah_key){v, 0};
}

static inline struct fah_key fah_key_u32x4(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return (struct fah_key){(uint64_t)a << 32 | b, (uint64_t)c << 32 | d};
}

/* Two rounds of multiply and fold: ids are small and dense, so all the mixing must come from here.
 */
static inline uint64_t fah_key_hash(struct fah_key k)
{
	__extension__ typedef unsigned __int128 u128;
	u128 m = (u128)(k.a ^ 0x9e3779b97f4a7c15ull) * (k.b ^ 0xd6e8feb86659fd93ull);
	uint64_t h = (uint64_t)m ^ (uint64_t)(m >> 64);

	h = (h ^ k.a) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

/* NULL: not there. */
static inline uint32_t *fah_map_get(const struct fah_map *m, struct fah_key key)
{
	size_t i;

	if (!m->n)
		return NULL;
	for (i = fah_key_hash(key) & m->mask; m->slots[i].used; i = (i + 1) & m->mask)
		if (m->slots[i].key.a == key.a && m->slots[i].key.b == key.b)
			return &m->slots[i].value;
	return NULL;
}

/* The key's value, made if it is not there (*ret_new, which may be NULL, says so). NULL: no memory.
 */
uint32_t *fah_map_put(struct fah_map *m, struct fah_key key, bool *ret_new);
void fah_map_release(struct fah_map *m); /* usable again after; also for _cleanup_ */

struct fah_strmap_slot {
	const char *key; /* NULL: free */
	uint32_t len, hash, value, reserved;
};

struct fah_strmap {
	struct fah_strmap_slot *slots;
	size_t n, mask;
	struct fah_arena keys;
};

#define FAH_STRMAP_INIT \
	{ \
		NULL, 0, 0, FAH_ARENA_INIT \
	}

/* Keys may hold NUL bytes and may be empty. NULL: not there. */
uint32_t *fah_strmap_get(const struct fah_strmap *m, const char *key, size_t len);
/* As fah_map_put. *ret_key, if wanted, is the map's own copy (with a NUL behind), until release. */
uint32_t *fah_strmap_put(struct fah_strmap *m, const char *key, size_t len, bool *ret_new,
			 const char **ret_key);
void fah_strmap_release(struct fah_strmap *m);

/* 64-bit hash of bytes; not for adversaries, not stable between versions: never written to disk. */
uint64_t fah_hash_bytes(const void *data, size_t len);

#endif
