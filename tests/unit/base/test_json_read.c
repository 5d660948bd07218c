/*
 * test_json_read.c - what JSON reads as, and where and why text that is none is refused.
 */
#include "base/json_read.h"
#include "core/err.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fah_arena arena;

static int release(void **state)
{
	(void)state;
	fah_arena_release(&arena);
	return 0;
}

/* From a block of exactly that length: a read behind its end is seen by the sanitizers. */
static int read_text(const char *text, const struct fah_json_value **ret,
		     struct fah_json_error *error)
{
	size_t len = strlen(text);
	char *copy = fah_arena_alloc(&arena, len);

	memcpy(copy, text, len);
	return fah_json_read(&arena, copy, len, ret, error);
}

static const struct fah_json_value *good(const char *text)
{
	const struct fah_json_value *v = NULL;
	struct fah_json_error error = {0, 0, ""};

	if (read_text(text, &v, &error) != 0)
		fail_msg("%s: %zu:%zu: %s", text, error.line, error.column, error.what);
	return v;
}

static void values(void **state)
{
	const struct fah_json_value *v = good(
		" {\"a\": [1, -2.5e3, true, false, null, {}], \"b\": \"x\", \"a\\u0062\": []}\n");
	const struct fah_json_value *list = fah_json_get(v, "a"), *item;

	(void)state;
	assert_int_equal(v->type, FAH_JSON_OBJECT);
	assert_int_equal(v->n, 3);
	assert_int_equal(list->n, 6);
	item = list->first;
	assert_true(item->type == FAH_JSON_NUMBER && item->number == 1);
	item = item->next;
	assert_true(item->number == -2500);
	item = item->next;
	assert_true(item->type == FAH_JSON_BOOL && item->truth);
	item = item->next;
	assert_true(item->type == FAH_JSON_BOOL && !item->truth);
	item = item->next;
	assert_int_equal(item->type, FAH_JSON_NULL);
	item = item->next;
	assert_true(item->type == FAH_JSON_OBJECT && !item->first && !item->next);
	assert_true(fah_json_is(fah_json_get(v, "b"), "x"));
	assert_false(fah_json_is(fah_json_get(v, "b"), "xy"));
	assert_non_null(fah_json_get(v, "ab"));
	assert_null(fah_json_get(v, "c"));
	assert_null(fah_json_get(list, "a"));
	assert_false(fah_json_is(fah_json_get(NULL, "a"), "x"));
	assert_true(isnan(good("NaN")->number));
	assert_true(good("Infinity")->number > 1e308 && good("-Infinity")->number < -1e308);
	assert_true(good("\xef\xbb\xbf 0")->number == 0);
}

static void strings(void **state)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{"\"\"", ""},
		{"\"plain \xc3\xa9\"", "plain \xc3\xa9"},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
		{"\"\\u00e9\\u20AC\"", "\xc3\xa9\xe2\x82\xac"},
		{"\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!"},
		{"\"\\ud83d\"", "\xef\xbf\xbd"},
		{"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
				       "A"},
		{"\"\\ude00\"", "\xef\xbf\xbd"},
	};
	const struct fah_json_value *v;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(fah_json_is(good(cases[i].json), cases[i].text));
	v = good("\"a\\u0000b\"");
	assert_int_equal(v->string.len, 3);
	assert_memory_equal(v->string.p, "a\0b", 3);
	v = good("{\"k\": 1, \"k\": 2}");
	assert_true(fah_json_get(v, "k")->number == 2);
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		size_t line, column;
		const char *what;
	} cases[] = {
		{"", 1, 1, "a value is missing"},
		{"hello", 1, 1, "a value is missing"},
		{"[1,\n 2", 2, 3, "a comma or ] is missing"},
		{"{\"a\": 1 \"b\": 2}", 1, 9, "a comma or } is missing"},
		{"{\"a\" 1}", 1, 6, "a colon is missing"},
		{"{a: 1}", 1, 2, "a key in quotes is missing"},
		{"[1,]", 1, 4, "a value is missing"},
		{"\"abc", 1, 2, "a string that does not end"},
		{"\"ab\\", 1, 2, "a string that does not end"},
		{"\"a\nb\"", 1, 3, "a control character inside a string"},
		{"\"\\x\"", 1, 4, "a backslash that means nothing"},
		{"\"\\u12\"", 1, 4, "a backslash that means nothing"},
		{"1.2.3", 1, 1, "a number that is none"},
		{"[.5]", 1, 2, "a number that is none"},
		{"[tru]", 1, 2, "a value is missing"},
		{"{} {}", 1, 4, "something behind the end"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct fah_json_value *v = NULL;
		struct fah_json_error error = {0, 0, ""};

		if (read_text(cases[i].text, &v, &error) != FAH_ERR_FORMAT)
			fail_msg("%s was read", cases[i].text);
		assert_null(v);
		if (strcmp(error.what, cases[i].what) || error.line != cases[i].line ||
		    error.column != cases[i].column)
			fail_msg("%s: %zu:%zu: %s", cases[i].text, error.line, error.column,
				 error.what);
	}
}

static void deep(void **state)
{
	char text[2 * FAH_JSON_DEPTH + 8];
	const struct fah_json_value *v;
	struct fah_json_error error;

	(void)state;
	for (int extra = 0; extra < 2; extra++) {
		int n = FAH_JSON_DEPTH + extra;

		memset(text, '[', (size_t)n);
		memset(text + n, ']', (size_t)n);
		text[2 * n] = 0;
		assert_int_equal(read_text(text, &v, &error), extra ? FAH_ERR_FORMAT : 0);
	}
	assert_string_equal(error.what, "too many brackets inside each other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(values, release),
		cmocka_unit_test_teardown(strings, release),
		cmocka_unit_test_teardown(refused, release),
		cmocka_unit_test_teardown(deep, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
