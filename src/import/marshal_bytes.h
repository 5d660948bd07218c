/*
 * marshal_bytes.h - the bytes that marshal.c reads, one after the other, and never behind their
 * end. The first failure stays in err.
 */
#ifndef FAH_IMPORT_MARSHAL_BYTES_H
#define FAH_IMPORT_MARSHAL_BYTES_H

#include "core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_marshal_bytes {
	const unsigned char *p, *end;
	int err;
};

static inline int fah_marshal_fail(struct fah_marshal_bytes *in, int err)
{
	in->err = err;
	return err;
}

/* NULL: the data ends before. */
static inline const unsigned char *fah_marshal_take(struct fah_marshal_bytes *in, size_t n)
{
	const unsigned char *p = in->p;

	if (n > (size_t)(in->end - in->p)) {
		in->err = FAH_ERR_DAMAGED;
		return NULL;
	}
	in->p += n;
	return p;
}

static inline bool fah_marshal_take_u8(struct fah_marshal_bytes *in, uint32_t *ret)
{
	const unsigned char *p = fah_marshal_take(in, 1);

	if (p)
		*ret = *p;
	return p;
}

static inline bool fah_marshal_take_i32(struct fah_marshal_bytes *in, int32_t *ret)
{
	const unsigned char *p = fah_marshal_take(in, 4);

	if (p)
		*ret = (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				 (uint32_t)p[3] << 24);
	return p;
}

static inline bool fah_marshal_take_u64(struct fah_marshal_bytes *in, uint64_t *ret)
{
	const unsigned char *p = fah_marshal_take(in, 8);
	uint64_t v = 0;

	for (int i = 7; p && i >= 0; i--)
		v = v << 8 | p[i];
	*ret = v;
	return p;
}

/* A length that can be: no item takes less than a byte. */
static inline bool fah_marshal_take_length(struct fah_marshal_bytes *in, size_t *ret)
{
	int32_t n;

	if (!fah_marshal_take_i32(in, &n))
		return false;
	if (n < 0 || (size_t)n > (size_t)(in->end - in->p)) {
		in->err = n < 0 ? FAH_ERR_FORMAT : FAH_ERR_DAMAGED;
		return false;
	}
	*ret = (size_t)n;
	return true;
}

#endif
