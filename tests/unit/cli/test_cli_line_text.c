/* test_cli_line_text.c - a line that is edited: characters of several bytes stay whole. */
#include "cli/line_text.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void moves(void **state)
{
	struct fah_line_text l = {.s = FAH_STRBUF_INIT};

	(void)state;
	assert_int_equal(fah_line_text_before(&l, 0), 0);
	assert_int_equal(fah_line_text_behind(&l, 0), 0);
	fah_line_text_replace(&l, "a\xc3\xa4\xf0\x9f\x90\x8d");
	assert_int_equal(l.at, 7);
	assert_int_equal(fah_line_text_before(&l, 7), 3);
	assert_int_equal(fah_line_text_before(&l, 3), 1);
	assert_int_equal(fah_line_text_before(&l, 1), 0);
	assert_int_equal(fah_line_text_behind(&l, 0), 1);
	assert_int_equal(fah_line_text_behind(&l, 1), 3);
	assert_int_equal(fah_line_text_behind(&l, 3), 7);
	assert_int_equal(fah_line_text_behind(&l, 7), 7);
	fah_strbuf_release(&l.s);
}

static void edits(void **state)
{
	struct fah_line_text l = {.s = FAH_STRBUF_INIT};

	(void)state;
	fah_line_text_cut(&l, 0, 0);
	assert_string_equal(fah_line_text_str(&l), "");
	fah_line_text_insert(&l, "sort ", 5);
	fah_line_text_insert(&l, "time", 4);
	l.at = 5;
	fah_line_text_insert(&l, "na ", 3);
	assert_string_equal(fah_line_text_str(&l), "sort na time");
	assert_int_equal(l.at, 8);
	assert_int_equal(fah_line_text_word(&l), 5);
	fah_line_text_cut(&l, 5, 8);
	assert_string_equal(fah_line_text_str(&l), "sort time");
	assert_int_equal(l.at, 5);
	assert_int_equal(fah_line_text_word(&l), 0);
	fah_line_text_cut(&l, 4, 9);
	assert_string_equal(fah_line_text_str(&l), "sort");
	fah_line_text_replace(&l, "x");
	assert_string_equal(fah_line_text_str(&l), "x");
	fah_strbuf_release(&l.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(moves), cmocka_unit_test(edits)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
