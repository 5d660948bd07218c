/*
 * test_golden.c - the golden captures: each version's reads as the text beside it, and never
 * changes; the newest is written again byte for byte, and doc/format.md knows its format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "capture/format.h"
#include "capture/text.h"
#include "make.h"
#include "report/inspect.h"
#include "scratch.h"

static char *read_source(const char *name, size_t *ret_len)
{
	const char *source = getenv("FAH_SOURCE_DIR");
	char path[4096], *text = NULL;

	assert_non_null(source);
	snprintf(path, sizeof(path), "%s/%s", source, name);
	if (fah_file_read(path, 1 << 20, &text, ret_len) < 0)
		fail_msg("cannot read %s", path);
	return text;
}

static void written_again(void **state)
{
	_cleanup_(fah_freep) char *want = NULL, *got = NULL;
	size_t n_want, n_got;

	want = read_source("tests/golden/v2.fah", &n_want);
	assert_int_equal(make_golden("v2.fah"), 0);
	assert_int_equal(fah_file_read("v2.fah", 1 << 20, &got, &n_got), 0);
	assert_int_equal(n_got, n_want);
	assert_memory_equal(got, want, n_want);
}

static void reads_as(const char *capture_name, const char *text_name, bool health)
{
	_cleanup_(fah_freep) char *capture = NULL, *want = NULL, *got = NULL;
	size_t n_capture, n_want, n_got;
	FILE *out;
	const struct fah_inspect_options o = {.health = health, .records = true};

	capture = read_source(capture_name, &n_capture);
	want = read_source(text_name, &n_want);
	/* the text begins with the name */
	assert_int_equal(fah_file_replace(strrchr(capture_name, '/') + 1, capture, n_capture), 0);
	out = open_memstream(&got, &n_got);
	assert_int_equal(fah_report_inspect(out, strrchr(capture_name, '/') + 1, &o), 0);
	fclose(out);
	assert_string_equal(got, want);
}

static void reads_as_text(void **state)
{
	reads_as("tests/golden/v1.fah", "tests/golden/v1.txt", false);
	reads_as("tests/golden/v2.fah", "tests/golden/v2.txt", true);
}

/* Every type has all kinds of its contents in the golden file, or it is not tested there. */
static void golden_has_every_type(void **state)
{
	_cleanup_(fah_freep) char *text = NULL;
	unsigned type;
	char line[64];
	size_t len;

	text = read_source("tests/golden/v2.txt", &len);
	for (type = FAH_REC_META; type < 256; type++) {
		if (!fah_record_name(type))
			continue;
		snprintf(line, sizeof(line), " %s ", fah_record_name(type));
		if (!strstr(text, line))
			fail_msg("no %s in the golden capture", fah_record_name(type));
	}
	assert_null(fah_record_name(0));
}

/* From the header itself, so that a type added there can't be forgotten in table and document. */
static void document_has_every_type(void **state)
{
	_cleanup_(fah_freep) char *header = NULL, *doc = NULL, *segment = NULL;
	const char *p;
	size_t len, n = 0, known = 0;
	unsigned type;
	char name[64], heading[96];

	header = read_source("src/capture/format.h", &len);
	doc = read_source("doc/format.md", &len);
	for (p = header; (p = strstr(p, "\tFAH_REC_")); p++, n++) {
		assert_int_equal(sscanf(p, "\tFAH_REC_%63[A-Z_] = %u,", name, &type), 2);
		assert_non_null(fah_record_name(type));
		assert_string_equal(fah_record_name(type), name);
		snprintf(heading, sizeof(heading), "\n### %u %s\n", type, name);
		if (!strstr(doc, heading))
			fail_msg("doc/format.md has no heading \"### %u %s\"", type, name);
	}
	for (type = 0; type < 256; type++)
		known += fah_record_name(type) != NULL;
	assert_int_equal(n, known);

	segment = read_source("src/core/segment.h", &len);
	for (p = segment, n = 0; (p = strstr(p, "\tFAH_SEG_")); p++, n++) {
		assert_int_equal(sscanf(p, "\tFAH_SEG_%63[A-Z_] = %u,", name, &type), 2);
		snprintf(heading, sizeof(heading), "\n### %u %s (segment)\n", type, name);
		if (!strstr(doc, heading))
			fail_msg("doc/format.md has no heading \"### %u %s (segment)\"", type,
				 name);
	}
	assert_true(n >= 7);
}

/* The hexdump in the document is of the golden file. */
static void document_shows_golden_bytes(void **state)
{
	_cleanup_(fah_freep) char *capture = NULL, *doc = NULL;
	size_t n, len, at, i, lines = 0;
	const char *p;
	char *end;

	capture = read_source("tests/golden/v2.fah", &n);
	doc = read_source("doc/format.md", &len);
	p = strstr(doc, "\n00000000  46 41 48 43");
	assert_non_null(p);
	while (*++p == '0') {
		at = strtoul(p, &end, 16);
		for (i = 0; i < 16 && at + i < n; i++) {
			if (strtoul(end, &end, 16) != (uint8_t)capture[at + i])
				fail_msg("byte %zu", at + i);
		}
		lines++;
		p = strchr(p, '\n');
	}
	assert_int_equal(lines, (n + 15) / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(written_again, scratch_enter, scratch_leave),
		cmocka_unit_test_setup_teardown(reads_as_text, scratch_enter, scratch_leave),
		cmocka_unit_test(golden_has_every_type),
		cmocka_unit_test(document_has_every_type),
		cmocka_unit_test(document_shows_golden_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
