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
#define NUMBERED_BYTES \
	(FAH_SHADOW_NUMBERS * sizeof(uint16_t) + FAH_SHADOW_LEAF_SIZE * sizeof(uint32_t))

_Static_assert(FAH_SHADOW_NUMBERS * sizeof(uint16_t) >= LEAF_BYTES, "numbers stand behind entries");

bool fah_shadow_has_numbers;
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
				  fah_shadow_has_numbers ? NUMBERED_BYTES : LEAF_BYTES))
		return NULL;
	return fah_shadow_find(block);
}

static void forget_leaf(uint16_t *leaf)
{
	uint32_t *numbers = (uint32_t *)(void *)(leaf + FAH_SHADOW_NUMBERS);
	uintptr_t page = ((uintptr_t)numbers + 4095) & ~(uintptr_t)4095;

	for (uint32_t *n = numbers; (uintptr_t)n < page; n++)
		*n = 0;
	FAH_SYS3(SYS_madvise, page, (uintptr_t)(numbers + FAH_SHADOW_LEAF_SIZE) - page,
		 MADV_DONTNEED);
}

void fah_shadow_forget_numbers(void)
{
	for (uint32_t i = 0; i < 1u << FAH_SHADOW_TOP_BITS; i++) {
		struct fah_shadow_middle *m = atomic_load(&fah_shadow_top[i]);

		for (uint32_t k = 0; m && k < 1u << FAH_SHADOW_MIDDLE_BITS; k++)
			if (atomic_load(&m->leaves[k]))
				forget_leaf(atomic_load(&m->leaves[k]));
	}
}
