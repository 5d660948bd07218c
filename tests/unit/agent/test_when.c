/* test_when.c - the times of samples whose account is behind: in order, evenly spread, and each
 * that of the CPU it stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/when.h"

#define MS 1000000ull

/* 4 ms of CPU in each 40 ms of a busy machine, never blocked, and three samples behind. */
static void they_are_evenly_spread(void **state)
{
	struct fah_when w;
	uint64_t last = 0, upto = 0;

	fah_when_begin(&w, 1000 * MS, 0);
	for (uint64_t i = 1; i <= 100; i++) {
		uint64_t then;

		fah_when_add(&w, (1000 + 40 * i) * MS, 4 * MS * i, i == 1);
		if (i <= 3)
			continue;
		assert_true(fah_when_ran_on(&w, upto, 4 * MS * (i - 3)) == (i > 4));
		upto = 4 * MS * (i - 3);
		then = fah_when_used(&w, upto);
		assert_int_equal(then, (1000 + 40 * (i - 3)) * MS);
		assert_true(!last || then - last == 40 * MS);
		last = then;
		/* half way between two points is half way in time */
		assert_int_equal(then - fah_when_used(&w, upto - 2 * MS),
				 i == 4 ? 2 * MS : 20 * MS);
	}
}

/* Who blocked ran just before the later point, and never before the earlier one. */
static void who_blocked_ran_last(void **state)
{
	struct fah_when w;

	fah_when_begin(&w, 1000 * MS, 10 * MS);
	fah_when_add(&w, 1100 * MS, 14 * MS, true);
	fah_when_add(&w, 1140 * MS, 18 * MS, false);
	assert_int_equal(fah_when_used(&w, 12 * MS), 1098 * MS);
	assert_int_equal(fah_when_used(&w, 16 * MS), 1120 * MS);
	assert_int_equal(fah_when_used(&w, 18 * MS), 1140 * MS);
	assert_int_equal(fah_when_used(&w, 99 * MS), 1140 * MS);
	assert_int_equal(fah_when_used(&w, 9 * MS), 1000 * MS);
	/* which samples ran on is what their CPU says, not when they were taken */
	assert_true(fah_when_ran_on(&w, 14 * MS, 18 * MS));
	assert_true(fah_when_ran_on(&w, 15 * MS, 16 * MS));
	assert_false(fah_when_ran_on(&w, 12 * MS, 16 * MS));
	assert_false(fah_when_ran_on(&w, 11 * MS, 13 * MS));
	assert_false(fah_when_ran_on(&w, 9 * MS, 10 * MS));
	/* clocks that disagree by a little */
	fah_when_add(&w, 1140 * MS + 10, 18 * MS + 30, false);
	assert_int_equal(fah_when_used(&w, 18 * MS + 5), 1140 * MS);
}

/* What is farther back than is kept: not before the first point that is, and not known. */
static void what_is_not_kept(void **state)
{
	struct fah_when w;

	fah_when_begin(&w, 0, 0);
	for (uint64_t i = 1; i <= 1000; i++)
		fah_when_add(&w, 10 * i, 5 * i, false);
	assert_int_equal(fah_when_used(&w, 5 * 990 + 1), 9902);
	assert_int_equal(fah_when_used(&w, 5), 10 * (1001 - FAH_WHEN_POINTS));
	assert_false(fah_when_ran_on(&w, 5, 5000));
	assert_true(fah_when_ran_on(&w, 4990, 5000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_evenly_spread),
		cmocka_unit_test(who_blocked_ran_last),
		cmocka_unit_test(what_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
