/*
 * test_histogram.c - every duration has one bucket, which begins where fah_hist_from says and is
 * at most a quarter wide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/histogram.h"

static void begins_where_it_says(void **state)
{
	for (uint32_t i = 1; i < FAH_HIST_BUCKETS; i++) {
		uint64_t from = fah_hist_from(i);

		assert_int_equal(fah_hist_bucket(from), i);
		assert_int_equal(fah_hist_bucket(from - 1), i - 1);
		assert_true(from > fah_hist_from(i - 1));
		if (i + 1 < FAH_HIST_BUCKETS)
			assert_true(fah_hist_from(i + 1) - from <= from / 4);
	}
}

static void ends(void **state)
{
	assert_int_equal(fah_hist_bucket(0), 0);
	assert_int_equal(fah_hist_bucket(255), 0);
	assert_int_equal(fah_hist_bucket(256), 1);
	assert_int_equal(fah_hist_bucket(3200000000u), FAH_HIST_BUCKETS - 2);
	assert_int_equal(fah_hist_bucket(3300000000u), FAH_HIST_BUCKETS - 1);
	assert_int_equal(fah_hist_bucket(UINT64_MAX), FAH_HIST_BUCKETS - 1);
	assert_int_equal(fah_hist_from(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_where_it_says),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
