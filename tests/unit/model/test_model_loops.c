/*
 * test_model_loops.c - iterations that a program marked: mean and deviation against those of all
 * single durations, however they were recorded, one by one or together.
 */
#include "build.h"

#include "capture/reader.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%g is not within %g of %g", a, tolerance, b);
}

static uint32_t label(struct build *b, const char *text)
{
	return fah_writer_string(b->w, text, strlen(text));
}

/* 1000 durations of about 200 us behind a first of 40 ms; the records hold 1, 2, 3 … 7 of them. */
static void mean_and_deviation(void **state)
{
	double sum = 0, squares = 0, wall;
	const struct fah_loop *loop;
	struct fah_profile *p;
	struct build b;
	uint32_t thread;
	size_t n;

	build_begin(&b);
	thread = build_thread(&b, build_process(&b, 100, 0), 100, 0);
	struct fah_rec_iterations it = {.thread = thread, .label = label(&b, "x.py:3"), .loop = 7};

	it.count = 1;
	it.wall_ns = 40000000;
	it.cpu_ns = 30000000;
	fah_writer_iterations(b.w, &it);
	for (uint64_t number = 1, size = 1; number <= 1000; number += size, size = size % 7 + 1) {
		if (number + size > 1001)
			size = 1001 - number;
		it.first = number;
		it.count = size;
		it.wall_ns = it.cpu_ns = it.squares = 0;
		for (uint64_t i = 0; i < size; i++) {
			uint64_t ns = 200000 + (uint64_t)(20000 * build_random(&b));

			it.wall_ns += ns;
			it.cpu_ns += ns / 2;
			it.squares += size > 1 ? ns * ns : 0;
			sum += (double)ns / 1e9;
			squares += (double)ns / 1e9 * (double)ns / 1e9;
		}
		fah_writer_iterations(b.w, &it);
	}
	p = build_load(&b, 1000, 500);
	loop = fah_profile_loops(p, &n);
	assert_int_equal(n, 1);
	assert_string_equal(loop->label, "x.py:3");
	assert_int_equal(loop->count, 1001);
	assert_int_equal(loop->rest, 1000);
	assert_int_equal(loop->missing, 0);
	assert_true(loop->has_first);
	near(loop->first_s, 0.04, 1e-12);
	near(loop->first_cpu_s, 0.03, 1e-12);
	wall = sum / 1000;
	near(loop->mean_s, wall, 1e-12);
	near(loop->mean_cpu_s, wall / 2, 1e-8);
	near(loop->sd_s, sqrt((squares - 1000 * wall * wall) / 999), 1e-9);
	fah_profile_free(p);
}

/* The same number in two processes is two loops; what was lost in between is counted. */
static void told_apart(void **state)
{
	const struct fah_loop *loops;
	struct fah_profile *p;
	struct build b;
	uint32_t one, two;
	size_t n;

	build_begin(&b);
	one = build_thread(&b, build_process(&b, 100, 0), 100, 0);
	two = build_thread(&b, build_process(&b, 101, 0), 101, 0);
	struct fah_rec_iterations it = {.label = label(&b, "x.py:3"), .loop = 1, .count = 1};

	it.thread = one;
	it.first = 4;
	it.wall_ns = 1000;
	fah_writer_iterations(b.w, &it);
	it.first = 9;
	it.wall_ns = 3000;
	fah_writer_iterations(b.w, &it);
	it.thread = two;
	it.first = 0;
	fah_writer_iterations(b.w, &it);
	it.loop = 2;
	fah_writer_iterations(b.w, &it);
	p = build_load(&b, 1000, 500);
	loops = fah_profile_loops(p, &n);
	assert_int_equal(n, 3);
	assert_int_equal(loops[0].process, 0);
	assert_false(loops[0].has_first);
	assert_int_equal(loops[0].count, 2);
	assert_int_equal(loops[0].missing, 8);
	near(loops[0].mean_s, 2e-6, 1e-15);
	near(loops[0].sd_s, sqrt(2) * 1e-6, 1e-12);
	assert_int_equal(loops[1].process, 1);
	assert_true(loops[1].has_first);
	assert_int_equal(loops[1].rest, 0);
	assert_int_equal(loops[2].number, 2);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_deviation),
		cmocka_unit_test(told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
