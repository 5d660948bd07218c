/*
 * test_made_debug.c - functions, inlined functions and lines of code made at run time, by the debug
 * information of two objects as LLVM writes them (tests/targets/llvm_lines.py; their code is at
 * 0x1000), whole, damaged and cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "native/made.h"
#include "native/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE 0x1000u
#define CODE_LEN 0x32u
#define SPUN 0x13u   /* the loop: step, inlined in inner */
#define CALLED 0x1du /* inner, in its call */
#define OUTER 0x2cu  /* outer, in its call */

static const char *const objects[] = {"lines-dwarf4.o", "lines-dwarf5.o"};

static uint8_t *object(const char *name, size_t *ret_len)
{
	char path[4096], *bytes;

	snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/fuzz_native_made/%s",
		 getenv("FAH_SOURCE_DIR"), name);
	assert_int_equal(fah_file_read(path, 1u << 20, &bytes, ret_len), 0);
	return (uint8_t *)bytes;
}

/* NULL: nothing is known of the code. */
static struct fah_names *names_of(const uint8_t *bytes, size_t len, struct fah_made_debugs *store)
{
	_cleanup_(fah_made_release) struct fah_made made = {.store = store};
	struct fah_names *names;
	struct fah_made_part part;

	assert_int_equal(fah_made_add_image(&made, bytes, len, NULL), 0);
	fah_made_sort(&made);
	if (!fah_made_cut(&made, CODE, CODE + 4096, NULL, &part))
		return NULL;
	names = fah_names_new(NULL, "", "");
	assert_non_null(names);
	fah_names_give(names, &part.symbols);
	fah_names_give_debug(names, part.start, part.debugs, part.n_debugs);
	fah_made_part_release(&part);
	return names;
}

static void assert_frame(const struct fah_name_frame *frame, const char *function, uint32_t line)
{
	assert_string_equal(frame->function, function);
	assert_string_equal(frame->file, "/known/lines.k");
	assert_int_equal(frame->line, line);
}

static void test_lines(void **state)
{
	if (!fah_dwarf_library())
		skip();
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		_cleanup_(fah_made_debugs_release) struct fah_made_debugs store = {0};
		_cleanup_(fah_freep) uint8_t *bytes = NULL;
		struct fah_name_frame *frames;
		struct fah_names *names;
		size_t len;
		uint32_t n;

		bytes = object(objects[i], &len);
		names = names_of(bytes, len, &store);
		frames = fah_names_find(names, SPUN, &n);
		assert_int_equal(n, 2);
		assert_frame(&frames[0], "inner", 22);
		assert_frame(&frames[1], "step", 12);
		frames = fah_names_find(names, CALLED, &n);
		assert_int_equal(n, 1);
		assert_frame(&frames[0], "inner", 25);
		frames = fah_names_find(names, OUTER, &n);
		assert_int_equal(n, 1);
		assert_frame(&frames[0], "outer", 33);
		fah_names_free(names);
	}
}

/* A process is looked at again and again: what it says of its code is kept once. */
static void test_kept_once(void **state)
{
	_cleanup_(fah_made_debugs_release) struct fah_made_debugs store = {0};
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	size_t len;

	bytes = object(objects[0], &len);
	for (int i = 0; i < 3; i++)
		fah_names_free(names_of(bytes, len, &store));
	assert_int_equal(store.n, 1);
	bytes[len - 9] ^= 1; /* in its last section header: another image */
	fah_names_free(names_of(bytes, len, &store));
	assert_int_equal(store.n, 2);
	assert_true(store.kept < 2 * len + 4096);
}

/* Code with the same names and rules, but other lines, is another part. */
static void test_lines_tell_parts_apart(void **state)
{
	_cleanup_(fah_made_debugs_release) struct fah_made_debugs store = {0};
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	struct fah_made_part parts[2];
	size_t len;

	bytes = object(objects[0], &len);
	for (int i = 0; i < 2; i++) {
		_cleanup_(fah_made_release) struct fah_made made = {.store = &store};

		if (i)
			bytes[len - 9] ^= 1;
		assert_int_equal(fah_made_add_image(&made, bytes, len, NULL), 0);
		fah_made_sort(&made);
		assert_true(fah_made_cut(&made, CODE, CODE + 4096, NULL, &parts[i]));
		assert_int_equal(parts[i].n_debugs, 1);
	}
	assert_int_equal(parts[0].table.len, parts[1].table.len);
	assert_memory_not_equal(parts[0].table.bytes, parts[1].table.bytes, parts[0].table.len);
	for (int i = 0; i < 2; i++)
		fah_made_part_release(&parts[i]);
}

static void ask_all(const uint8_t *bytes, size_t len)
{
	_cleanup_(fah_made_debugs_release) struct fah_made_debugs store = {0};
	_cleanup_(fah_names_freep) struct fah_names *names = names_of(bytes, len, &store);

	for (uint32_t at = 0; names && at < CODE_LEN; at += 5) {
		uint32_t n;
		const struct fah_name_frame *frames = fah_names_find(names, at, &n);

		assert_non_null(frames);
		for (uint32_t i = 0; i < n; i++)
			assert_non_null(frames[i].function);
	}
}

/* Every cut, and every byte turned in two ways: at most wrong, never out of bounds. */
static void test_damaged(void **state)
{
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		_cleanup_(fah_freep) uint8_t *bytes = NULL;
		size_t len;

		bytes = object(objects[i], &len);
		for (size_t at = 0; at < len; at++) {
			_cleanup_(fah_freep) uint8_t *cut = malloc(at + 1);

			memcpy(cut, bytes, at);
			ask_all(cut, at);
			bytes[at] ^= 0xff;
			ask_all(bytes, len);
			bytes[at] ^= 0xfe; /* its lowest bit stays turned */
			ask_all(bytes, len);
			bytes[at] ^= 1;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_kept_once),
		cmocka_unit_test(test_lines_tell_parts_apart),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
