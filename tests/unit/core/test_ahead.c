/*
 * test_ahead.c - reads ahead: the same bytes as plain loads give, whatever came, went or changed
 * between two walks; and no system call for what was foreseen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/ahead.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGES 16

static struct fah_ahead ahead;
static int calls; /* of the loads below */

static int counted(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	calls++;
	return fah_mem_self.read(mem, pieces, n);
}

static void fresh(void)
{
	memset(&ahead, 0, sizeof(ahead));
	fah_ahead_init(&ahead);
	ahead.under.read = counted;
	calls = 0;
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* A chain of pointers: what a walk does. */
struct link {
	struct link *next;
	uint64_t value;
	uint8_t rest[100];
};

static uint64_t walk(const struct link *from)
{
	uint64_t sum = 0, next = at(from);
	struct link l;

	fah_ahead_begin(&ahead);
	while (next) {
		assert_int_equal(fah_load(&ahead.mem, next, &l, sizeof(l)), 0);
		sum += l.value;
		next = at(l.next);
	}
	return sum;
}

static void the_second_walk_needs_no_call(void **state)
{
	struct link links[20];

	memset(links, 0, sizeof(links));
	for (int i = 0; i < 19; i++)
		links[i] = (struct link){.next = &links[i + 1], .value = 1};
	fresh();
	assert_int_equal(walk(links), 19);
	assert_int_equal(calls, 20);
	assert_int_equal(walk(links), 19);
	assert_int_equal(calls, 20);
	/* what changed is seen, and only what is new costs a call */
	links[7].value = 100;
	links[10].next = &links[18];
	assert_int_equal(walk(links), 19 + 99 - 7);
	assert_int_equal(calls, 20);
	links[10].next = &links[11];
	assert_int_equal(walk(links), 19 + 99);
	assert_int_equal(calls, 27);
}

static void a_longer_piece_is_not_taken_for_a_shorter(void **state)
{
	uint8_t bytes[256], dst[256];
	struct fah_piece pieces[2] = {{dst, at(bytes) + 16, 8}, {dst + 8, at(bytes) + 16, 100}};

	for (int i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	fresh();
	assert_int_equal(fah_load(&ahead.mem, at(bytes) + 16, dst, 32), 0);
	fah_ahead_begin(&ahead);
	memset(dst, 0, sizeof(dst));
	assert_int_equal(ahead.mem.read(&ahead.mem, pieces, 2), 2);
	assert_memory_equal(dst, bytes + 16, 8);
	assert_memory_equal(dst + 8, bytes + 16, 100);
	assert_int_equal(calls, 2);
}

/* Pages come and go between the walks and the read that was foreseen. */
static void what_is_gone_is_not_there(void **state)
{
	uint8_t *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	bool there[PAGES];
	uint64_t random = 88172645463325252ull;

	assert_ptr_not_equal(map, MAP_FAILED);
	for (int i = 0; i < PAGES; i++)
		there[i] = true;
	fresh();
	for (int round = 0; round < 3000; round++) {
		fah_ahead_begin(&ahead);
		for (int k = 0; k < 12; k++) {
			struct fah_piece pieces[4];
			uint64_t dst[4] = {0};
			int n, want = 0;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			n = 1 + (int)(random % 4);
			for (int i = 0; i < n; i++) {
				unsigned page = (unsigned)(random >> (8 + 4 * i)) % PAGES;

				pieces[i] = (struct fah_piece){
					&dst[i], at(map) + (uint64_t)page * PAGE + 64, 8};
			}
			while (want < n && there[(pieces[want].addr - at(map)) / PAGE])
				want++;
			assert_int_equal(ahead.mem.read(&ahead.mem, pieces, n), want);
			for (int i = 0; i < want; i++)
				assert_int_equal(dst[i], *(uint64_t *)(uintptr_t)pieces[i].addr);
		}
		for (int i = 0; i < PAGES; i++) { /* before the next walk begins */
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			if (random % 5 == 0) {
				there[i] = !there[i];
				mprotect(map + i * PAGE, PAGE,
					 there[i] ? PROT_READ | PROT_WRITE : PROT_NONE);
			}
			if (there[i])
				memcpy(map + i * PAGE + 64, &random, 8);
		}
	}
	munmap(map, PAGES * PAGE);
}

static void more_than_it_can_hold(void **state)
{
	static uint8_t bytes[200][512];
	uint8_t dst[5000];

	memset(bytes, 7, sizeof(bytes));
	fresh();
	for (int round = 0; round < 3; round++) {
		fah_ahead_begin(&ahead);
		for (int i = 0; i < 200; i++) {
			bytes[i][500] = (uint8_t)(i + round);
			assert_int_equal(fah_load(&ahead.mem, at(bytes[i]), dst, 8), 0);
			assert_int_equal(dst[0], 7);
		}
		assert_int_equal(fah_load(&ahead.mem, at(bytes), dst, 5000), 0);
		assert_memory_equal(dst, bytes, 5000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_walk_needs_no_call),
		cmocka_unit_test(a_longer_piece_is_not_taken_for_a_shorter),
		cmocka_unit_test(what_is_gone_is_not_there),
		cmocka_unit_test(more_than_it_can_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
