/*
 * Loops over made bytes: iterators of each kind on a frame's stack as 3.12, 3.14 and 3.15 keep
 * them, one in another, in generators; and over memory that is wrong in every way
 * (cpython_image.h).
 */
#include "cpython_image.h"

#include "cpython/loops.h"

#include <stdlib.h>

#define FRAME (BASE + 1024)
#define CODE (BASE + 4096)
#define GENERATOR (BASE + 6144)
#define LOCALS 3u
#define ROOM 12u
#define MAX 8u

static struct image image[1];
static const struct fah_mem mem = {read_image, (uintptr_t)image};

static int clear(void **state)
{
	(void)state;
	memset(image, 0, sizeof(image));
	return 0;
}

static const struct fah_py_iterators types = {
	.list = BASE + 16,
	.tuple = BASE + 32,
	.range_iterator = BASE + 48,
	.list_iterator = BASE + 64,
	.tuple_iterator = BASE + 80,
	.dict_keys = BASE + 96,
	.dict_values = BASE + 112,
	.dict_items = BASE + 128,
	.enumerate = BASE + 144,
	.map = BASE + 160,
	.zip = BASE + 176,
};
#define GENERATOR_TYPE (BASE + 192)

/* The versions that differ: where the top of the stack stands, tags, tuples, indices. */
static const uint32_t versions[] = {0x030c0000, 0x030d0000, 0x030e0000, 0x030f0000};

/* A layout of our own, with every field that is used at another place. */
static struct fah_py_layout layout_of(uint32_t version)
{
	return (struct fah_py_layout){
		.version_hex = version,
		.ob_type = 8,
		.f_code = 0,
		.f_stack = 56,
		.f_localsplus = 72,
		.co_nlocalsplus = 68,
		.co_stacksize = 72,
		.code_tag_mask = version >= 0x030e0000 ? 1 : 0,
		.gen_type = GENERATOR_TYPE,
		.gen_iframe = 64,
	};
}

/* A frame whose stack has these places; up to 3.13 it may not say how many. */
static void frame_at(const struct fah_py_layout *l, uint64_t frame, const uint64_t *places,
		     uint32_t n, bool says)
{
	uint64_t stack = frame + l->f_localsplus + 8 * (uint64_t)LOCALS;

	put(image, frame + l->f_code, CODE | l->code_tag_mask, 8);
	put(image, CODE + l->co_nlocalsplus, LOCALS, 4);
	put(image, CODE + l->co_stacksize, ROOM, 4);
	for (uint32_t i = 0; i < n; i++)
		put(image, stack + 8 * (uint64_t)i, places[i], 8);
	if (l->version_hex >= 0x030e0000)
		put(image, frame + l->f_stack, stack + 8 * (uint64_t)n, 8);
	else
		put(image, frame + l->f_stack, says ? LOCALS + n : UINT32_MAX, 4);
}

static uint64_t object(uint64_t at, uint64_t type, const uint64_t *words, uint32_t n)
{
	put(image, at + 8, type, 8);
	for (uint32_t i = 0; i < n; i++)
		put(image, at + 16 + 8 * (uint64_t)i, words[i], 8);
	return at;
}
#define OBJECT(at, type, ...) \
	object(at, type, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* A tuple of that one thing. */
static uint64_t tuple_of(const struct fah_py_layout *l, uint64_t at, uint64_t first)
{
	return l->version_hex < 0x030e0000 ? OBJECT(at, types.tuple, 1, first)
					   : OBJECT(at, types.tuple, 1, UINT64_MAX, first);
}

struct made {
	const char *what;
	uint64_t object;
	struct fah_py_loop loop; /* what: 0, it is the object */
};

#define N_MADE 13

/* Iterators of each kind, under way. */
static void make(const struct fah_py_layout *l, struct made *made)
{
	uint64_t values = OBJECT(BASE + 8192, types.list, 500);
	uint64_t range = OBJECT(BASE + 8320, types.range_iterator, 40, 2, 80);
	struct made all[N_MADE] = {
		{"range", range, {0, -80, 100}},
		{"range down",
		 OBJECT(BASE + 8448, types.range_iterator, 9, (uint64_t)-1, 10),
		 {0, -10, 0}},
		{"list", OBJECT(BASE + 8576, types.list_iterator, 7, values), {0, 7, 500}},
		{"tuple", OBJECT(BASE + 8704, types.tuple_iterator, 3, values), {0, 3, 500}},
		{"keys", OBJECT(BASE + 8832, types.dict_keys, BASE, 60, 9, 0, 51), {0, -51, 60}},
		{"values", OBJECT(BASE + 8960, types.dict_values, BASE, 60, 9, 0, 0), {0, 0, 60}},
		{"items",
		 OBJECT(BASE + 9088, types.dict_items, BASE, UINT64_MAX, 9, 0, 5),
		 {0, -5, 0}},
		{"enumerate", OBJECT(BASE + 9216, types.enumerate, 20, range), {range, -80, 100}},
		{"map",
		 OBJECT(BASE + 9344, types.map, tuple_of(l, BASE + 9472, range)),
		 {range, -80, 100}},
		{"zip",
		 OBJECT(BASE + 9600, types.zip, 2, tuple_of(l, BASE + 9728, range)),
		 {range, -80, 100}},
		{"zip of enumerate",
		 OBJECT(BASE + 9856, types.zip, 1,
			tuple_of(l, BASE + 9984, OBJECT(BASE + 10112, types.enumerate, 20, range))),
		 {range, -80, 100}},
		{"used up", OBJECT(BASE + 10240, types.list_iterator, 500, 0), {0, 0, -1}},
		{"another", OBJECT(BASE + 10368, BASE + 208, 1, 2, 3), {0, 0, -1}},
	};

	memcpy(made, all, sizeof(all));
}

static void expect(const struct made *made, const struct fah_py_loop *found)
{
	assert_int_equal(found->what, made->loop.what ? made->loop.what : made->object);
	assert_int_equal(found->at, made->loop.at);
	assert_int_equal(found->length, made->loop.length);
}

static void test_each_kind(void **state)
{
	struct fah_py_loop found[MAX];
	struct made made[N_MADE];

	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++)
		for (size_t i = 0; i < N_MADE; i++) {
			struct fah_py_layout l = layout_of(versions[v]);
			uint32_t n;

			memset(image, 0, sizeof(*image));
			make(&l, made);
			/* below it something that is no loop, above it arguments of a call */
			frame_at(&l, FRAME, (const uint64_t[]){0, BASE + 12288, made[i].object, 0},
				 4, true);
			n = fah_py_loops(&mem, &l, &types, FRAME, found, MAX);
			assert_int_equal(n, made[i].loop.length >= 0);
			if (n)
				expect(&made[i], &found[0]);
		}
}

/* Outermost first, in a generator too, and no more than there is room for. */
static void test_nests(void **state)
{
	struct fah_py_loop found[MAX];
	struct made made[N_MADE];

	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		struct fah_py_layout l = layout_of(versions[v]);
		bool tags = versions[v] >= 0x030e0000;

		memset(image, 0, sizeof(*image));
		make(&l, made);
		OBJECT(GENERATOR, GENERATOR_TYPE, 0);
		frame_at(&l, GENERATOR + l.gen_iframe, (const uint64_t[]){made[4].object}, 1, true);
		/* a borrowed reference is one with its lowest bit set */
		frame_at(&l, FRAME,
			 (const uint64_t[]){made[0].object | (tags ? 1 : 0), GENERATOR,
					    made[2].object},
			 3, true);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 3);
		expect(&made[0], &found[0]);
		expect(&made[4], &found[1]);
		expect(&made[2], &found[2]);
		for (uint32_t max = 0; max < 3; max++)
			assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, max), max);
		/* a generator that goes through itself */
		frame_at(&l, GENERATOR + l.gen_iframe, (const uint64_t[]){GENERATOR}, 1, true);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 2);
	}
}

/* Up to 3.13 a frame that is in C code does not say how high its stack is: all of its room is read.
 */
static void test_top_not_said(void **state)
{
	struct fah_py_loop found[MAX];
	struct made made[N_MADE];
	struct fah_py_layout l = layout_of(0x030c0000);

	(void)state;
	make(&l, made);
	frame_at(&l, FRAME, (const uint64_t[]){made[0].object}, 1, false);
	put(image, FRAME + l.f_localsplus + 8 * (uint64_t)(LOCALS + ROOM - 1), made[2].object, 8);
	put(image, FRAME + l.f_localsplus + 8 * (uint64_t)(LOCALS + ROOM), made[4].object, 8);
	assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 2);
	expect(&made[0], &found[0]);
	expect(&made[2], &found[1]);
}

/* From 3.15 on lists and tuples have no iterator: the index stands above them, a tagged number. */
static void test_indexed(void **state)
{
	struct fah_py_loop found[MAX];
	struct fah_py_layout l = layout_of(0x030f0000);
	uint64_t list;

	(void)state;
	list = OBJECT(BASE + 8192, types.list, 500);
	frame_at(&l, FRAME, (const uint64_t[]){list, 41u << 2 | 3}, 2, true);
	assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 1);
	assert_int_equal(found[0].what, list);
	assert_int_equal(found[0].at, 41);
	assert_int_equal(found[0].length, 500);
	/* an argument, and the last place of all, with what was above it once */
	frame_at(&l, FRAME, (const uint64_t[]){list, list}, 2, true);
	assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
	frame_at(&l, FRAME, (const uint64_t[]){list, 41u << 2 | 3}, 1, true);
	assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
	l = layout_of(0x030e0000);
	frame_at(&l, FRAME, (const uint64_t[]){list, 41u << 2 | 3}, 2, true);
	assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
}

/* Numbers that cannot be: no loop, rather than a wrong one. */
static void test_impossible(void **state)
{
	struct fah_py_loop found[MAX];

	(void)state;
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		struct fah_py_layout l = layout_of(versions[v]);
		uint64_t bad = OBJECT(BASE + 8192, types.list, (uint64_t)-1);
		const uint64_t objects[] = {
			OBJECT(BASE + 8320, types.range_iterator, 0, 1, (uint64_t)-1),
			OBJECT(BASE + 8448, types.range_iterator, 0, 1, UINT64_MAX / 2),
			OBJECT(BASE + 8576, types.list_iterator, 0, bad),
			OBJECT(BASE + 8704, types.list_iterator, 0, BASE + SIZE),
			OBJECT(BASE + 8832, types.dict_items, BASE, 9, 0, 0, (uint64_t)-1),
			OBJECT(BASE + 8960, types.zip, 1, OBJECT(BASE + 9088, types.tuple, 0)),
			OBJECT(BASE + 9216, types.enumerate, 0, BASE + 9216),
			BASE + SIZE - 8,
			BASE + 3,
		};

		for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
			frame_at(&l, FRAME, &objects[i], 1, true);
			assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
		}
		/* code whose numbers are nonsense; a top below the stack, or above its room */
		uint64_t good = OBJECT(BASE + 9344, types.range_iterator, 0, 1, 9);

		frame_at(&l, FRAME, &good, 1, true);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 1);
		put(image, CODE + l.co_stacksize, 70000, 4);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
		frame_at(&l, FRAME, &good, 1, true);
		put(image, FRAME + l.f_stack, versions[v] < 0x030e0000 ? LOCALS - 1 : FRAME, 8);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
		put(image, FRAME + l.f_stack,
		    versions[v] < 0x030e0000 ? LOCALS + ROOM + 1 : BASE + 16384, 8);
		assert_int_equal(fah_py_loops(&mem, &l, &types, FRAME, found, MAX), 0);
	}
}

static void test_any_bytes(void **state)
{
	struct fah_py_loop *found = calloc(MAX, sizeof(*found)); /* ASan sees one too many */
	unsigned long all = 0;

	(void)state;
	assert_non_null(found);
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++)
		for (uint64_t seed = 1; seed <= 2000; seed++) {
			struct fah_py_layout l = layout_of(versions[v]);
			uint32_t n;

			fill(image, seed);
			for (uint64_t at = 0; at < SIZE; at += 16) /* types that are known, often */
				if (next(&image->seed) % 2)
					put(image, BASE + at + 8,
					    BASE + 16 + next(&image->seed) % 12 * 16, 8);
			put(image, FRAME + l.f_code, CODE, 8);
			put(image, CODE + l.co_nlocalsplus, LOCALS, 4);
			put(image, CODE + l.co_stacksize, next(&image->seed) % 100, 4);
			put(image, FRAME + l.f_stack,
			    versions[v] < 0x030e0000
				    ? LOCALS + next(&image->seed) % 40
				    : FRAME + l.f_localsplus + next(&image->seed) % 40 * 8,
			    8);
			image->fail_one_in = seed % 5 ? 0 : 20;
			n = fah_py_loops(&mem, &l, &types, FRAME, found, MAX);
			assert_in_range(n, 0, MAX);
			assert_true(image->reads < 20000);
			all += n;
		}
	assert_true(all > 1000);
	free(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_each_kind, clear),
		cmocka_unit_test_setup(test_nests, clear),
		cmocka_unit_test_setup(test_top_not_said, clear),
		cmocka_unit_test_setup(test_indexed, clear),
		cmocka_unit_test_setup(test_impossible, clear),
		cmocka_unit_test_setup(test_any_bytes, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
