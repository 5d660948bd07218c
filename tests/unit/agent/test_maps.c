/*
 * test_maps.c - the list of mappings where it is hard to reach from outside: a fork in the middle
 * of a change, another thread that gets a place at once, a kernel that refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The functions under test stand in front of nobody here. */
#define mmap under_test_mmap
#define mmap64 under_test_mmap64
#define munmap under_test_munmap
#define mremap under_test_mremap
#include <sys/mman.h>

#include "../../../src/agent/heap_map.c"

static uint64_t lost, held, taken[64]; /* the last ones */
static uint32_t n_taken;
static void *answer; /* of the kernel that is played */
static uint64_t next_place;

_Atomic bool fah_heap_on = true;
FAH_HEAP_TLS struct fah_heap_thread fah_heap_thread;

void fah_heap_lost(uint64_t n)
{
	lost += n;
}

void fah_heap_mapped(void *at, uint64_t bytes)
{
	(void)at;
	held += bytes;
}

void fah_heap_unmapped(uint64_t bytes, uint64_t number)
{
	held -= bytes;
	if (number)
		taken[n_taken++ % 64] = number;
}

/* Each mapping is recorded, by its address. */
uint64_t fah_heap_table_take(const void *block)
{
	return (uint64_t)(uintptr_t)block;
}

static void *play_map(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	(void)addr, (void)len, (void)prot, (void)flags, (void)fd, (void)offset;
	return (void *)(uintptr_t)next_place;
}

static void *play_remap(void *addr, size_t len, size_t new_len, int flags, ...)
{
	(void)addr, (void)len, (void)new_len, (void)flags;
	return answer;
}

void *fah_real(const char *name)
{
	return strcmp(name, "mremap") ? (void *)(uintptr_t)play_map : (void *)(uintptr_t)play_remap;
}

static void *map_at(uint64_t place, size_t len)
{
	next_place = place;
	return under_test_mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
}

static int clean(void **state)
{
	(void)state;
	n_regions = n_taken = 0;
	lost = held = 0;
	changing = false;
	return 0;
}

static void fork_in_a_change(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		map_at(i << 20, 4096);
	atomic_store(&locked, true); /* by a thread that waits for the kernel */
	fah_heap_maps_forked();
	assert_int_equal(n_regions, 5);
	assert_int_equal(lost, 0);
	atomic_store(&locked, true);
	changing = true;
	fah_heap_maps_forked();
	assert_int_equal(n_regions, 0);
	assert_int_equal(lost, 5);
	assert_false(changing || atomic_load(&locked));
	map_at(1 << 20, 4096); /* no wait for who is not there, and counted again */
	assert_int_equal(n_regions, 1);
}

static void moved(void **state)
{
	void *p = map_at(1 << 20, 10000);

	(void)state;
	answer = (void *)(uintptr_t)(9 << 20);
	assert_ptr_equal(under_test_mremap(p, 10000, 20000, MREMAP_MAYMOVE), answer);
	assert_int_equal(held, 20000);
	assert_int_equal(n_taken, 1);
	assert_int_equal(taken[0], 1 << 20);
	assert_int_equal(n_regions, 1);
	assert_int_equal(regions[0].start, 9 << 20);
}

static void refused(void **state)
{
	void *p = map_at(1 << 20, 10000);

	(void)state;
	answer = MAP_FAILED;
	assert_ptr_equal(under_test_mremap(p, 10000, 20000, 0), MAP_FAILED);
	assert_int_equal(held, 10000);
	assert_int_equal(n_taken, 0);
	assert_int_equal(regions[0].start, 1 << 20);
	assert_false(atomic_load(&locked));
}

static void old_place_stays(void **state)
{
	void *p = map_at(1 << 20, 8192);

	(void)state;
	answer = (void *)(uintptr_t)(9 << 20);
	under_test_mremap(p, 8192, 8192, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	assert_int_equal(held, 2 * 8192);
	assert_int_equal(n_regions, 2);
	under_test_mremap(p, 0, 8192, MREMAP_MAYMOVE); /* the same memory once more */
	assert_int_equal(held, 2 * 8192);
}

/* One move takes more mappings, side by side, than there is room to tell of one by one. */
static void many_at_once(void **state)
{
	uint32_t n = PIECES_MAX + 4;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		map_at((1 << 20) + i * 4096, 4096);
	answer = (void *)(uintptr_t)(9 << 20);
	under_test_mremap((void *)(uintptr_t)(1 << 20), n * 4096, 4096, MREMAP_MAYMOVE);
	assert_int_equal(held, 4096);
	assert_int_equal(n_regions, 1);
	assert_int_equal(n_taken, PIECES_MAX);
	assert_int_equal(lost, 4);
}

static void no_room(void **state)
{
	void *p;

	(void)state;
	for (uint64_t i = 0; i < REGIONS_MAX; i++)
		map_at((1ull << 30) + i * 4 * 4096, 3 * 4096);
	assert_int_equal(lost, 0);
	map_at(1 << 20, 4096);
	assert_int_equal(lost, 1);
	assert_int_equal(held, REGIONS_MAX * 3ull * 4096);
	/* two parts of one, where only one has room: all but that is let go */
	p = (void *)(uintptr_t)((1ull << 30) + 4096);
	unmapped((uint64_t)(uintptr_t)p, 4096);
	assert_int_equal(lost, 2);
	assert_int_equal(n_regions, REGIONS_MAX);
	assert_int_equal(held, REGIONS_MAX * 3ull * 4096 - 2 * 4096);
}

enum { STEPS = 200000, SPACE = 64, LONGEST = 9 }; /* the latter two: pages */

/* What a program has mapped, page by page. */
struct model {
	uint32_t owner[SPACE];	   /* 0: nobody */
	uint64_t bytes[STEPS + 1]; /* of each mapping that are held */
	uint32_t left[STEPS + 1];  /* pages */
	uint32_t n;
	uint64_t held, ended;
};

static uint64_t place_of(uint32_t page)
{
	return (1ull << 30) + page * 4096ull;
}

static void model_map(struct model *m, uint32_t from, uint32_t to, uint64_t bytes)
{
	m->bytes[++m->n] = bytes;
	m->left[m->n] = to - from;
	m->held += bytes;
	for (uint32_t page = from; page < to; page++)
		m->owner[page] = m->n;
}

static void model_unmap(struct model *m, uint32_t from, uint32_t to)
{
	for (uint32_t page = from; page < to; page++) {
		uint32_t owner = m->owner[page];
		uint64_t bytes;

		m->owner[page] = 0;
		if (!owner)
			continue;
		bytes = m->left[owner] > 1 ? 4096 : m->bytes[owner];
		m->bytes[owner] -= bytes;
		m->held -= bytes;
		m->ended += !--m->left[owner];
	}
}

/* Whether one may be mapped there: nothing is, and none that is there in part began there, for then
 * nobody could tell them apart. */
static bool is_free(const struct model *m, uint32_t from, uint32_t to)
{
	for (uint32_t page = from; page < to; page++)
		if (m->owner[page])
			return false;
	for (uint32_t i = 0; i < n_regions; i++)
		if (regions[i].first == place_of(from))
			return false;
	return true;
}

/* Mapped beside each other and given back in whole, in parts and across each other, against a list
 * of pages. */
static void against_pages(void **state)
{
	static struct model m;
	uint64_t random = 88172645463325252u;

	(void)state;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t from, to;
		uint64_t len;

		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		from = (uint32_t)(random % SPACE);
		to = from + 1 + (uint32_t)(random >> 16) % LONGEST;
		to = to < SPACE ? to : SPACE;
		len = (to - from) * 4096ull - (random >> 32) % 4096;
		if (is_free(&m, from, to)) {
			map_at(place_of(from), len);
			model_map(&m, from, to, len);
		} else {
			unmapped(place_of(from), len);
			model_unmap(&m, from, to);
		}
		assert_int_equal(held, m.held);
		assert_int_equal(n_taken, m.ended);
		for (uint32_t i = 1; i < n_regions; i++)
			assert_true(regions[i].end <= regions[i - 1].start);
	}
	assert_true(m.ended > 10000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fork_in_a_change, clean),
		cmocka_unit_test_setup(moved, clean),
		cmocka_unit_test_setup(refused, clean),
		cmocka_unit_test_setup(old_place_stays, clean),
		cmocka_unit_test_setup(many_at_once, clean),
		cmocka_unit_test_setup(no_room, clean),
		cmocka_unit_test_setup(against_pages, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
