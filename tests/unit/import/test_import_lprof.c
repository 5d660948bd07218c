/*
 * test_import_lprof.c - line_profiler's files: those that its versions 3.5.1, 4.2.0 and 5.1.0 made
 * of a function of 300 rounds and one that did not run, the first also by protocol 2; ours, written
 * and read again; and what is none.
 */
#include "base/file.h"
#include "core/err.h"
#include "export/lprof.h"
#include "import/lprof.h"
#include "import/pickle.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(s) (s), sizeof(s) - 1

static int read_bytes(const char *bytes, size_t len)
{
	struct fah_linehits h;
	int err = fah_import_lprof(bytes, len, &h);

	fah_linehits_done(&h);
	return err;
}

static char *read_file(const char *name, size_t *ret_len)
{
	char path[4096], *data = NULL;

	snprintf(path, sizeof(path), "%s/tests/unit/import/%s", getenv("FAH_SOURCE_DIR"), name);
	assert_int_equal(fah_file_read(path, 1 << 20, &data, ret_len), 0);
	return data;
}

static void read_theirs(const char *name, double unit)
{
	struct fah_linehits h;
	size_t len;
	char *data = read_file(name, &len);
	const struct fah_linehits_function *f;

	assert_int_equal(fah_import_lprof(data, len, &h), 0);
	free(data);
	assert_true(h.unit == unit && !h.has_called);
	assert_int_equal(h.n_functions, 2);
	f = &h.functions[0];
	assert_string_equal(f->file, "counted.py");
	assert_string_equal(f->name, "work");
	assert_int_equal(f->first_line, 1);
	assert_int_equal(f->n_lines, 4);
	assert_int_equal(f->lines[1].line, 3);
	assert_int_equal(f->lines[1].hits, 301);
	assert_int_equal(f->lines[2].hits, 300);
	assert_true(f->lines[2].time > 0 && f->lines[2].time * unit < 1);
	assert_string_equal(h.functions[1].name, "idle");
	assert_int_equal(h.functions[1].n_lines, 0);
	fah_linehits_done(&h);
}

static void versions_3_to_5(void **state)
{
	read_theirs("lprof-3.5.1.lprof", 1e-6);
	read_theirs("lprof-4.2.0.lprof", 1e-9);
	read_theirs("lprof-5.1.0.lprof", 1e-9);
	read_theirs("lprof-protocol-2.lprof", 1e-6);
}

/* Each prefix of a file, and each file with one byte changed: an error or not, never a crash. */
static void damaged(void **state)
{
	size_t len;
	char *data = read_file("lprof-5.1.0.lprof", &len);

	for (size_t i = 0; i < len; i++)
		assert_int_equal(read_bytes(data, i), FAH_ERR_FORMAT);
	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			data[i] ^= (char)(1 << bit);
			read_bytes(data, len);
			data[i] ^= (char)(1 << bit);
		}
	free(data);
}

static void ours_again(void **state)
{
	struct fah_linehits h, again;
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);
	uint32_t f;

	fah_linehits_init(&h, 1e-9);
	assert_int_equal(fah_linehits_function(&h, BYTES("/a/\xc3\xa4.py"), 300, BYTES("C.f"), &f),
			 0);
	/* numbers of one byte, of four, and beyond 32 bits */
	assert_int_equal(fah_linehits_add(&h, f, &(struct fah_linehit){301, 255, 256, 17}), 0);
	assert_int_equal(fah_linehits_add(&h, f, &(struct fah_linehit){70000, 1ull << 40, 3e12, 0}),
			 0);
	assert_int_equal(fah_linehits_function(&h, BYTES("b.py"), 1, BYTES("never"), &f), 0);
	fah_linehits_sort(&h);
	assert_int_equal(fah_export_lprof(out, &h), 0);
	fclose(out);
	fah_linehits_done(&h);

	assert_int_equal(fah_import_lprof(data, len, &again), 0);
	assert_true(again.has_called && again.unit == 1e-9);
	assert_int_equal(again.n_functions, 2);
	assert_string_equal(again.functions[0].file, "/a/\xc3\xa4.py");
	assert_int_equal(again.functions[0].n_lines, 2);
	assert_int_equal(again.functions[0].lines[0].hits, 255);
	assert_true(again.functions[0].lines[0].called == 17);
	assert_true(again.functions[0].lines[1].hits == 1ull << 40);
	assert_true(again.functions[0].lines[1].time == 3e12);
	assert_int_equal(again.functions[0].lines[1].line, 70000);
	assert_string_equal(again.functions[1].name, "never");
	fah_linehits_done(&again);
	free(data);
}

/* What would run something, or is another pickle. */
static void refused(void **state)
{
	/* os.system("x") */
	assert_int_equal(read_bytes(BYTES("\x80\x02"
					  "cos\nsystem\nX\x01\0\0\0x\x85R.")),
			 FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x02}.")), FAH_ERR_FORMAT);
	/* a LineStats without anything; of somebody else's; with a unit of 0 */
	assert_int_equal(read_bytes(BYTES("\x80\x02"
					  "cline_profiler._line_profiler\nLineStats\n)\x81}b.")),
			 FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x02"
					  "cother\nLineStats\n)\x81}(X\x07\0\0\0timings}X\x04\0\0\0"
					  "unitK\x01ub.")),
			 FAH_ERR_FORMAT);
	assert_int_equal(
		read_bytes(BYTES("\x80\x02"
				 "cline_profiler\nLineStats\n)\x81}(X\x07\0\0\0timings}X\x04\0\0\0"
				 "unitK\0ub.")),
		FAH_ERR_FORMAT);
	assert_int_equal(
		read_bytes(BYTES("\x80\x02"
				 "cline_profiler\nLineStats\n)\x81}(X\x07\0\0\0timings}X\x04\0\0\0"
				 "unitK\x01ub.")),
		0);
	/* a stack that is empty, a mark that is not there, a value that was never put */
	assert_int_equal(read_bytes(BYTES("\x80\x02.")), FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x02]e.")), FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x02h\x05.")), FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x02r\xff\xff\xff\xff.")), FAH_ERR_FORMAT);
	assert_int_equal(read_bytes(BYTES("\x80\x06N.")), FAH_ERR_FORMAT);
}

static void numbers(void **state)
{
	struct fah_arena arena = FAH_ARENA_INIT;
	const struct fah_pickle *v;
	static const uint8_t bytes[] = "\x80\x02(J\xfe\xff\xff\xffM\xff\xff\x8a\x02\x00\xff\x8a\x09"
				       "\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x8a\x09"
				       "\x00\x00\x00\x00\x00\x00\x00\x00\x01"
				       "G\x3f\xf8\0\0\0\0\0\0\x88Nt.";

	assert_int_equal(fah_pickle_read(&arena, bytes, sizeof(bytes) - 1, &v), 0);
	assert_int_equal(v->n, 8);
	assert_true(v->items[0]->number == -2 && v->items[1]->number == 65535);
	assert_true(v->items[2]->number == -256 && v->items[3]->number == INT64_MAX);
	assert_int_equal(v->items[3]->kind, FAH_PICKLE_INT);
	assert_true(v->items[4]->kind == FAH_PICKLE_FLOAT &&
		    v->items[4]->real == 18446744073709551616.0);
	assert_true(v->items[5]->real == 1.5 && v->items[6]->number == 1);
	assert_int_equal(v->items[7]->kind, FAH_PICKLE_NONE);
	fah_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_3_to_5), cmocka_unit_test(damaged),
		cmocka_unit_test(ours_again),	   cmocka_unit_test(refused),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
