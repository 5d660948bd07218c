/*
 * test_heap.c - what is known of blocks by their address: the shadow and the table of those that
 * are recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/heap.h"

#include <pthread.h>
#include <stdlib.h>

#define N 200000u

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void sizes_come_back(void **state)
{
	static const uint64_t sizes[] = {0,	     1,
					 16,	     512,
					 0x3ffd,     0x3ffe,
					 0x3fff,     0x4000,
					 65536,	     (1ull << 32) + 7,
					 1ull << 40, (1ull << 46) - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *block = at(0x7f0000000000 + (i << 33) + 0xffff0);
		uint16_t *entry;

		assert_true(!fah_shadow_find(block) || !*fah_shadow_find(block));
		entry = fah_shadow_make(block);
		assert_non_null(entry);
		assert_int_equal(*entry, 0);
		fah_shadow_set(entry, sizes[i]);
		assert_ptr_equal(fah_shadow_find(block), entry);
		assert_true(*entry && !(*entry & FAH_SHADOW_RECORDED));
		assert_int_equal(fah_shadow_bytes(entry), sizes[i]);
		*entry |= FAH_SHADOW_RECORDED;
		assert_int_equal(fah_shadow_bytes(entry), sizes[i]);
		fah_shadow_clear(entry);
		for (int k = 0; k < 4; k++)
			assert_int_equal(entry[k], 0);
	}
	assert_null(fah_shadow_make(at(0x7f0000000008))); /* its neighbour's */
	assert_null(fah_shadow_make(at(1ull << 47)));
	assert_null(fah_shadow_find(NULL));
}

/* The last bytes of a leaf, and the first of the next. */
static void neighbours_are_apart(void **state)
{
	uint16_t *last = fah_shadow_make(at(0x555500000000 - 16)),
		 *first = fah_shadow_make(at(0x555500000000));

	(void)state;
	fah_shadow_set(last, 16);
	fah_shadow_set(first, 24);
	assert_int_equal(fah_shadow_bytes(last), 16);
	assert_int_equal(fah_shadow_bytes(first), 24);
}

static void table_gives_back(void **state)
{
	(void)state;
	assert_int_equal(fah_heap_table_take(at(16)), 0);
	for (uint64_t i = 1; i <= N; i++)
		assert_true(fah_heap_table_put(at(i * 48), i));
	for (uint64_t i = N; i; i--)
		if (i % 3)
			assert_int_equal(fah_heap_table_take(at(i * 48)), i);
	for (uint64_t i = 1; i <= N; i++)
		assert_int_equal(fah_heap_table_take(at(i * 48)), i % 3 ? 0 : i);
	assert_true(fah_heap_table_put(at(4096), 7));
	fah_heap_table_forget();
	assert_int_equal(fah_heap_table_take(at(4096)), 0);
}

/* Each thread has blocks of its own, as threads have. */
static void *put_and_take(void *first)
{
	for (int round = 0; round < 20; round++) {
		for (uint64_t i = 1; i <= 2000; i++)
			if (!fah_heap_table_put(at((uint64_t)(uintptr_t)first + i * 64), i))
				return first;
		for (uint64_t i = 1; i <= 2000; i++)
			if (fah_heap_table_take(at((uint64_t)(uintptr_t)first + i * 64)) != i)
				return first;
	}
	return NULL;
}

static void threads_race(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, put_and_take, (void *)((i + 1) << 32)),
			0);
	for (int i = 0; i < 4; i++) {
		void *wrong = NULL;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_come_back),
		cmocka_unit_test(neighbours_are_apart),
		cmocka_unit_test(table_gives_back),
		cmocka_unit_test(threads_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
