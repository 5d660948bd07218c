/* test_toml.c - what the referee (check_toml.py) cannot see: places, look-ups, limits, locales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/toml.h"
#include "core/err.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const struct fah_toml *get(const struct fah_toml *table, const char *key)
{
	const struct fah_toml *v = fah_toml_get(table, key);

	assert_non_null(v);
	return v;
}

static void every_key_knows_its_place(void **state)
{
	static const char text[] = "# first\r\n"
				   "'\xc3\xa9' = 1\n"
				   "[tool.a]\n"
				   "  root = \"\"\"x\n"
				   "y\"\"\"\n"
				   "  '\xc3\xa9'.list = [ 1,\n"
				   "    {deep = 2} ]\n"
				   "[tool]\n"
				   "[[tool.many]]\n"
				   "[[tool.many]]\n"
				   "b = 1";
	_cleanup_(fah_toml_release) struct fah_toml_doc doc = {0};
	const struct fah_toml *tool, *a, *list, *many;
	struct fah_toml_error error;

	(void)state;
	assert_int_equal(fah_toml_parse(&doc, text, strlen(text), &error), 0);
	assert_int_equal(get(&doc.root, "\xc3\xa9")->at.line, 2);
	tool = get(&doc.root, "tool");
	assert_int_equal(tool->at.line, 8); /* its own header, not the way to [tool.a] */
	a = get(tool, "a");
	assert_int_equal(a->at.line, 3);
	assert_int_equal(a->at.column, 7);
	assert_int_equal(get(a, "root")->at.line, 4);
	assert_int_equal(get(a, "root")->at.column, 3);
	assert_string_equal(get(a, "root")->string.s, "x\ny");
	list = get(get(a, "\xc3\xa9"), "list");
	assert_int_equal(list->at.line, 6);
	assert_int_equal(list->at.column, 7);
	assert_int_equal(list->items.n, 2);
	assert_int_equal(list->items.first->at.column, 16);
	assert_int_equal(list->items.last->at.line, 7);
	assert_int_equal(get(list->items.last, "deep")->at.column, 6);
	many = get(tool, "many");
	assert_int_equal(many->items.n, 2);
	assert_int_equal(many->items.last->at.line, 10);
	assert_int_equal(get(many->items.last, "b")->at.line, 11);
	assert_null(fah_toml_get(&doc.root, "absent"));
	assert_null(fah_toml_get(list, "absent"));
}

static void what_is_too_much_is_refused(void **state)
{
	struct fah_toml_doc doc = {0};
	struct fah_toml_error error;
	_cleanup_(fah_freep) char *text = malloc(FAH_TOML_MAX + 1);

	(void)state;
	assert_non_null(text);
	memset(text, '\n', FAH_TOML_MAX + 1);
	assert_int_equal(fah_toml_parse(&doc, text, FAH_TOML_MAX + 1, &error), FAH_ERR_RANGE);
	fah_toml_release(&doc);
	assert_int_equal(fah_toml_parse(&doc, text, FAH_TOML_MAX, &error), 0);
	fah_toml_release(&doc);

	memset(text, '[', FAH_TOML_MAX); /* a stack that grew with it would end here */
	memcpy(text, "a = ", 4);
	assert_int_equal(fah_toml_parse(&doc, text, FAH_TOML_MAX, &error), FAH_ERR_FORMAT);
	assert_non_null(strstr(error.text, "deep"));
	fah_toml_release(&doc);

	memset(text, 'x', FAH_TOML_MAX); /* a message never has more than a line of it */
	assert_int_equal(fah_toml_parse(&doc, text, FAH_TOML_MAX, &error), FAH_ERR_FORMAT);
	assert_true(strlen(error.text) < 120);
	fah_toml_release(&doc);
}

/* Many keys of one table: found by a map, or this takes minutes. */
static void a_large_table_is_read_in_no_time(void **state)
{
	enum { KEYS = 200000, EACH = 12 };
	_cleanup_(fah_toml_release) struct fah_toml_doc doc = {0};
	_cleanup_(fah_freep) char *text = malloc(KEYS * EACH + 1);
	struct fah_toml_error error;

	(void)state;
	assert_non_null(text);
	for (int i = 0; i < KEYS; i++)
		snprintf(text + i * EACH, EACH + 1, "k%06d = 1\n", i);
	assert_int_equal(fah_toml_parse(&doc, text, (size_t)KEYS * (EACH - 1) + KEYS, &error), 0);
	assert_int_equal(doc.root.items.n, KEYS);
}

static void control_characters_are_not_repeated(void **state)
{
	static const char *const texts[] = {"a = \033]0;x\007", "\033[2J = 1",
					    "[\"\\u001b[2J\"]\n[\"\\u001b[2J\"]",
					    "a = 1\n\xe2\x80\xae = 2"};
	struct fah_toml_doc doc = {0};
	struct fah_toml_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(fah_toml_parse(&doc, texts[i], strlen(texts[i]), &error),
				 FAH_ERR_FORMAT);
		for (const char *s = error.text; *s; s++)
			assert_in_range(*s, ' ', '~');
		fah_toml_release(&doc);
	}
}

static void floats_are_those_of_no_locale(void **state)
{
	static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
	_cleanup_(fah_toml_release) struct fah_toml_doc doc = {0};
	struct fah_toml_error error;
	bool set = false;

	(void)state;
	for (size_t i = 0; i < 3 && !set; i++)
		set = setlocale(LC_NUMERIC, comma[i]) != NULL;
	assert_int_equal(fah_toml_parse(&doc, "a = 1.5", 7, &error), 0);
	setlocale(LC_NUMERIC, "C");
	assert_true(get(&doc.root, "a")->number > 1.4);
	if (!set)
		print_message("SKIP: no locale here has a comma\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_knows_its_place),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(a_large_table_is_read_in_no_time),
		cmocka_unit_test(control_characters_are_not_repeated),
		cmocka_unit_test(floats_are_those_of_no_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
