/*
 * Walks over memory that is wrong in every way: random, with pointers that lead back into it, cut,
 * failing now and then. Whatever it holds, a walk ends, with a stack or with a doubt, and touches
 * nothing outside its own structures (ASan). Seeds are fixed.
 */
#include "cpython_image.h"

#include <stdlib.h>

static void test_walks_end(void **state)
{
	struct fah_py_walk *walk = calloc(1, sizeof(*walk));
	struct image *image = calloc(1, sizeof(*image));
	unsigned long doubts[FAH_PY_DOUBT_COUNT] = {0};

	(void)state;
	assert_non_null(walk);
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (int version = 0; version < fah_py_known_count; version++) {
		struct fah_py_layout layout = fah_py_known[version].layout;

		layout.code_type = layout.frame_type = layout.gen_type = BASE + 64;
		layout.coro_type = layout.asyncgen_type = BASE + 64;
		for (uint64_t seed = 1; seed <= 400; seed++) {
			fill(image, seed + (uint64_t)version * 1000);
			if (seed % 4)
				help(image, &layout, BASE + 64);
			image->fail_one_in = seed % 5 == 0 ? 50 : 0;
			for (int again = 0; again < 2; again++) /* with the hints of the last */
				doubts[walk_image(walk, &mem, &layout)]++;
		}
		/* a chain that leads back to itself */
		if (layout.frames_kind == FAH_PY_FRAMES_OBJECT) {
			memset(image, 0, sizeof(*image));
			help(image, &layout, BASE + 64);
			put(image, BASE + 4096 + layout.ts_frame, BASE + 8192, 8);
			put(image, BASE + 8192 + layout.ob_type, BASE + 64, 8);
			put(image, BASE + 8192 + layout.f_previous, BASE + 8192, 8);
			put(image, BASE + 8192 + layout.f_code, BASE + 16384, 8);
			put(image, BASE + 8192 + layout.f_instr, 0, 4);
			put(image, BASE + 16384 + layout.ob_type, BASE + 64, 8);
			put(image, BASE + 16384 + layout.co_code, BASE + 20480, 8);
			put(image, BASE + 20480 + layout.ob_size, 100, 8);
			assert_int_equal(fah_py_walk_thread(walk, &mem, &layout, BASE + 4096),
					 FAH_ERR_DOUBT);
			assert_int_equal(walk->doubt, FAH_PY_DOUBT_LOOP);
		}
	}
	assert_true(doubts[FAH_PY_DOUBT_FAULT] > 0 && doubts[FAH_PY_DOUBT_FRAME] > 0 &&
		    doubts[FAH_PY_DOUBT_CODE] > 0);
	free(walk);
	free(image);
}

static void test_strings_and_threads(void **state)
{
	struct image *image = calloc(1, sizeof(*image));
	char buf[64];

	(void)state;
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (int version = 0; version < fah_py_known_count; version++) {
		struct fah_py_layout layout = fah_py_known[version].layout;

		layout.runtime = BASE;
		for (uint64_t seed = 1; seed <= 400; seed++) {
			struct fah_py_code code;
			uint64_t found, data;
			size_t len, cap = seed % sizeof(buf);
			const struct fah_py_gc_code gc = {
				{BASE, BASE + 8}, {{BASE + 8, BASE + 16}}, 1};
			struct fah_py_who who;
			bool collecting;
			char *exact = malloc(cap ? cap : 1); /* ASan sees a byte too many */
			int n;

			assert_non_null(exact);
			fill(image, seed);
			n = fah_py_read_str(&mem, &layout, BASE + seed % 512 * 8, exact, cap);
			assert_true(n <= (int)cap);
			n = fah_py_bytes_span(&mem, &layout, BASE + seed % 512 * 8, 1000, &data,
					      &len);
			assert_true(n < 0 || len <= 1000);
			fah_py_code_read(&mem, &layout, BASE + seed * 16, &code);
			fah_py_find_thread(&mem, &layout, BASE, seed, &found);
			fah_py_gil_holder(&mem, &layout, BASE, &found);
			fah_py_gc_collecting(&mem, &layout, BASE + 4096, &collecting);
			assert_false(fah_py_thread_is(&mem, &layout, 0, 0));
			who = (struct fah_py_who){.pthread_id = seed % 8,
						  .pc = BASE + seed,
						  .sp = BASE + seed * 64,
						  .stack_end = UINT64_MAX,
						  .regs = &found,
						  .n_regs = 1};
			found = seed % 2 ? BASE + seed * 16 : 0;
			fah_py_running(&mem, &layout, BASE, &who, &found);
			fah_py_in_gc(&mem, &layout, BASE + 4096, &who, &gc);
			free(exact);
		}
	}
	free(image);
}

#define ME 0x1234u
#define OTHER 0x5678u
#define MAIN (BASE + 8192)
#define SUB (BASE + 10240)
#define STATE_MAIN (BASE + 20480)
#define STATE_SUB (BASE + 24576)
#define SP (BASE + 28672)

/* Two interpreters, a state in each with frames, which names thread id. 3.10-3.12: at places of the
 * C stack. */
static void two_interpreters(struct image *image, const struct fah_py_layout *l, uint64_t sub_id)
{
	memset(image, 0, sizeof(*image));
	put(image, BASE + l->runtime_interpreters_head, SUB, 8);
	put(image, BASE + l->runtime_interpreters_main, MAIN, 8);
	put(image, SUB + l->interp_next, MAIN, 8);
	put(image, SUB + l->interp_threads_head, STATE_SUB, 8);
	put(image, MAIN + l->interp_threads_head, STATE_MAIN, 8);
	put(image, STATE_SUB + l->ts_interp, SUB, 8);
	put(image, STATE_MAIN + l->ts_interp, MAIN, 8);
	put(image, STATE_SUB + l->ts_thread_id, sub_id, 8);
	put(image, STATE_MAIN + l->ts_thread_id, ME, 8);
	put(image, STATE_SUB + l->ts_frame, BASE + 128, 8);
	put(image, STATE_MAIN + l->ts_frame, BASE + 256, 8);
}

/* Which of the two the thread runs in, as each version leaves it behind. */
static void runs_in(struct image *image, const struct fah_py_layout *l, uint64_t inner,
		    uint64_t outer)
{
	if (l->ts_status != 0) {
		put(image, inner + l->ts_status, 2 | 8, 4);
		put(image, outer + l->ts_status, 2, 4);
	} else if (l->ts_cframe != 0) {
		put(image, inner + l->ts_cframe, SP + 512, 8);
		put(image, outer + l->ts_cframe, SP + 1024, 8);
	} else {
		put(image, SP + 512, inner, 8);
		put(image, SP + 1024, outer, 8);
	}
}

static void test_running(void **state)
{
	struct image *image = calloc(1, sizeof(*image));
	uint64_t regs[1] = {0};
	struct fah_py_who who = {
		.pthread_id = ME, .sp = SP, .stack_end = BASE + SIZE, .regs = regs, .n_regs = 1};

	(void)state;
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	for (int version = 0; version < fah_py_known_count; version++) {
		struct fah_py_layout l = fah_py_known[version].layout;
		uint64_t found;

		l.runtime = BASE;
		for (int from = 0; from < 3; from++) {
			const uint64_t before[] = {0, STATE_SUB, STATE_MAIN};

			two_interpreters(image, &l, ME);
			runs_in(image, &l, STATE_SUB, STATE_MAIN);
			found = before[from];
			assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), 0);
			assert_int_equal(found, STATE_SUB);

			two_interpreters(image, &l, ME);
			runs_in(image, &l, STATE_MAIN, STATE_SUB);
			found = before[from];
			assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), 0);
			assert_int_equal(found, STATE_MAIN);

			/* a state that names the thread which made it, before 3.13 */
			two_interpreters(image, &l, OTHER);
			runs_in(image, &l, STATE_SUB, STATE_MAIN);
			found = before[from];
			assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), 0);
			assert_int_equal(found, l.ts_status ? STATE_MAIN : STATE_SUB);

			/* a loop in the list is no answer */
			put(image, STATE_SUB + l.ts_next, STATE_SUB, 8);
			found = before[from];
			assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found),
					 FAH_ERR_DOUBT);
		}
		/* nothing tells the two apart */
		two_interpreters(image, &l, ME);
		if (l.ts_cframe != 0) {
			put(image, STATE_SUB + l.ts_cframe, BASE + 64, 8);
			put(image, STATE_MAIN + l.ts_cframe, BASE + 72, 8);
		}
		found = STATE_MAIN;
		assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), FAH_ERR_DOUBT);
		/* one interpreter: the state of last time is it, unless it left the list */
		put(image, BASE + l.runtime_interpreters_head, MAIN, 8);
		assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), 0);
		assert_int_equal(found, STATE_MAIN);
		put(image, MAIN + l.interp_threads_head, 0, 8);
		assert_int_equal(fah_py_running(&mem, &l, BASE, &who, &found), 0);
		assert_int_equal(found, 0);
	}
	free(image);
}

static void test_in_gc(void **state)
{
	const struct fah_py_gc_code code = {{100, 200}, {{300, 400}, {500, 600}}, 2};
	const struct fah_py_gc_code unknown = {{100, 200}, {{0, 0}}, 0};
	struct fah_py_layout l = fah_py_known[1].layout;
	struct image *image = calloc(1, sizeof(*image));
	struct fah_py_who who = {.sp = SP, .stack_end = BASE + SIZE, .pc = 700};

	(void)state;
	assert_non_null(image);
	struct fah_mem mem = {read_image, (uintptr_t)image};

	put(image, STATE_MAIN + l.ts_interp, MAIN, 8);
	put(image, MAIN + l.interp_collecting, 1, 4);
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code)); /* an empty stack */
	put(image, SP + 2048, 550, 8);
	assert_true(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &unknown));
	put(image, SP + 1024, 150, 8); /* a finaliser */
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	put(image, SP + 512, 399, 8);
	assert_true(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	who.pc = 199;
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	who.pc = 200;
	put(image, SP + 512, 400, 8); /* just behind */
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	who.pc = 300;
	assert_true(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	put(image, MAIN + l.interp_collecting, 0, 4);
	assert_false(fah_py_in_gc(&mem, &l, STATE_MAIN, &who, &code));
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks_end),
		cmocka_unit_test(test_strings_and_threads),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_in_gc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
