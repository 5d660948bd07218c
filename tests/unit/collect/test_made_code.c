/*
 * test_made_code.c - the list of the GDB JIT interface, and the agent's of registered .eh_frame,
 * read out of a process: whole ones, and such as lead in circles, lie about lengths or change while
 * they are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../native/made_image.h"
#include "collect/made_code.h"
#include "core/segment.h"
#include "native/made.h"

#include <stdbool.h>

#define CODE 0x7f0000001010ull
#define N 4

/* The process is this one; what is read of it stays inside these. */
static struct {
	struct {
		uint32_t version, action;
		uint64_t relevant, first;
	} descriptor;
	struct entry {
		uint64_t next, prev, image, len;
	} entries[N];
	struct made_image images[N];
	struct fah_registered registered;
	struct made_frames frames[N];
	uint8_t page[4096]; /* sections are read to the end of their pages */
} list;
static bool changes; /* an entry, when its image has been read */
static unsigned reads;

static int read_list(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	uint64_t from = (uintptr_t)&list;

	(void)mem;
	assert_int_equal(n, 1);
	assert_true(++reads < 1000000);
	if (pieces->addr < from || pieces->addr - from > sizeof(list) ||
	    pieces->len > sizeof(list) - (pieces->addr - from))
		return 0;
	memcpy(pieces->dst, (void *)(uintptr_t)pieces->addr, pieces->len);
	if (changes && pieces->addr == (uintptr_t)&list.images[1])
		list.entries[1].image = 0;
	return 1;
}
static const struct fah_mem process = {read_list, 0};

static int set_up(void **state)
{
	(void)state;
	memset(&list, 0, sizeof(list));
	changes = false;
	reads = 0;
	list.descriptor.version = 1;
	list.descriptor.first = (uintptr_t)&list.entries[0];
	for (int i = 0; i < N; i++) {
		char name[] = "made 0";

		name[5] = (char)('0' + i);
		made_image_init(&list.images[i], name, CODE + 4096u * (unsigned)i, 0);
		list.entries[i].image = (uintptr_t)&list.images[i];
		list.entries[i].len = sizeof(list.images[i]);
		list.entries[i].next = i + 1 < N ? (uintptr_t)&list.entries[i + 1] : 0;
	}
	return 0;
}

/* Which of the functions are known, by name: a bit for each. */
static unsigned known(void)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	unsigned bits = 0;

	assert_int_equal(fah_made_code_list(&process, (uintptr_t)&list.descriptor, &made), 0);
	fah_made_sort(&made);
	for (size_t i = 0; i < made.n_symbols; i++) {
		assert_memory_equal(made.symbols[i].name, "made ", 5);
		assert_int_equal(made.symbols[i].start,
				 CODE + 4096u * (unsigned)(made.symbols[i].name[5] - '0'));
		bits |= 1u << (made.symbols[i].name[5] - '0');
	}
	return bits;
}

static void test_whole(void **state)
{
	assert_int_equal(known(), 0xf);
}

static void test_empty(void **state)
{
	list.descriptor.first = 0;
	assert_int_equal(known(), 0);
}

static void test_another_version(void **state)
{
	list.descriptor.version = 2;
	assert_int_equal(known(), 0);
}

static void test_circle(void **state)
{
	list.entries[N - 1].next = (uintptr_t)&list.entries[1];
	list.entries[1].len = list.entries[2].len = list.entries[3].len = 0;
	assert_int_equal(known(), 1);
}

static void test_nowhere(void **state)
{
	list.entries[2].next = 8;
	assert_int_equal(known(), 0x7);
}

static void test_lengths(void **state)
{
	list.entries[0].len = UINT64_MAX;
	list.entries[1].len = sizeof(list) + 1;
	list.entries[2].len = 0;
	assert_int_equal(known(), 0x8);
}

static size_t known_frames(void)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};

	assert_int_equal(fah_made_code_frames(&process, (uintptr_t)&list.registered, &made), 0);
	fah_made_sort(&made);
	return made.eh.n_fdes;
}

static void test_registered(void **state)
{
	assert_int_equal(known_frames(), 0);
	for (unsigned i = 0; i < N; i++) {
		made_frames_init(&list.frames[i], CODE + 4096u * i);
		list.registered.at[i] = (uintptr_t)&list.frames[i];
	}
	assert_int_equal(known_frames(), 0);
	list.registered.n = N;
	assert_int_equal(known_frames(), N);
	list.registered.at[1] = 0; /* given back */
	assert_int_equal(known_frames(), N - 1);
	list.registered.at[1] = 8; /* a lie */
	list.registered.n = FAH_FRAMES_MAX;
	assert_int_equal(known_frames(), N - 1);
	list.registered.n = FAH_FRAMES_MAX + 1;
	assert_int_equal(known_frames(), 0);
}

/* A table has the addresses of sections, and a 0 behind. */
static void test_tables(void **state)
{
	uint64_t *table = (uint64_t *)(void *)list.page;

	for (unsigned i = 0; i < N; i++) {
		made_frames_init(&list.frames[i], CODE + 4096u * i);
		table[i] = (uintptr_t)&list.frames[i];
	}
	list.registered.n = 1;
	list.registered.at[0] = (uintptr_t)table | FAH_FRAMES_TABLE;
	assert_int_equal(known_frames(), N);
	list.registered.at[0] |= FAH_FRAMES_KEPT_BACK;
	assert_int_equal(known_frames(), N);
	table[1] = 8; /* a lie */
	assert_int_equal(known_frames(), N - 1);
	table[2] = 0;
	assert_int_equal(known_frames(), 1);
	list.registered.at[0] = 8 | FAH_FRAMES_TABLE;
	assert_int_equal(known_frames(), 0);
	/* the same one over and over, without an end: bounded */
	list.registered.n = FAH_FRAMES_MAX;
	for (size_t i = 0; i < sizeof(list.page) / 8; i++)
		table[i] = (uintptr_t)&list.frames[0];
	for (uint32_t i = 0; i < FAH_FRAMES_MAX; i++)
		list.registered.at[i] = (uintptr_t)table | FAH_FRAMES_TABLE;
	assert_int_equal(known_frames(), 1);
}

static void test_changes_meanwhile(void **state)
{
	changes = true;
	assert_int_equal(known(), 0xd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, set_up),
		cmocka_unit_test_setup(test_empty, set_up),
		cmocka_unit_test_setup(test_another_version, set_up),
		cmocka_unit_test_setup(test_circle, set_up),
		cmocka_unit_test_setup(test_nowhere, set_up),
		cmocka_unit_test_setup(test_lengths, set_up),
		cmocka_unit_test_setup(test_changes_meanwhile, set_up),
		cmocka_unit_test_setup(test_registered, set_up),
		cmocka_unit_test_setup(test_tables, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
