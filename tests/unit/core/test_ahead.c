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
	struct link links[12];

	memset(links, 0, sizeof(links));
	for (int i = 0; i < 11; i++)
		links[i] = (struct link){.next = &links[i + 1], .value = 1};
	fresh();
	assert_int_equal(walk(links), 11);
	assert_int_equal(calls, 12);
	assert_int_equal(walk(links), 11);
	assert_int_equal(calls, 12);
	/* what changed is seen, and only what is new costs a call */
	links[3].value = 100;
	links[5].next = &links[10];
	assert_int_equal(walk(links), 11 + 99 - 4);
	assert_int_equal(calls, 12);
	links[5].next = &links[6];
	assert_int_equal(walk(links), 11 + 99);
	assert_int_equal(calls, 12 + 4);
}

#define FRAMES 400

/* Frames on a heap whose order changes from walk to walk, as in a deep recursion. */
static void what_cannot_be_foreseen_is_read_by_pages(void **state)
{
	static struct link heap[FRAMES] __attribute__((aligned(PAGE)));
	uint64_t random = 88172645463325252ull;
	int pages = (int)(sizeof(heap) / PAGE) + 1;
	int order[FRAMES];

	for (int i = 0; i < FRAMES; i++)
		order[i] = i;
	fresh();
	for (int round = 0; round < 50; round++) {
		for (int i = FRAMES - 1; i > 0; i--) {
			int other, was = order[i];

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			other = (int)(random % (unsigned)(i + 1));
			order[i] = order[other];
			order[other] = was;
		}
		for (int i = 0; i < FRAMES; i++)
			heap[order[i]] = (struct link){
				.next = i + 1 < FRAMES ? &heap[order[i + 1]] : NULL,
				.value = (uint64_t)(round * FRAMES + order[i]),
			};
		calls = 0;
		assert_int_equal(walk(&heap[order[0]]),
				 FRAMES * (round * FRAMES) + FRAMES * (FRAMES - 1) / 2);
		assert_in_range(calls, 1, FAH_AHEAD_MISSES + 1 + pages);
	}
}

/* A piece that ends in the next page; a page that is not there; the highest addresses. */
static void pages_have_ends(void **state)
{
	uint8_t *map =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t dst[100];

	assert_ptr_not_equal(map, MAP_FAILED);
	mprotect(map + 2 * PAGE, PAGE, PROT_NONE);
	for (int i = 0; i < 2 * PAGE; i++)
		map[i] = (uint8_t)(i * 7);
	fresh();
	fah_ahead_begin(&ahead);
	ahead.misses = FAH_AHEAD_MISSES + 1;
	for (int from = PAGE - 100; from <= 2 * PAGE - 100; from++) {
		assert_int_equal(fah_load(&ahead.mem, at(map) + (uint64_t)from, dst, 100), 0);
		assert_memory_equal(dst, map + from, 100);
	}
	assert_int_equal(calls, 2);
	assert_true(fah_load(&ahead.mem, at(map) + 2 * PAGE - 99, dst, 100) < 0);
	assert_true(fah_load(&ahead.mem, UINT64_MAX - 50, dst, 100) < 0);
	assert_true(fah_load(&ahead.mem, 0, dst, 8) < 0);
	munmap(map, 3 * PAGE);
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
		cmocka_unit_test(what_cannot_be_foreseen_is_read_by_pages),
		cmocka_unit_test(pages_have_ends),
		cmocka_unit_test(a_longer_piece_is_not_taken_for_a_shorter),
		cmocka_unit_test(what_is_gone_is_not_there),
		cmocka_unit_test(more_than_it_can_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
