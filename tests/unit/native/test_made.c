/*
 * test_made.c - code made at run time: names and rules by the images and the .eh_frame of its
 * compiler, cut to executable memory; images that are cut or lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_image.h"
#include "native/made.h"
#include "native/names.h"

#include <stdlib.h>

#define CODE 0x7f0000001010ull

/* As a process whose only memory is `frames`, at the end of a page. */
#define FRAMES (0x7f0000100000ull - sizeof(frames))
static struct made_frames frames;

static int read_frames(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	(void)mem;
	for (int i = 0; i < n; i++) {
		if (pieces[i].addr < FRAMES || pieces[i].addr - FRAMES > sizeof(frames) ||
		    pieces[i].len > sizeof(frames) - (pieces[i].addr - FRAMES))
			return i;
		memcpy(pieces[i].dst, (uint8_t *)&frames + (pieces[i].addr - FRAMES),
		       pieces[i].len);
	}
	return n;
}
static const struct fah_mem process = {read_frames, 0};

static void assert_rules(const struct fah_made_part *part)
{
	struct fah_table table;

	assert_int_equal(fah_table_open(part->table.bytes, part->table.len, &table), 0);
	assert_int_equal(fah_table_find(&table, CODE - part->start)->cfa, FAH_CFA_REG);
	assert_int_equal(fah_table_find(&table, CODE - part->start)->off, 8);
	assert_int_equal(fah_table_find(&table, CODE + 1 - part->start)->off, 16);
	assert_int_equal(fah_table_find(&table, CODE + CODE_LEN - 1 - part->start)->off, 16);
	assert_int_equal(fah_table_find(&table, CODE + CODE_LEN - part->start)->cfa, FAH_CFA_NONE);
}

static void test_image(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	_cleanup_(fah_made_part_release) struct fah_made_part part = {0};
	_cleanup_(fah_names_freep) struct fah_names *names = fah_names_new(NULL, "", "");
	struct made_image image;
	uint32_t n;

	made_image_init(&image, "_ZN3jit4spinEl", CODE, 0);
	assert_int_equal(fah_made_add_image(&made, &image, sizeof(image), &process), 0);
	fah_made_sort(&made);
	assert_true(fah_made_cut(&made, CODE & ~4095ull, (CODE & ~4095ull) + 4096, NULL, &part));
	assert_int_equal(part.start, CODE);
	assert_int_equal(part.end, CODE + CODE_LEN);
	assert_rules(&part);
	fah_names_give(names, &part.symbols);
	assert_string_equal(fah_names_symbol(names, 5), "_ZN3jit4spinEl");
	assert_null(fah_names_symbol(names, CODE_LEN));
	assert_non_null(fah_names_find(names, 5, &n));
	assert_int_equal(n, 1);
}

/* LLVM's images have .eh_frame as it was before it was put in its place. */
static void test_loaded_frames_hold(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	_cleanup_(fah_made_part_release) struct fah_made_part part = {0};
	struct made_image image;

	made_frames_init(&frames, CODE);
	made_image_init(&image, "spin", CODE, FRAMES);
	image.frames.fde.start = 0;
	assert_int_equal(fah_made_add_image(&made, &image, sizeof(image), &process), 0);
	fah_made_sort(&made);
	assert_true(fah_made_cut(&made, CODE, CODE + 4096, NULL, &part));
	assert_rules(&part);
}

static void test_registered_frames(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	_cleanup_(fah_made_part_release) struct fah_made_part part = {0};

	made_frames_init(&frames, CODE);
	assert_int_equal(fah_made_add_frames(&made, FRAMES, &process), 0);
	assert_int_equal(fah_made_add_frames(&made, FRAMES, &process), 0); /* twice is once */
	fah_made_sort(&made);
	assert_int_equal(made.eh.n_fdes, 1);
	assert_true(fah_made_cut(&made, CODE & ~4095ull, (CODE & ~4095ull) + 4096, NULL, &part));
	assert_rules(&part);
	assert_int_equal(part.symbols.n, 0);
}

static void test_frames_without_end(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};

	made_frames_init(&frames, CODE);
	frames.end = 12; /* goes on where nothing can be read */
	assert_int_equal(fah_made_add_frames(&made, FRAMES, &process), 0);
	assert_int_equal(fah_made_add_frames(&made, FRAMES + sizeof(frames), &process), 0);
	assert_int_equal(fah_made_add_frames(&made, 0, &process), 0);
	assert_int_equal(made.eh.n_fdes, 0);
}

/* What lies elsewhere, or reaches out of the memory that may be run, is not believed. */
static void test_only_what_can_be_run(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	struct fah_made_part part;
	struct fah_table table;
	struct made_image image;

	made_image_init(&image, "spin", CODE, 0);
	assert_int_equal(fah_made_add_image(&made, &image, sizeof(image), NULL), 0);
	fah_made_sort(&made);
	assert_false(fah_made_cut(&made, CODE + CODE_LEN, CODE + 4096, NULL, &part));
	assert_false(fah_made_cut(&made, CODE - 4096, CODE, NULL, &part));
	assert_true(fah_made_cut(&made, CODE, CODE + CODE_LEN / 2, NULL, &part));
	assert_int_equal(part.end, CODE + CODE_LEN / 2);
	assert_int_equal(fah_table_open(part.table.bytes, part.table.len, &table), 0);
	assert_int_equal(fah_table_find(&table, 0)->cfa, FAH_CFA_NONE);
	fah_made_part_release(&part);
}

/* Code that has another name now is another part, though its rules are the same. */
static void test_names_tell_parts_apart(void **state)
{
	struct fah_made_part parts[3];
	static const char *const names[] = {"spin", "spun", "spin"};

	for (int i = 0; i < 3; i++) {
		_cleanup_(fah_made_release) struct fah_made made = {0};
		struct made_image image;

		made_image_init(&image, names[i], CODE, 0);
		assert_int_equal(fah_made_add_image(&made, &image, sizeof(image), NULL), 0);
		fah_made_sort(&made);
		assert_true(fah_made_cut(&made, CODE, CODE + 4096, NULL, &parts[i]));
	}
	assert_int_equal(parts[0].table.len, parts[1].table.len);
	assert_memory_not_equal(parts[0].table.bytes, parts[1].table.bytes, parts[0].table.len);
	assert_memory_equal(parts[0].table.bytes, parts[2].table.bytes, parts[0].table.len);
	for (int i = 0; i < 3; i++)
		fah_made_part_release(&parts[i]);
}

/* Every cut of an image, and every byte of it turned: at most wrong, never out of bounds. */
static void test_damaged_images(void **state)
{
	struct made_image image;

	made_image_init(&image, "spin", CODE, FRAMES);
	made_frames_init(&frames, CODE);
	for (size_t i = 0; i < 2 * sizeof(image); i++) {
		_cleanup_(fah_made_release) struct fah_made made = {0};
		size_t len = i < sizeof(image) ? i : sizeof(image);
		uint8_t *copy = malloc(len + 1);
		struct fah_made_part part;

		memcpy(copy, &image, len);
		if (i >= sizeof(image))
			copy[i - sizeof(image)] ^= 0xff;
		assert_int_equal(fah_made_add_image(&made, copy, len, &process), 0);
		free(copy);
		fah_made_sort(&made);
		if (fah_made_cut(&made, CODE & ~4095ull, CODE + 4096, NULL, &part)) {
			assert_true(part.start >= (CODE & ~4095ull) && part.end <= CODE + 4096);
			fah_made_part_release(&part);
		}
	}
}

/* What has a name but no .eh_frame is read: here, a register saved around a call. */
static void test_code_without_frames(void **state)
{
	_cleanup_(fah_made_release) struct fah_made made = {0};
	_cleanup_(fah_made_part_release) struct fah_made_part part = {0};
	struct made_image image;
	struct fah_table table;
	static uint8_t code[CODE_LEN] = {0x53, 0xff, 0xd6}; /* push %rbx; call *%rsi; nops */

	memset(code + 3, 0x90, sizeof(code) - 5);
	code[CODE_LEN - 2] = 0x5b; /* pop %rbx; ret */
	code[CODE_LEN - 1] = 0xc3;
	made_image_init(&image, "spin", (uintptr_t)code, 0);
	memset(&image.frames, 0, sizeof(image.frames));
	assert_int_equal(fah_made_add_image(&made, &image, sizeof(image), NULL), 0);
	fah_made_sort(&made);
	assert_int_equal(made.eh.n_fdes, 0);
	assert_true(fah_made_cut(&made, (uintptr_t)code, (uintptr_t)code + CODE_LEN, &fah_mem_self,
				 &part));
	assert_int_equal(fah_table_open(part.table.bytes, part.table.len, &table), 0);
	assert_int_equal(fah_table_find(&table, 0)->off, 8);
	assert_int_equal(fah_table_find(&table, 2)->off, 16);
	assert_int_equal(fah_table_find(&table, CODE_LEN - 2)->off, 16);
	assert_int_equal(fah_table_find(&table, CODE_LEN - 1)->off, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_loaded_frames_hold),
		cmocka_unit_test(test_registered_frames),
		cmocka_unit_test(test_frames_without_end),
		cmocka_unit_test(test_only_what_can_be_run),
		cmocka_unit_test(test_names_tell_parts_apart),
		cmocka_unit_test(test_damaged_images),
		cmocka_unit_test(test_code_without_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
