/*
 * heap_table.c - the blocks that are recorded: address to number. No locks: any thread, any
 * handler.
 *
 * Tables of buckets of four, each table four times as large as the one before it; a block goes into
 * the first table whose bucket has room. An address stands in at most one place, and only whoever
 * has the block puts it there and takes it away.
 */
#include "agent/heap.h"

#define N_TABLES 10u
#define FIRST_BITS 8u /* buckets of the first table */
#define WAYS 4u

struct place {
	_Atomic uint64_t block; /* 0: free */
	uint64_t number;
};

struct bucket {
	struct place places[WAYS];
};

static struct bucket *_Atomic tables[N_TABLES];

static uint32_t bits_of(uint32_t table)
{
	return FIRST_BITS + 2 * table;
}

static struct bucket *bucket_of(struct bucket *table, uint32_t n, uint64_t block)
{
	return &table[(block >> 4) * 0x9e3779b97f4a7c15ull >> (64 - bits_of(n))];
}

static struct bucket *table_of(uint32_t n)
{
	return fah_pages_once((void *_Atomic *)&tables[n], sizeof(struct bucket) << bits_of(n));
}

bool fah_heap_table_put(const void *block, uint64_t number)
{
	uint64_t at = (uint64_t)(uintptr_t)block;

	for (uint32_t n = 0; n < N_TABLES; n++) {
		struct bucket *table = table_of(n), *b;

		if (!table)
			return false;
		b = bucket_of(table, n, at);
		for (uint32_t i = 0; i < WAYS; i++) {
			uint64_t none = 0;

			if (atomic_compare_exchange_strong(&b->places[i].block, &none, at)) {
				b->places[i].number = number;
				return true;
			}
		}
	}
	return false;
}

uint64_t fah_heap_table_take(const void *block)
{
	uint64_t at = (uint64_t)(uintptr_t)block, number;

	for (uint32_t n = 0; n < N_TABLES; n++) {
		struct bucket *table = atomic_load(&tables[n]), *b;

		if (!table)
			return 0;
		b = bucket_of(table, n, at);
		for (uint32_t i = 0; i < WAYS; i++) {
			if (atomic_load(&b->places[i].block) != at)
				continue;
			number = b->places[i].number;
			atomic_store(&b->places[i].block, 0);
			return number;
		}
	}
	return 0;
}

void fah_heap_table_forget(void)
{
	for (uint32_t n = 0; n < N_TABLES; n++) {
		struct bucket *table = atomic_load(&tables[n]);

		for (uint32_t i = 0; table && i < 1u << bits_of(n); i++)
			for (uint32_t k = 0; k < WAYS; k++)
				atomic_store(&table[i].places[k].block, 0);
	}
}
