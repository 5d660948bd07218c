/*
 * varint.h - LEB128 numbers and a bounded cursor over bytes, for both sides.
 *
 * Reading: a cursor has a sticky error: after the first bad read every read gives 0 and
 * c->bad stays set, so a decoder checks once at the end. Writing: the caller guarantees room
 * (FAH_VARINT_MAX bytes a number).
 */
#ifndef FAH_CORE_VARINT_H
#define FAH_CORE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_VARINT_MAX 10

struct fah_cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline uint8_t *fah_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint64_t fah_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t fah_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline uint64_t fah_get_varint(struct fah_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;

	if (c->p < c->end && *c->p < 0x80) /* one byte: by far the most common */
		return *c->p++;
	while (c->p < c->end && shift < 70) {
		uint8_t b = *c->p++;

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v;
		shift += 7;
	}
	c->bad = true;
	c->p = c->end;
	return 0;
}

/* The next n bytes, borrowed from the buffer; NULL (and c->bad) where fewer are left. */
static inline const uint8_t *fah_get_bytes(struct fah_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

#endif
