/*
 * What 3.13 and later say of themselves, as they say it and with wrong numbers in it: refused, or
 * such that no walk over any memory does harm (ASan). Seeds are fixed.
 */
#include "cpython_image.h"

#include <stdlib.h>

#define WORDS 128

/* What 3.13.0, 3.14.8 and 3.15.0 say; behind it 0. */
/* clang-format off */
static const uint64_t tables[][WORDS] = {
	{0x7970677562656478ull, 0x030d00f0, 0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400,
	 7656, 7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0,
	 56, 72, 70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24,
	 16, 40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200},
	{0x7970677562656478ull, 0x030e08f0, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360,
	 7408, 7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232,
	 32, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8,
	 416, 24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24,
	 40, 16, 32, 64, 32, 16, 40, 264, 192, 160, 24, 72, 67},
	{0x7970677562656478ull, 0x030f00f0, 0, 346568, 912, 936, 226240, 7272, 7264, 7336, 7352,
	 7400, 7592, 7576, 7584, 16, 7736, 0, 7752, 7744, 7944, 0, 888, 0, 8, 16, 72, 80, 88, 96,
	 176, 184, 256, 32, 36, 40, 136, 288, 0, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128,
	 136, 68, 52, 96, 104, 208, 0, 16, 8, 424, 24, 88, 168, 32, 288, 944, 888, 40, 32, 16, 40,
	 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 56,
	 176, 112, 120, 1112, 104, 160, 24, 72, 67},
};
/* clang-format on */

static void put_table(struct image *image, const uint64_t *table)
{
	for (uint64_t i = 0; i < WORDS; i++)
		put(image, BASE + i * 8, table[i], 8);
}

static void right_tables(void **state)
{
	static const uint32_t frame_at[] = {72, 72, 72}, name_at[] = {120, 120, 120},
			      iframe_at[] = {0, 72, 72};
	struct image *image = calloc(1, sizeof(*image));
	struct fah_py_layout layout;

	(void)state;
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		put_table(image, tables[i]);
		assert_int_equal(fah_py_layout_init(&layout, &mem, (uint32_t)tables[i][1], BASE),
				 0);
		assert_int_equal(layout.ts_frame, frame_at[i]);
		assert_int_equal(layout.co_name, name_at[i]);
		if (iframe_at[i])
			assert_int_equal(layout.gen_iframe, iframe_at[i]);
	}
	free(image);
}

/* One number of a right table, then another: most are only a little wrong. */
static void one_wrong_number(void **state)
{
	struct fah_py_walk *walk = calloc(1, sizeof(*walk));
	struct image *image = calloc(1, sizeof(*image));
	unsigned long refused = 0, accepted = 0;
	struct fah_py_layout layout;

	(void)state;
	assert_non_null(walk);
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (size_t word = 0; word < WORDS; word++) {
			const uint64_t right = tables[i][word];
			const uint64_t wrong[] = {right + 8,  right - 8,  right + 1,
						  0,	      1u << 20,	  UINT32_MAX - 7,
						  1ull << 32, UINT64_MAX, 256};

			for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
				image->fail_one_in = 0;
				put_table(image, tables[i]);
				put(image, BASE + word * 8, wrong[k], 8);
				if (fah_py_layout_init(&layout, &mem, (uint32_t)tables[i][1],
						       BASE) < 0) {
					refused++;
					continue;
				}
				accepted++;
				layout.code_type = layout.gen_type = BASE + 64;
				layout.coro_type = layout.asyncgen_type = BASE + 64;
				for (uint64_t seed = 1; seed <= 5; seed++) {
					fill(image, seed);
					if (seed % 4)
						help(image, &layout, BASE + 64);
					image->fail_one_in = seed % 5 == 0 ? 50 : 0;
					walk_image(walk, &mem, &layout);
				}
			}
		}
	/* neither all nor none: words that we do not use make no difference */
	assert_true(refused > 500 && accepted > 500);
	free(walk);
	free(image);
}

/* _Py_DebugOffsets is untrusted: tables of random numbers are refused. */
static void random_tables(void **state)
{
	struct image *image = calloc(1, sizeof(*image));
	struct fah_py_layout layout;
	unsigned long accepted = 0;

	(void)state;
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (uint32_t minor = 13; minor <= 15; minor++) {
		uint32_t hex = 0x030000f0 | minor << 16;

		for (uint64_t seed = 1; seed <= 3000; seed++) {
			uint64_t r;

			fill(image, seed);
			for (uint64_t i = 0; i < 128; i++) { /* mostly plausible numbers */
				r = next(&image->seed);
				put(image, BASE + i * 8,
				    r % 50 == 0 ? r
				    : r % 3	? r % 32 * 8
						: 100000,
				    8);
			}
			put(image, BASE, 0x7970677562656478ull, 8);
			put(image, BASE + 8, hex, 8);
			put(image, BASE + 16, 0, 8);
			if (fah_py_layout_init(&layout, &mem, hex, BASE) == 0)
				accepted++;
		}
		put(image, BASE + 16, 1, 8); /* free-threaded */
		assert_int_equal(fah_py_layout_init(&layout, &mem, hex, BASE),
				 FAH_ERR_UNKNOWN_PYTHON);
		put(image, BASE + 16, 0, 8);
		put(image, BASE + 8, hex + 0x100, 8); /* of another version */
		assert_int_equal(fah_py_layout_init(&layout, &mem, hex, BASE),
				 FAH_ERR_UNKNOWN_PYTHON);
	}
	assert_int_equal(accepted, 0);
	assert_int_equal(fah_py_layout_init(&layout, &mem, 0x030712f0, BASE),
			 FAH_ERR_UNKNOWN_PYTHON);
	assert_int_equal(fah_py_layout_init(&layout, &mem, 0x031000f0, BASE),
			 FAH_ERR_UNKNOWN_PYTHON);
	assert_int_equal(fah_py_layout_init(&layout, &mem, 0x030d00a1, BASE),
			 FAH_ERR_UNKNOWN_PYTHON);
	assert_int_equal(fah_py_layout_init(&layout, &mem, 0x030b02f0, BASE), 0);
	assert_int_equal(layout.lines_kind, FAH_PY_LINES_311);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_tables),
		cmocka_unit_test(one_wrong_number),
		cmocka_unit_test(random_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
