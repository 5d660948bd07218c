/* test_memory.c - arena and maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/map.h"

#include <stdio.h>
#include <string.h>

static void arena_zeroed_aligned_apart(void **state)
{
	_cleanup_(fah_arena_release) struct fah_arena a = FAH_ARENA_INIT;
	char *previous = NULL;
	size_t i, k;

	for (i = 0; i < 5003; i++) {
		size_t size = i % 97 == 0 ? 300000 : i % 61;
		char *p = fah_arena_alloc(&a, size);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_ptr_not_equal(p, previous);
		for (k = 0; k < size; k++)
			if (p[k]) /* assert_* for each byte would take a second */
				fail();
		memset(p, 0xaa, size);
		previous = p;
	}
	assert_null(fah_arena_array(&a, SIZE_MAX / 2, 3));
	assert_null(fah_arena_alloc(&a, SIZE_MAX - 4));
	assert_string_equal(fah_arena_strdup(&a, "text"), "text");
	assert_string_equal(fah_arena_strndup(&a, "text", 2), "te");
	assert_string_equal(fah_arena_strndup(&a, NULL, 0), "");
	fah_arena_release(&a);
	assert_int_equal(a.used, 0);
	assert_non_null(fah_arena_alloc(&a, 1));
}

/* Dense ids are what the map is for; 200,003 of them must all be found, with their own value. */
static void map_of_nodes(void **state)
{
	_cleanup_(fah_map_release) struct fah_map m = FAH_MAP_INIT;
	uint32_t i, n = 200003, *v;
	bool is_new;

	assert_null(fah_map_get(&m, fah_key_u64(0)));
	for (i = 0; i < n; i++) {
		v = fah_map_put(&m, fah_key_u32x4(i / 3, i % 3, i % 101, 0), &is_new);
		assert_non_null(v);
		assert_true(is_new);
		assert_int_equal(*v, 0);
		*v = i + 1;
	}
	assert_int_equal(m.n, n);
	for (i = 0; i < n; i++) {
		v = fah_map_put(&m, fah_key_u32x4(i / 3, i % 3, i % 101, 0), &is_new);
		if (is_new || *v != i + 1)
			fail();
	}
	assert_int_equal(m.n, n);
	assert_null(fah_map_get(&m, fah_key_u32x4(0, 3, 0, 0)));
}

/* Linear probing is only fast while keys spread: no key may be far from its own place. */
static void map_spreads(void **state)
{
	static const uint64_t steps[] = {1, 8, 4096, 1ull << 20, 1ull << 32, 1ull << 44};
	size_t s, i;

	for (s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		_cleanup_(fah_map_release) struct fah_map m = FAH_MAP_INIT;
		size_t far = 0;

		for (i = 0; i < 40000; i++)
			assert_non_null(fah_map_put(&m, fah_key_u64(i * steps[s]), NULL));
		for (i = 0; i <= m.mask; i++)
			if (m.slots[i].used && ((i - fah_key_hash(m.slots[i].key)) & m.mask) > 64)
				far++;
		assert_int_equal(far, 0);
	}
}

static void strmap_keys(void **state)
{
	_cleanup_(fah_strmap_release) struct fah_strmap m = FAH_STRMAP_INIT;
	const char *kept;
	uint32_t *v, i;
	char key[32];
	bool is_new;

	assert_null(fah_strmap_get(&m, "a", 1));
	for (i = 0; i < 20011; i++) {
		size_t len = (size_t)snprintf(key, sizeof(key), "key-%u", i);

		v = fah_strmap_put(&m, key, len, &is_new, &kept);
		assert_non_null(v);
		assert_true(is_new);
		assert_string_equal(kept, key);
		assert_ptr_not_equal(kept, key);
		*v = i;
	}
	for (i = 0; i < 20011; i++) {
		size_t len = (size_t)snprintf(key, sizeof(key), "key-%u", i);

		v = fah_strmap_get(&m, key, len);
		if (!v || *v != i)
			fail();
	}
	/* Keys are bytes: NUL counts, and the empty key is a key. */
	*fah_strmap_put(&m, "a\0b", 3, NULL, NULL) = 1;
	*fah_strmap_put(&m, "a\0c", 3, NULL, NULL) = 2;
	*fah_strmap_put(&m, NULL, 0, NULL, NULL) = 3;
	assert_int_equal(*fah_strmap_get(&m, "a\0b", 3), 1);
	assert_int_equal(*fah_strmap_get(&m, "a\0c", 3), 2);
	assert_int_equal(*fah_strmap_get(&m, "", 0), 3);
	assert_null(fah_strmap_get(&m, "a", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_zeroed_aligned_apart),
		cmocka_unit_test(map_of_nodes),
		cmocka_unit_test(map_spreads),
		cmocka_unit_test(strmap_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
