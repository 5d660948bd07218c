/*
 * heap_shadow.h - the size of every block that is counted, by its address: see heap_shadow.c. Here
 * is what each allocation passes, so it is inline.
 */
#ifndef FAH_AGENT_HEAP_SHADOW_H
#define FAH_AGENT_HEAP_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_SHADOW_RECORDED 0x8000u
#define FAH_SHADOW_LONG 0x4000u	     /* the size stands in the next entries */
#define FAH_SHADOW_SHORT_MAX 0x3ffeu /* else it is the entry, less 1 */

#define FAH_SHADOW_GRANULE 16u
#define FAH_SHADOW_LEAF_BITS 20u
#define FAH_SHADOW_MIDDLE_BITS 16u
#define FAH_SHADOW_TOP_BITS 11u /* 47 in all: addresses of programs */
#define FAH_SHADOW_LEAF_SIZE ((1u << FAH_SHADOW_LEAF_BITS) / FAH_SHADOW_GRANULE)

/*
 * With --exact each leaf goes on with a number of 32 bits for each 16 bytes: which of the blocks
 * it is that are recorded, from 1; 0: none of them.
 */
#define FAH_SHADOW_CODE 0x80000000u /* beside it: a code object that heap_sites.c knows */
#define FAH_SHADOW_NUMBERS (FAH_SHADOW_LEAF_SIZE + 4) /* entries before the numbers */
extern bool fah_shadow_has_numbers;		      /* before the first leaf is made */

struct fah_shadow_middle {
	uint16_t *_Atomic leaves[1u << FAH_SHADOW_MIDDLE_BITS];
};
extern struct fah_shadow_middle *_Atomic fah_shadow_top[1u << FAH_SHADOW_TOP_BITS];

/* Where the block's entry stands; NULL: there is none. block is aligned to 16. */
static inline uint16_t *fah_shadow_find(const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block;
	struct fah_shadow_middle *m = atomic_load_explicit(
		&fah_shadow_top[at >> (FAH_SHADOW_LEAF_BITS + FAH_SHADOW_MIDDLE_BITS) &
				((1u << FAH_SHADOW_TOP_BITS) - 1)],
		memory_order_acquire);
	uint16_t *leaf;

	if (__builtin_expect(!m, 0))
		return NULL;
	leaf = atomic_load_explicit(
		&m->leaves[at >> FAH_SHADOW_LEAF_BITS & ((1u << FAH_SHADOW_MIDDLE_BITS) - 1)],
		memory_order_acquire);
	return __builtin_expect(!leaf, 0)
		       ? NULL
		       : &leaf[at / FAH_SHADOW_GRANULE & (FAH_SHADOW_LEAF_SIZE - 1)];
}

/* The same for any address, made where there is none. NULL: no memory, or not aligned to 16. */
uint16_t *fah_shadow_make(const void *block);

/* Where the number of the block stands whose entry it is; with --exact. */
static inline uint32_t *fah_shadow_number(uint16_t *entry, const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block / FAH_SHADOW_GRANULE & (FAH_SHADOW_LEAF_SIZE - 1);

	return (uint32_t *)(void *)(entry - at + FAH_SHADOW_NUMBERS) + at;
}

/* In a fork's child: no block of its parent's is one that it has recorded. */
void fah_shadow_forget_numbers(void);

/* An entry is 0: not counted. */
static inline void fah_shadow_set(uint16_t *entry, uint64_t bytes)
{
	if (__builtin_expect(bytes <= FAH_SHADOW_SHORT_MAX, 1)) {
		*entry = (uint16_t)(bytes + 1);
		return;
	}
	*entry = FAH_SHADOW_LONG;
	for (int i = 1; i <= 3; i++, bytes >>= 16)
		entry[i] = (uint16_t)bytes;
}

/* Of a long size nothing may stay: other blocks will lie there. */
static inline void fah_shadow_clear(uint16_t *entry)
{
	if (__builtin_expect(*entry & FAH_SHADOW_LONG, 0))
		entry[1] = entry[2] = entry[3] = 0;
	*entry = 0;
}

static inline uint64_t fah_shadow_bytes(const uint16_t *entry)
{
	if (__builtin_expect(!(*entry & FAH_SHADOW_LONG), 1))
		return (*entry & 0x3fffu) - 1u;
	return entry[1] | (uint64_t)entry[2] << 16 | (uint64_t)entry[3] << 32;
}

#endif
