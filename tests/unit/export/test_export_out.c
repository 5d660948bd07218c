/*
 * test_export_out.c - numbers, texts and failures of what exports write through; the table's
 * look-ups.
 */
#include "core/err.h"
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

struct sink {
	struct fah_out out;
	FILE *f;
	char *text;
	size_t len;
};

static struct sink *sink_open(void)
{
	struct sink *s = malloc(sizeof(*s));

	assert_non_null(s);
	s->f = open_memstream(&s->text, &s->len);
	fah_out_init(&s->out, s->f);
	return s;
}

static void sink_has(struct sink *s, const char *expected)
{
	assert_int_equal(fah_out_finish(&s->out), 0);
	fclose(s->f);
	assert_string_equal(s->text, expected);
	free(s->text);
	free(s);
}

static void numbers(void **state)
{
	struct sink *s = sink_open();
	uint64_t v;

	(void)state;
	fah_out_u64(&s->out, 0);
	sink_has(s, "0");
	for (v = 1; v; v = v * 7 < v ? 0 : v * 7) {
		char text[32];

		s = sink_open();
		snprintf(text, sizeof(text), "%" PRIu64, v);
		fah_out_u64(&s->out, v);
		sink_has(s, text);
	}
	s = sink_open();
	fah_out_u64(&s->out, UINT64_MAX);
	sink_has(s, "18446744073709551615");
}

static void seconds(void **state)
{
	static const struct {
		double s;
		const char *text;
	} cases[] = {
		{0, "0"},
		{1, "1"},
		{0.5, "0.5"},
		{12.000000001, "12.000000001"},
		{0.0000000004, "0"},
		{0.000000001, "0.000000001"},
		{1234567.25, "1234567.25"},
		{0.999999999999, "1"},
		{-1, "0"},
		{1e300, "0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sink *s = sink_open();

		fah_out_seconds(&s->out, cases[i].s);
		sink_has(s, cases[i].text);
	}
}

static void json(void **state)
{
	struct sink *s = sink_open();

	(void)state;
	fah_out_json(&s->out, "a \"b\" \\ \n\x01\x7f \xc3\xbc \xff\xc3 \xe6\x95\xb0");
	fah_out_json(&s->out, NULL);
	fah_out_json(&s->out, "");
	sink_has(s, "\"a \\\"b\\\" \\\\ \\u000a\\u0001\\u007f \xc3\xbc \xef\xbf\xbd\xef\xbf\xbd "
		    "\xe6\x95\xb0\"null\"\"");
}

/* More than the buffer, in pieces of all sizes, arrives whole and in order. */
static void long_output(void **state)
{
	struct sink *s = sink_open();
	size_t total = 0, at = 0;
	char *piece = malloc(3 * FAH_OUT_SIZE);

	(void)state;
	assert_non_null(piece);
	for (size_t n = 1; n < 3 * FAH_OUT_SIZE; n = n * 3 + 1) {
		memset(piece, 'a' + (int)(n % 26), n);
		fah_out_add(&s->out, piece, n);
		fah_out_addc(&s->out, '\n');
		memset(piece, 'x', 400);
		fah_out_addf(&s->out, "%.*s", 400, piece);
		total += n + 1 + 400;
	}
	assert_int_equal(fah_out_finish(&s->out), 0);
	fclose(s->f);
	assert_int_equal(s->len, total);
	for (size_t n = 1; n < 3 * FAH_OUT_SIZE; n = n * 3 + 1) {
		for (size_t i = 0; i < n; i++)
			assert_true(s->text[at + i] == 'a' + (int)(n % 26));
		at += n;
		assert_true(s->text[at] == '\n');
		at += 1 + 400;
	}
	free(piece);
	free(s->text);
	free(s);
}

/* A full disk is said once, with its errno, however much follows. */
static void full_disk(void **state)
{
	struct fah_out *out = malloc(sizeof(*out));
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_true(out && f);
	fah_out_init(out, f);
	for (int i = 0; i < 100000; i++)
		fah_out_adds(out, "some text that does not fit anywhere\n");
	errno = 0;
	assert_int_equal(fah_out_finish(out), FAH_ERR_SYS);
	assert_int_equal(errno, ENOSPC);
	fclose(f);
	free(out);
}

static void table(void **state)
{
	(void)state;
	assert_string_equal(fah_export_find("raw")->name, "folded");
	assert_string_equal(fah_export_find("flamegraph")->name, "svg");
	assert_string_equal(fah_export_find("speedscope")->name, "speedscope");
	assert_null(fah_export_find("Raw"));
	assert_null(fah_export_find(""));
	assert_string_equal(fah_export_of_path("a/b.speedscope.json")->name, "speedscope");
	assert_string_equal(fah_export_of_path("x.PB.GZ")->name, "pprof");
	assert_string_equal(fah_export_of_path("x.svg")->name, "svg");
	assert_null(fah_export_of_path("x.json"));
	assert_null(fah_export_of_path("dir.svg/x"));
	assert_null(fah_export_of_path("dir/.svg"));
	/* No two formats answer to one name or ending. */
	for (const struct fah_export *const *e = fah_exports; *e; e++) {
		assert_ptr_equal(fah_export_find((*e)->name), *e);
		assert_non_null((*e)->extensions[0]);
		for (const char *const *a = (*e)->aliases; *a; a++)
			assert_ptr_equal(fah_export_find(*a), *e);
		for (const char *const *x = (*e)->extensions; *x; x++) {
			char path[64];

			snprintf(path, sizeof(path), "x%s", *x);
			assert_ptr_equal(fah_export_of_path(path), *e);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),     cmocka_unit_test(seconds),   cmocka_unit_test(json),
		cmocka_unit_test(long_output), cmocka_unit_test(full_disk), cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
