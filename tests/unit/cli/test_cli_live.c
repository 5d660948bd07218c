/* test_cli_live.c - seconds as they are typed, and how much of a text a terminal shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/live_screen.h"

#include <string.h>

static void seconds(void **state)
{
	static const struct {
		const char *text;
		double value; /* 0: none */
	} known[] = {
		{"5", 5},  {"2.5", 2.5}, {"1s", 1},  {"1e3", 1000}, {"100000000", 1e8}, {"0", 0},
		{"-1", 0}, {"", 0},	 {"s", 0},   {"5m", 0},	    {"5 s", 0},		{"1ss", 0},
		{"x5", 0}, {"nan", 0},	 {"inf", 0}, {"2e8", 0},    {"5x", 0},		{"-0", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double value = 77;

		assert_int_equal(fah_parse_seconds(known[i].text, &value), known[i].value > 0);
		assert_true(value == (known[i].value > 0 ? known[i].value : 77));
	}
}

static void fits(const char *text, int columns, int max, const char *wanted, int rows)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	int got = -1;

	assert_int_equal(fah_live_fit(&sb, text, columns, max, &got), !strcmp(text, wanted));
	assert_string_equal(fah_strbuf_str(&sb), wanted);
	assert_int_equal(got, rows);
	fah_strbuf_release(&sb);
}

static void rows(void **state)
{
	(void)state;
	fits("", 10, 5, "", 0);
	fits("one\n\nthree\n", 10, 3, "one\n\nthree\n", 3);
	fits("one\n\nthree\n", 10, 2, "one\n\n", 2);
	fits("0123456789\nx\n", 10, 2, "0123456789\nx\n", 2);
	/* what wraps takes more, and is not cut in the middle */
	fits("0123456789+\nx\n", 10, 2, "0123456789+\n", 2);
	fits("0123456789+\nx\n", 10, 1, "", 0);
	fits("0123456789+\nx\n", 10, 3, "0123456789+\nx\n", 3);
	/* colours take nothing, wide characters two columns */
	fits("\033[31m0123456789\033[0m\nx\n", 10, 2, "\033[31m0123456789\033[0m\nx\n", 2);
	fits("\xe9\x9d\xa2\xe9\x9d\xa2\n", 3, 2, "\xe9\x9d\xa2\xe9\x9d\xa2\n", 2);
	fits("\033[3\n", 3, 1, "\033[3\n", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(seconds), cmocka_unit_test(rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
