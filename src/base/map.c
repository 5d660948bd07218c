/*
 * map.c - open addressing with linear probing; grows by two when five eighths are taken.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u

static bool full(size_t n, size_t slots)
{
	return (n + 1) * 8 > slots * 5;
}

static bool map_grow(struct fah_map *m)
{
	size_t slots = m->slots ? (m->mask + 1) * 2 : SLOTS_MIN, i, j;
	struct fah_map_slot *s = calloc(slots, sizeof(*s));

	if (!s)
		return false;
	for (i = 0; m->slots && i <= m->mask; i++) {
		if (!m->slots[i].used)
			continue;
		for (j = fah_key_hash(m->slots[i].key) & (slots - 1); s[j].used;)
			j = (j + 1) & (slots - 1);
		s[j] = m->slots[i];
	}
	free(m->slots);
	m->slots = s;
	m->mask = slots - 1;
	return true;
}

uint32_t *fah_map_put(struct fah_map *m, struct fah_key key, bool *ret_new)
{
	uint32_t *value = fah_map_get(m, key);
	size_t i;

	if (ret_new)
		*ret_new = !value;
	if (value)
		return value;
	if ((!m->slots || full(m->n, m->mask + 1)) && !map_grow(m))
		return NULL;
	for (i = fah_key_hash(key) & m->mask; m->slots[i].used;)
		i = (i + 1) & m->mask;
	m->slots[i] = (struct fah_map_slot){key, 0, 1};
	m->n++;
	return &m->slots[i].value;
}

void fah_map_release(struct fah_map *m)
{
	free(m->slots);
	*m = (struct fah_map)FAH_MAP_INIT;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 u128;
	u128 m = (u128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t fah_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = 0x9e3779b97f4a7c15ull ^ len, v;
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = fold(h ^ v, 0xd6e8feb86659fd93ull);
	}
	if (left) {
		v = 0;
		memcpy(&v, p, left);
		h = fold(h ^ v, 0xa0761d6478bd642full);
	}
	h = (h ^ h >> 32) * 0xff51afd7ed558ccdull;
	return h ^ h >> 29;
}

static struct fah_strmap_slot *strmap_find(const struct fah_strmap *m, const char *key, size_t len,
					   uint32_t hash)
{
	size_t i;

	for (i = hash & m->mask; m->slots[i].key; i = (i + 1) & m->mask)
		if (m->slots[i].hash == hash && m->slots[i].len == len &&
		    !memcmp(m->slots[i].key, key, len))
			break;
	return &m->slots[i];
}

uint32_t *fah_strmap_get(const struct fah_strmap *m, const char *key, size_t len)
{
	struct fah_strmap_slot *s;

	if (!m->n)
		return NULL;
	s = strmap_find(m, len ? key : "", len, (uint32_t)fah_hash_bytes(key, len));
	return s->key ? &s->value : NULL;
}

static bool strmap_grow(struct fah_strmap *m)
{
	size_t slots = m->slots ? (m->mask + 1) * 2 : SLOTS_MIN, i, j;
	struct fah_strmap_slot *s = calloc(slots, sizeof(*s));

	if (!s)
		return false;
	for (i = 0; m->slots && i <= m->mask; i++) {
		if (!m->slots[i].key)
			continue;
		for (j = m->slots[i].hash & (slots - 1); s[j].key;)
			j = (j + 1) & (slots - 1);
		s[j] = m->slots[i];
	}
	free(m->slots);
	m->slots = s;
	m->mask = slots - 1;
	return true;
}

uint32_t *fah_strmap_put(struct fah_strmap *m, const char *key, size_t len, bool *ret_new,
			 const char **ret_key)
{
	uint32_t hash = (uint32_t)fah_hash_bytes(key, len);
	struct fah_strmap_slot *s;
	char *copy;

	if (len > UINT32_MAX)
		return NULL;
	if ((!m->slots || full(m->n, m->mask + 1)) && !strmap_grow(m))
		return NULL;
	s = strmap_find(m, len ? key : "", len, hash);
	if (ret_new)
		*ret_new = !s->key;
	if (!s->key) {
		copy = fah_arena_strndup(&m->keys, key, len);
		if (!copy)
			return NULL;
		*s = (struct fah_strmap_slot){copy, (uint32_t)len, hash, 0, 0};
		m->n++;
	}
	if (ret_key)
		*ret_key = s->key;
	return &s->value;
}

void fah_strmap_release(struct fah_strmap *m)
{
	free(m->slots);
	fah_arena_release(&m->keys);
	*m = (struct fah_strmap)FAH_STRMAP_INIT;
}
