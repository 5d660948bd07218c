/*
 * heap_shadow.c - the size of every block that is counted, by its address.
 *
 * Two bytes for each 16 of the address space in use, in leaves of 1 MB of it, made when the first
 * block there comes: no allocator has to be asked how large a block is, none rounds our sums, and a
 * block that was there before us is known by its 0. An entry belongs to its block, so to whoever
 * has that: no two threads write it at once. Blocks that are not aligned to 16, of 8 bytes in some
 * allocators, have none.
 *
 * Up to SHORT_MAX bytes stand in the entry itself, as bytes + 1; more, in those of the block's next
 * granules, which are its own.
 */
#include "agent/heap.h"

#define LEAF_BITS 20u
#define MIDDLE_BITS 16u
#define TOP_BITS 11u /* 47 in all: addresses of programs */
#define GRANULE 16u
#define LONG 0x4000u
#define SHORT_MAX 0x3ffeu

typedef uint16_t leaf[(1u << LEAF_BITS) / GRANULE];

struct middle {
	leaf *_Atomic leaves[1u << MIDDLE_BITS];
};

static struct middle *_Atomic top[1u << TOP_BITS];

/* What a place points to; made where it is empty, by whoever is first. NULL: no memory. */
static void *child(void *_Atomic *place, size_t size, bool make)
{
	void *there = atomic_load_explicit(place, memory_order_acquire), *made;

	if (there || !make)
		return there;
	made = fah_pages(size);
	if (made && !atomic_compare_exchange_strong(place, &there, made)) {
		FAH_SYS2(SYS_munmap, made, size);
		return there;
	}
	return made;
}

uint16_t *fah_shadow_at(const void *block, bool make)
{
	uint64_t at = (uint64_t)(uintptr_t)block;
	struct middle *m;
	leaf *l;

	if (at % GRANULE || at >> (LEAF_BITS + MIDDLE_BITS + TOP_BITS))
		return NULL;
	m = child((void *_Atomic *)&top[at >> (LEAF_BITS + MIDDLE_BITS)], sizeof(*m), make);
	if (!m)
		return NULL;
	l = child((void *_Atomic *)&m->leaves[at >> LEAF_BITS & ((1u << MIDDLE_BITS) - 1)],
		  sizeof(*l), make);
	return l ? &(*l)[(at & ((1u << LEAF_BITS) - 1)) / GRANULE] : NULL;
}

void fah_shadow_set(uint16_t *entry, uint64_t bytes)
{
	if (bytes <= SHORT_MAX) {
		*entry = (uint16_t)(bytes + 1);
		return;
	}
	*entry = LONG;
	for (int i = 1; i <= 3; i++, bytes >>= 16)
		entry[i] = (uint16_t)bytes;
}

uint64_t fah_shadow_bytes(const uint16_t *entry)
{
	if (!(*entry & LONG))
		return (*entry & 0x3fffu) - 1u;
	return entry[1] | (uint64_t)entry[2] << 16 | (uint64_t)entry[3] << 32;
}

void fah_shadow_clear(uint16_t *entry)
{
	*entry = 0;
}
