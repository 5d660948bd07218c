/* test_export_pstats.c - stats files that are written are read back as what they were. */
#include "export/pstats.h"

#include "base/file.h"
#include "core/err.h"
#include "import/pstats.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/fah-test-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static uint32_t function(struct fah_exact *e, const char *file, int64_t line, const char *name,
			 struct fah_exact_times times)
{
	uint32_t i;

	assert_int_equal(fah_exact_function(e, file, strlen(file), line, name, strlen(name), &i),
			 0);
	e->functions[i].times = times;
	return i;
}

static void edge(struct fah_exact *e, uint32_t caller, uint32_t callee,
		 struct fah_exact_times times, bool only_count)
{
	uint32_t i;

	assert_int_equal(fah_exact_edge(e, caller, callee, &i), 0);
	e->edges[i].times = times;
	e->edges[i].only_count = only_count;
}

static void same_times(const struct fah_exact_times *a, const struct fah_exact_times *b)
{
	assert_true(a->calls == b->calls && a->primitive == b->primitive);
	assert_true(a->self_s == b->self_s && a->total_s == b->total_s);
}

static void same(const struct fah_exact *a, const struct fah_exact *b)
{
	assert_int_equal(a->n_functions, b->n_functions);
	assert_int_equal(a->n_edges, b->n_edges);
	for (size_t i = 0; i < a->n_functions; i++) {
		assert_string_equal(a->functions[i].file, b->functions[i].file);
		assert_string_equal(a->functions[i].name, b->functions[i].name);
		assert_true(a->functions[i].line == b->functions[i].line);
		assert_int_equal(a->functions[i].only_caller, b->functions[i].only_caller);
		same_times(&a->functions[i].times, &b->functions[i].times);
	}
	for (size_t i = 0; i < a->n_edges; i++) {
		assert_int_equal(a->edges[i].caller, b->edges[i].caller);
		assert_int_equal(a->edges[i].callee, b->edges[i].callee);
		assert_int_equal(a->edges[i].only_count, b->edges[i].only_count);
		same_times(&a->edges[i].times, &b->edges[i].times);
	}
	assert_int_equal(a->samples, b->samples);
}

static void build(struct fah_exact *e)
{
	static char long_name[400];
	uint32_t main, go, c, other;

	fah_exact_init(e);
	memset(long_name, 'x', sizeof(long_name) - 1);
	main = function(e, "/a/m.py", 1, "<module>", (struct fah_exact_times){1, 1, 0.25, 2.5});
	go = function(e, "/a/m.py", 7, "go", (struct fah_exact_times){INT32_MAX, 7, 1e-9, 1e9});
	c = function(e, "~", 0, "<built-in method builtins.len>",
		     (struct fah_exact_times){(uint64_t)INT32_MAX + 1, UINT64_MAX / 2, 0, 0});
	function(e, "/\xff\x80/\xc3\xa4.py", -3, long_name, (struct fah_exact_times){1, 1, 0, 0});
	function(e, "s\xed\xa0\x80.py", INT64_MIN + 1, "", (struct fah_exact_times){0, 0, 0, 0});
	other = function(e, "gone.py", (int64_t)1 << 40, "gone", (struct fah_exact_times){0});
	e->functions[other].only_caller = true;
	edge(e, main, go, (struct fah_exact_times){2, 1, 0.5, 0.75}, false);
	edge(e, go, go, (struct fah_exact_times){3, 0, 0.5, 0.75}, false);
	edge(e, go, c, (struct fah_exact_times){1, 1, 0, 0}, false);
	edge(e, other, c, (struct fah_exact_times){5, 5, 0, 0}, true);
}

static void round_trip(void **state)
{
	struct fah_exact e, back;

	(void)state;
	build(&e);
	for (int samples = 0; samples < 2; samples++) {
		e.samples = samples;
		assert_int_equal(fah_pstats_write(path, &e), 0);
		fah_exact_init(&back);
		assert_int_equal(fah_pstats_read(path, &back), 0);
		same(&e, &back);
		fah_exact_done(&back);
	}
	fah_exact_done(&e);
}

/* Several that are read add up, and what was in the way stays. */
static void files(void **state)
{
	struct fah_exact e, back;
	char *data;
	size_t len;

	(void)state;
	build(&e);
	assert_int_equal(fah_pstats_write(folder, &e), FAH_ERR_EXISTS);
	assert_int_equal(fah_pstats_write("/nowhere/at/all", &e), FAH_ERR_SYS);
	assert_int_equal(fah_pstats_write(path, &e), 0);
	assert_int_equal(fah_file_read(path, 1 << 20, &data, &len), 0);
	fah_exact_init(&back);
	assert_int_equal(fah_pstats_parse(data, len, &back), 0);
	assert_int_equal(fah_pstats_parse(data, len, &back), 0);
	assert_int_equal(back.n_functions, e.n_functions);
	assert_int_equal(back.functions[0].times.calls, 2);
	assert_true(back.edges[0].times.self_s == 1.0);
	assert_true(back.functions[5].only_caller);
	/* each text and each function stands in it once */
	assert_non_null(memmem(data, len, "/a/m.py", 7));
	assert_null(memmem((char *)memmem(data, len, "/a/m.py", 7) + 1,
			   len - (size_t)((char *)memmem(data, len, "/a/m.py", 7) + 1 - data),
			   "/a/m.py", 7));
	free(data);
	fah_exact_done(&back);
	fah_exact_done(&e);
}

static void empty(void **state)
{
	struct fah_exact e, back;

	(void)state;
	fah_exact_init(&e);
	fah_exact_init(&back);
	assert_int_equal(fah_pstats_write(path, &e), 0);
	assert_int_equal(fah_pstats_read(path, &back), 0);
	assert_int_equal(back.n_functions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(files),
		cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
