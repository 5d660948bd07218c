/*
 * heap_shadow.c - the size of every block that is counted, by its address.
 *
 * Two bytes for each 16 of the address space in use, in leaves of 1 MB of it, made when the first
 * block there comes: no allocator has to be asked how large a block is, none rounds our sums, and a
 * block that was there before us is known by its 0. An entry belongs to its block, so to whoever
 * has that: no two threads write it at once. Blocks that are not aligned to 16, of 8 bytes in some
 * allocators, have none.
 */
#include "agent/heap_shadow.h"

#include "core/pages.h"

/* A long size may begin in a leaf's last entry. */
#define LEAF_BYTES ((FAH_SHADOW_LEAF_SIZE + 3) * sizeof(uint16_t))

struct fah_shadow_middle *_Atomic fah_shadow_top[1u << FAH_SHADOW_TOP_BITS];

uint16_t *fah_shadow_make(const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block;
	struct fah_shadow_middle *m;

	if (at % FAH_SHADOW_GRANULE ||
	    at >> (FAH_SHADOW_LEAF_BITS + FAH_SHADOW_MIDDLE_BITS + FAH_SHADOW_TOP_BITS))
		return NULL;
	m = fah_pages_once((void *_Atomic *)&fah_shadow_top[at >> (FAH_SHADOW_LEAF_BITS +
								   FAH_SHADOW_MIDDLE_BITS)],
			   sizeof(*m));
	if (!m || !fah_pages_once((void *_Atomic *)&m->leaves[at >> FAH_SHADOW_LEAF_BITS &
							      ((1u << FAH_SHADOW_MIDDLE_BITS) - 1)],
				  LEAF_BYTES))
		return NULL;
	return fah_shadow_find(block);
}
