/*
 * blocks.h - the events of a BLOCKS record, one at a time. Inline: reports read 20 million of them
 * in a second or two.
 */
#ifndef FAH_CAPTURE_BLOCKS_H
#define FAH_CAPTURE_BLOCKS_H

#include "capture/reader.h"
#include "core/err.h"
#include "core/segment.h"

#include <string.h>

enum fah_blocks_what {
	FAH_BLOCKS_CAME,    /* a block: number, shape, and that one's site, kind, bytes */
	FAH_BLOCKS_WENT,    /* the block of that number was given back */
	FAH_BLOCKS_CHANGED, /* what is held, by bytes (signed): by none that was recorded */
	FAH_BLOCKS_PASSED,  /* time: bytes is ns */
};

struct fah_blocks_item {
	enum fah_blocks_what what;
	bool is_new; /* CAME: the shape was put just now */
	uint32_t shape, site, kind;
	uint64_t number, bytes;
};

struct fah_blocks_reader {
	struct fah_cursor c;
	uint64_t next;
	uint32_t n_sites;
	struct fah_blocks_shape {
		uint64_t bytes;
		uint32_t site, kind;
		bool put;
	} shapes[FAH_BLOCKS_SHAPES];
};

static inline void fah_blocks_begin(struct fah_blocks_reader *r, const struct fah_rec_blocks *b)
{
	memset(r, 0, sizeof(*r));
	r->c = b->events;
	r->next = b->first;
	r->n_sites = b->n_sites;
}

static inline int fah_blocks_put(struct fah_blocks_reader *r, uint32_t *ret_shape)
{
	const uint8_t *place = fah_get_bytes(&r->c, 1);
	uint64_t site = fah_get_varint(&r->c), v = fah_get_varint(&r->c);

	if (r->c.bad || site >= r->n_sites)
		return FAH_ERR_DAMAGED;
	*ret_shape = *place;
	r->shapes[*place] = (struct fah_blocks_shape){v >> 2, (uint32_t)site, v & 3, true};
	return 0;
}

/* 1: the next; 0: no more; FAH_ERR_DAMAGED. */
static inline int fah_blocks_next(struct fah_blocks_reader *r, struct fah_blocks_item *ret)
{
	uint64_t v;

	if (r->c.p == r->c.end)
		return r->c.bad ? FAH_ERR_DAMAGED : 0;
	v = fah_get_varint(&r->c);
	if (r->c.bad)
		return FAH_ERR_DAMAGED;
	if (v & 1) {
		ret->what = FAH_BLOCKS_WENT;
		ret->number = r->next - (uint64_t)fah_unzigzag(v >> 1);
		return 1;
	}
	if (v & 2) {
		ret->what = FAH_BLOCKS_CAME;
		ret->is_new = true;
		if (v == FAH_BLOCKS_TIME || v == FAH_BLOCKS_OTHER) {
			ret->what = v == FAH_BLOCKS_TIME ? FAH_BLOCKS_PASSED : FAH_BLOCKS_CHANGED;
			ret->bytes = fah_get_varint(&r->c);
			if (v == FAH_BLOCKS_OTHER)
				ret->bytes = (uint64_t)fah_unzigzag(ret->bytes);
			return r->c.bad ? FAH_ERR_DAMAGED : 1;
		}
		if (v != FAH_BLOCKS_SHAPE || fah_blocks_put(r, &ret->shape) < 0)
			return FAH_ERR_DAMAGED;
	} else {
		ret->what = FAH_BLOCKS_CAME;
		ret->is_new = false;
		if (v >> 2 >= FAH_BLOCKS_SHAPES || !r->shapes[v >> 2].put)
			return FAH_ERR_DAMAGED;
		ret->shape = (uint32_t)(v >> 2);
	}
	ret->site = r->shapes[ret->shape].site;
	ret->kind = r->shapes[ret->shape].kind;
	ret->bytes = r->shapes[ret->shape].bytes;
	ret->number = r->next++;
	return 1;
}

#endif
