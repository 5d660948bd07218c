/*
 * test_model_source_text.c - which cookie counts, and what becomes of the bytes.
 * check_source_text.py compares the encodings with Python's own.
 */
#include "build.h"

#include "model/source_text.h"

static void reads(const char *bytes, size_t len, const char *expected)
{
	char *data = malloc(len + 1);

	assert_non_null(data);
	memcpy(data, bytes, len);
	data[len] = '\0';
	assert_int_equal(fah_source_text_decode(&data, &len), 0);
	assert_int_equal(len, strlen(data));
	assert_string_equal(data, expected);
	free(data);
}

static void same(const char *bytes)
{
	reads(bytes, strlen(bytes), bytes);
}

#define READS(bytes, expected) reads(bytes, sizeof(bytes) - 1, expected)
#define CYCLE "\xf6\xe8\xea\xeb" /* in cp1251 */
#define UTF8_CYCLE "\xd1\x86\xd0\xb8\xd0\xba\xd0\xbb"

static void cookies_count(void **state)
{
	READS("# -*- coding: cp1251 -*-\n# " CYCLE, "# -*- coding: cp1251 -*-\n# " UTF8_CYCLE);
	READS("#!/usr/bin/python\n# vim: set fileencoding=Windows-1251 :\n" CYCLE,
	      "#!/usr/bin/python\n# vim: set fileencoding=Windows-1251 :\n" UTF8_CYCLE);
	READS("\r\n \t\f# coding\n", "\r\n \t\f# coding\n");
	READS("\r\n \t\f#coding=cp1251\n" CYCLE, "\r\n \t\f#coding=cp1251\n" UTF8_CYCLE);
	READS("\r#coding:cp1251\r" CYCLE, "\r#coding:cp1251\r" UTF8_CYCLE);
	READS("# coding coding:, coding=cp1251\n" CYCLE,
	      "# coding coding:, coding=cp1251\n" UTF8_CYCLE);
	READS("# coding:cp1251\n# coding: koi8-r\n" CYCLE,
	      "# coding:cp1251\n# coding: koi8-r\n" UTF8_CYCLE);
	READS("# coding: Latin-1-unix\n\xe9", "# coding: Latin-1-unix\n\xc3\xa9");
}

static void others_do_not(void **state)
{
	same("");
	same("#");
	same("# coding:");
	same("# coding: utf-8\n" UTF8_CYCLE);
	same("# coding: ascii\n" CYCLE);
	same("# coding: nobody-knows\n" CYCLE);
	same("# coding: "
	     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	same("# coding: ---\n" CYCLE);
	same("x = 1 # coding: cp1251\n" CYCLE);
	same("x = 1\n# coding: cp1251\n" CYCLE);
	same("\n\n# coding: cp1251\n" CYCLE);
	same("# Coding: cp1251\n" CYCLE);
}

static void byte_order_mark(void **state)
{
	READS("\xef\xbb\xbf# coding: cp1251\n" UTF8_CYCLE, "# coding: cp1251\n" UTF8_CYCLE);
	READS("\xef\xbb\xbf", "");
	same("\xef\xbb");
}

static void several_bytes(void **state)
{
	READS("# coding: gbk\n# \xd1\xad\xbb\xb7", "# coding: gbk\n# \xe5\xbe\xaa\xe7\x8e\xaf");
	/* a backslash as the second byte, and half a character at the end */
	READS("# coding: shift_jis\n\x94\x5c\x94", "# coding: shift_jis\n\xe8\x83\xbd\xef\xbf\xbd");
	/* what has no meaning stays one character for each byte */
	READS("# coding: gbk\n\xff\x81\n", "# coding: gbk\n\xef\xbf\xbd\xef\xbf\xbd\n");
	READS("# coding: cp1252\n\x81", "# coding: cp1252\n\xef\xbf\xbd");
	/* four bytes, above U+FFFF and below; three bytes */
	READS("# coding: gb18030\n\x94\x39\xda\x33|\x81\x30\x81\x30",
	      "# coding: gb18030\n\xf0\x9f\x92\xa9|\xef\xbf\xbd");
	READS("# coding: gb18030\n\xfe\x39\xfe\x39", "# coding: gb18030\n\xef\xbf\xbd");
	READS("# coding: euc-jp\n\x8e\xb1|\x8f\xb0\xa1|",
	      "# coding: euc-jp\n\xef\xbd\xb1|\xef\xbf\xbd|");
}

static void line_ends(void **state)
{
	static const struct {
		const char *bytes, *expected;
	} cases[] = {
		{"", ""},
		{"a\nb", "a\nb"},
		{"a\r\nb\r\n", "a\nb\n"},
		{"a\rb\r\r", "a\nb\n\n"},
		{"\r\n\r\n\n\r", "\n\n\n\n"},
		{"x \\\r\nx", "x \\\nx"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *data = strdup(cases[i].bytes);
		size_t len;

		assert_non_null(data);
		len = strlen(data);
		fah_source_text_newlines(data, &len);
		assert_int_equal(len, strlen(data));
		assert_string_equal(data, cases[i].expected);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_count),   cmocka_unit_test(others_do_not),
		cmocka_unit_test(byte_order_mark), cmocka_unit_test(several_bytes),
		cmocka_unit_test(line_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
