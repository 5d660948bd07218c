/* test_strings.c - strbuf, utf8, numbers, JSON, words of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SNAKE "\xf0\x9f\x90\x8d" /* two columns */
#define WIDE "\xe6\x95\xb0"	 /* two columns */
#define ACUTE "e\xcc\x81"	 /* one column, two characters */
#define DOTS "\xe2\x80\xa6"

static void strbuf_grows(void **state)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	size_t i;
	char *taken;

	assert_string_equal(fah_strbuf_str(&sb), "");
	for (i = 0; i < 10007; i++)
		fah_strbuf_addf(&sb, "%zu,", i % 10);
	assert_int_equal(sb.len, 2 * 10007);
	assert_int_equal(strlen(sb.p), sb.len);
	fah_strbuf_truncate(&sb, 3);
	fah_strbuf_addc(&sb, 'x');
	fah_strbuf_fill(&sb, '-', 3);
	fah_strbuf_fill(&sb, '-', 0);
	taken = fah_strbuf_take(&sb);
	assert_string_equal(taken, "0,1x---");
	free(taken);
	taken = fah_strbuf_take(&sb);
	assert_string_equal(taken, "");
	free(taken);
}

static void strbuf_failure_sticks(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_adds(&sb, "kept");
	assert_false(fah_strbuf_reserve(&sb, SIZE_MAX));
	fah_strbuf_adds(&sb, "lost");
	assert_string_equal(fah_strbuf_str(&sb), "kept");
	assert_true(sb.failed);
	assert_null(fah_strbuf_take(&sb));
}

static void printable_is_safe(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	static const char evil[] = "a\x1b[2J\n\t\\ \xff" WIDE "\xc2\x9b"
				   "1m\xe2\x80\xae!";

	fah_strbuf_add_printable(&sb, evil, sizeof(evil) - 1);
	assert_string_equal(fah_strbuf_str(&sb),
			    "a\\x1b[2J\\n\\t\\\\ \\xff" WIDE "\\x9b1m\\u202e!");
}

static void decode_valid_and_not(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		int32_t c;
		size_t used;
	} cases[] = {
		{"A", 1, 'A', 1},
		{"\0", 1, 0, 1},
		{"\xc3\xbc", 2, 0xfc, 2},
		{"\xc3", 1, -1, 1},		/* cut */
		{"\xc0\x80", 2, -1, 1},		/* overlong */
		{"\xe0\x80\xaf", 3, -1, 1},	/* overlong */
		{"\xf0\x80\x80\xaf", 4, -1, 1}, /* overlong */
		{"\xed\xa0\x80", 3, -1, 1},	/* a surrogate */
		{"\xf4\x90\x80\x80", 4, -1, 1}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", 4, -1, 1},
		{"\x80", 1, -1, 1},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4},
		{SNAKE, 4, 0x1f40d, 4},
	};
	size_t i, used;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(fah_utf8_decode(cases[i].s, cases[i].len, &used), cases[i].c);
		assert_int_equal(used, cases[i].used);
	}
}

static size_t width(const char *s)
{
	return fah_utf8_width(s, strlen(s));
}

static void widths(void **state)
{
	assert_int_equal(width(""), 0);
	assert_int_equal(width("plain"), 5);
	assert_int_equal(width("gr\xc3\xb6\xc3\x9f"
			       "e"),
			 5);
	assert_int_equal(width(WIDE SNAKE), 4);
	assert_int_equal(width(ACUTE), 1);
	assert_int_equal(width("\xff\xfe"), 2);
	assert_int_equal(width("\xe2\x80\x8b"), 0); /* zero width space */
	assert_int_equal(width("\xef\xbc\xa1"), 2); /* fullwidth A */
	assert_int_equal(width("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"),
			 2);					/* one syllable in parts */
	assert_int_equal(width("\xe2\x94\x82\xe2\x96\x88"), 2); /* our own box and block */
	assert_int_equal(width("\xc2\xad"), 1);			/* soft hyphen */
	assert_int_equal(width("\x1b\n"), 0);
}

static const char *cut(struct fah_strbuf *sb, const char *s, size_t columns, bool ascii)
{
	fah_strbuf_truncate(sb, 0);
	fah_utf8_cut(sb, s, strlen(s), columns, ascii);
	return fah_strbuf_str(sb);
}

static const char *cut_tail(struct fah_strbuf *sb, const char *s, size_t columns, bool ascii)
{
	fah_strbuf_truncate(sb, 0);
	fah_utf8_cut_tail(sb, s, strlen(s), columns, ascii);
	return fah_strbuf_str(sb);
}

static void cutting(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	assert_string_equal(cut(&sb, "abcdef", 6, false), "abcdef");
	assert_string_equal(cut(&sb, "abcdef", 5, false), "abcd" DOTS);
	assert_string_equal(cut(&sb, "abcdef", 5, true), "ab...");
	assert_string_equal(cut(&sb, "abcdef", 2, true), "..");
	assert_string_equal(cut(&sb, "abcdef", 0, false), "");
	assert_string_equal(cut(&sb, WIDE WIDE WIDE, 4, false), WIDE DOTS);
	assert_string_equal(cut(&sb, ACUTE ACUTE "xyz", 3, false), ACUTE ACUTE DOTS);
	assert_string_equal(cut_tail(&sb, "/home/me/x.py", 6, false), DOTS "/x.py");
	assert_string_equal(cut_tail(&sb, "/home/me/x.py", 7, true), "...x.py");
	assert_string_equal(cut_tail(&sb, "ab" ACUTE "xy", 3, false), DOTS "xy");
}

/* Whatever the text, a cut never exceeds its columns, and never splits a valid character. */
static void cutting_fits(void **state)
{
	static const char *const parts[] = {"a",    WIDE,	SNAKE,	   ACUTE,
					    "\xff", "\xcc\x81", "\xe6\x95"};
	_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	unsigned random = 12345, round, i, columns;

	for (round = 0; round < 300; round++) {
		fah_strbuf_truncate(&text, 0);
		for (i = 0; i < 12; i++) {
			random = random * 1103515245 + 12345;
			fah_strbuf_adds(&text, parts[(random >> 16) % 7]);
		}
		for (columns = 0; columns < 16; columns++) {
			assert_true(width(cut(&sb, text.p, columns, round & 1)) <= columns);
			assert_true(width(cut_tail(&sb, text.p, columns, round & 1)) <= columns);
		}
	}
}

static void padding_and_ascii(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_utf8_pad_left(&sb, WIDE, 3, 4);
	fah_strbuf_addc(&sb, '|');
	fah_utf8_pad_right(&sb, "ab", 2, 4);
	fah_strbuf_addc(&sb, '|');
	fah_utf8_pad_left(&sb, "long", 4, 2);
	fah_strbuf_addc(&sb, '|');
	fah_utf8_to_ascii(&sb, "x" WIDE ACUTE "\xc3\xbc", 1 + 3 + 3 + 2);
	assert_string_equal(sb.p, WIDE "  |  ab|long|x??e?");
}

static void numbers(void **state)
{
	assert_string_equal(fah_num_bytes(0).s, "0 bytes");
	assert_string_equal(fah_num_bytes(1).s, "1 byte");
	assert_string_equal(fah_num_bytes(999).s, "999 bytes");
	assert_string_equal(fah_num_bytes(1000).s, "1.000 kB");
	assert_string_equal(fah_num_bytes(767800000).s, "767.800 MB");
	assert_string_equal(fah_num_bytes(1706000000).s, "1.706 GB");
	assert_string_equal(fah_num_bytes(999999499).s, "999.999 MB");
	assert_string_equal(fah_num_bytes(999999500).s, "1.000 GB");
	assert_string_equal(fah_num_bytes(UINT64_MAX).s, "18446.744 PB");
	assert_string_equal(fah_num_bytes_short(610400000).s, "610 MB");
	assert_string_equal(fah_num_bytes_short(999600).s, "1 MB");
	assert_string_equal(fah_num_seconds(9.3084).s, "9.308 seconds");
	assert_string_equal(fah_num_seconds(0.9996).s, "1.000 seconds");
	assert_string_equal(fah_num_seconds(-0.0015).s, "-0.002 seconds");
	assert_string_equal(fah_num_seconds((double)NAN).s, "? seconds");
	assert_string_equal(fah_num_seconds_short(10.21).s, "10.210s");
	assert_string_equal(fah_num_duration(123.4).s, "123 s");
	assert_string_equal(fah_num_duration(1.2).s, "1.20 s");
	assert_string_equal(fah_num_duration(0.99951).s, "1.00 s");
	assert_string_equal(fah_num_duration(0.00203).s, "2.03 ms");
	assert_string_equal(fah_num_duration(0.0000452).s, "45.2 us");
	assert_string_equal(fah_num_duration(0.000000999).s, "999 ns");
	assert_string_equal(fah_num_duration(0).s, "0.00 ns");
	assert_string_equal(fah_num_percent(0.70591).s, "70.59%");
	assert_string_equal(fah_num_percent(1).s, "100.00%");
	assert_string_equal(fah_num_hz(250.01).s, "250 Hz");
	assert_string_equal(fah_num_hz(249.83).s, "249.8 Hz");
	assert_string_equal(fah_num_count(0).s, "0");
	assert_string_equal(fah_num_count(999).s, "999");
	assert_string_equal(fah_num_count(1234567).s, "1,234,567");
	assert_string_equal(fah_num_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void json(void **state)
{
	_cleanup_(fah_freep) char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	struct fah_json j;

	fah_json_init(&j, f);
	fah_json_begin_object(&j);
	fah_json_key(&j, "text");
	fah_json_str(&j, "a\"b\\\n\x01\xff" WIDE);
	fah_json_key(&j, "list");
	fah_json_begin_array(&j);
	fah_json_u64(&j, UINT64_MAX);
	fah_json_i64(&j, -1);
	fah_json_double(&j, 0.1);
	fah_json_double(&j, 1e300);
	fah_json_double(&j, (double)INFINITY);
	fah_json_bool(&j, true);
	fah_json_str(&j, NULL);
	fah_json_begin_object(&j);
	fah_json_end_object(&j);
	fah_json_end_array(&j);
	fah_json_end_object(&j);
	assert_int_equal(fah_json_finish(&j), 0);
	fclose(f);
	assert_string_equal(text, "{\n"
				  "  \"text\": \"a\\\"b\\\\\\n\\u0001\xef\xbf\xbd" WIDE "\",\n"
				  "  \"list\": [\n"
				  "    18446744073709551615,\n"
				  "    -1,\n"
				  "    0.1,\n"
				  "    1e+300,\n"
				  "    null,\n"
				  "    true,\n"
				  "    null,\n"
				  "    {}\n"
				  "  ]\n"
				  "}\n");
}

static void every_error_has_words(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	int err;

	for (err = FAH_ERR_NOMEM; err >= FAH_ERR_SPECIAL; err--) {
		assert_non_null(fah_err_text(err));
		assert_string_not_equal(fah_err_text(err), "");
		assert_string_not_equal(fah_err_text(err), "unknown error");
		assert_non_null(fah_err_advice(err));
	}
	assert_string_equal(fah_err_text(FAH_ERR_SPECIAL - 1), "unknown error");
	assert_string_equal(fah_err_text(0), "unknown error");
	fah_err_describe(&sb, FAH_ERR_SYS, ENOSPC);
	assert_non_null(strstr(sb.p, "No space left on device; free some space"));
	fah_strbuf_truncate(&sb, 0);
	fah_err_describe(&sb, FAH_ERR_SYS, EACCES);
	assert_string_equal(sb.p, "Permission denied");
}

static size_t apart(const char *a, const char *b)
{
	size_t d = fah_nearest_distance(a, strlen(a), b, strlen(b));

	assert_int_equal(d, fah_nearest_distance(b, strlen(b), a, strlen(a)));
	return d;
}

static void names_have_distances(void **state)
{
	char longest[256];

	(void)state;
	assert_int_equal(apart("", ""), 0);
	assert_int_equal(apart("", "abc"), 3);
	assert_int_equal(apart("advanced.py", "Advanced.PY"), 0);
	assert_int_equal(apart("advanecd", "advanced"), 1); /* swapped */
	assert_int_equal(apart("outptu", "output"), 1);
	assert_int_equal(apart("kitten", "sitting"), 3);
	assert_int_equal(apart("ca", "abc"), 3); /* no letter is touched twice */
	assert_int_equal(apart("run", "rnu.py"), 4);
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(fah_nearest_distance(longest, 254, "", 0), 254);
	assert_int_equal(fah_nearest_distance(longest, 254, longest, 254), 0);
	assert_int_equal(fah_nearest_distance(longest, 255, longest, 255), FAH_NEAREST_FAR);
}

/* What debug information names is normal, and below no folder that it does not name. */
static void normal_paths(void **state)
{
	static const char *const cases[][2] = {
		{"./csu/../csu/libc-start.c", "./csu/libc-start.c"},
		{"./nptl/pthread_self.c", "./nptl/pthread_self.c"},
		{"a.c", "a.c"},
		{"a//b/./c.c", "a/b/c.c"},
		{"../../up/./x.c", "../../up/x.c"},
		{"a/../../x.c", "../x.c"},
		{"./../x.c", "./../x.c"},
		{"a/..", ""},
		{"[vdso]", "[vdso]"},
		{"/build/./a/../b.c", "/build/b.c"},
		{"", ""},
	};
	struct fah_arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(fah_path_normal(&arena, cases[i][0]), cases[i][1]);
	assert_string_equal(fah_path_absolute(&arena, "/home/me", "../you/./a.py"),
			    "/home/you/a.py");
	fah_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_distances),
		cmocka_unit_test(strbuf_grows),
		cmocka_unit_test(strbuf_failure_sticks),
		cmocka_unit_test(printable_is_safe),
		cmocka_unit_test(decode_valid_and_not),
		cmocka_unit_test(widths),
		cmocka_unit_test(cutting),
		cmocka_unit_test(cutting_fits),
		cmocka_unit_test(padding_and_ascii),
		cmocka_unit_test(numbers),
		cmocka_unit_test(normal_paths),
		cmocka_unit_test(json),
		cmocka_unit_test(every_error_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
