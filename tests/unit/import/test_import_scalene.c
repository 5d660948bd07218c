/*
 * test_import_scalene.c - a JSON profile of scalene's through the model. scalene-2.4.json is what
 * scalene 2.4.0 (run --cpu-only --no-stacks --no-async) said of work.py.
 */
#include "import/import.h"

#include "base/file.h"
#include "core/err.h"
#include "model/profile.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const struct fah_scope everything = {.everything = true};

static struct fah_profile *opened(const char *path)
{
	struct fah_reader *reader = NULL;
	struct fah_profile *p = NULL;

	assert_int_equal(fah_import_open(path, &reader), 0);
	assert_int_equal(fah_profile_load(reader, &p), 0);
	fah_reader_free(reader);
	return p;
}

/* A file with this text; the caller removes it. */
static const char *text_file(const char *text)
{
	static char path[64];

	strcpy(path, "/tmp/fah-test-XXXXXX");
	assert_true(close(mkstemp(path)) == 0);
	assert_int_equal(fah_file_replace(path, text, strlen(text)), 0);
	return path;
}

static double share_of(struct fah_profile *p, const char *name, uint32_t line)
{
	const struct fah_charges *charges;

	assert_int_equal(fah_profile_charge(p, &everything, &charges), 0);
	for (size_t i = 0; i < charges->n_functions; i++) {
		const struct fah_function *f =
			fah_profile_function(p, charges->functions[i].function);

		if (!strcmp(f->name, name) && f->first_line == line)
			return charges->functions[i].share;
	}
	fail_msg("there is no %s", name);
	return 0;
}

static void a_real_one(void **state)
{
	const char *source = getenv("FAH_SOURCE_DIR");
	const struct fah_charges *charges;
	const struct fah_totals *t;
	struct fah_profile *p;
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/tests/unit/import/scalene-2.4.json",
		 source ? source : ".");
	p = opened(path);
	t = fah_profile_totals(p);
	assert_true(fabs(t->wall_s - 0.602188) < 1e-5);
	assert_true(t->complete);
	/* the percentages that the file has for the lines of each function */
	assert_true(fabs(share_of(p, "squares", 6) - 2 * 0.231681) < 1e-4);
	assert_true(fabs(share_of(p, "Store.dump", 14) - 0.439161) < 1e-4);
	assert_true(fabs(share_of(p, "nap", 18) - 0.097477) < 1e-4);
	/* 16 + 14 + 5 in its lists: the two lines of one loop have the same one */
	assert_int_equal(fah_profile_count(p, "imported_samples"), 35);
	assert_true(t->effective_samples > 25 && t->effective_samples < 50);
	assert_string_equal(fah_profile_meta(p, "root"), "/home/me/project");
	assert_string_equal(fah_profile_meta(p, "script"), "/home/me/project/work.py");
	assert_int_equal(fah_profile_charge(p, &everything, &charges), 0);
	assert_int_equal(charges->n_files, 1);
	assert_true(fabs(charges->files[0].times.python / t->wall_s - 0.292382) < 1e-4);
	fah_profile_free(p);
}

/* As older versions write it: no lists of samples, no entrypoint_dir; and a line of the module. */
static void an_old_one(void **state)
{
	const char *path = text_file(
		"{\"elapsed_time_sec\": 10, \"max_footprint_mb\": 0, \"program\": \"/a/b/w.py\","
		" \"files\": {\"/a/b/w.py\": {\"functions\": [{\"line\": \"f\", \"lineno\": 3}],"
		" \"lines\": [{\"lineno\": 4, \"start_function_line\": 3, \"n_cpu_percent_c\": 30,"
		"   \"n_cpu_percent_python\": 20, \"n_sys_percent\": 0},"
		"  {\"lineno\": 9, \"start_function_line\": 9, \"n_cpu_percent_c\": 0,"
		"   \"n_cpu_percent_python\": 50, \"n_sys_percent\": 0}]}}}");
	struct fah_profile *p = opened(path);

	(void)state;
	unlink(path);
	assert_true(fabs(share_of(p, "f", 3) - 0.5) < 1e-6);
	assert_true(fabs(share_of(p, "<module>", 1) - 0.5) < 1e-6);
	assert_int_equal(fah_profile_count(p, "imported_samples"), 0);
	assert_true(fabs(fah_profile_totals(p)->effective_samples - 1000) < 1);
	assert_string_equal(fah_profile_meta(p, "root"), "/a/b");
	fah_profile_free(p);
}

/* Impossible numbers come out as a run that can be; what is no profile is an error. */
static void nonsense(void **state)
{
	static const char *const wild =
		"{\"elapsed_time_sec\": 1, \"max_footprint_mb\": 0, \"files\": {\"x\": {\"lines\": "
		"["
		"{\"lineno\": -1, \"n_cpu_percent_c\": 1e300, \"n_sys_percent\": NaN},"
		"{\"lineno\": 1e300, \"n_cpu_percent_python\": \"5\", \"n_sys_percent\": -3},"
		"7, null], \"functions\": {}}, \"y\": []}}";
	static const char *const none[] = {"",
					   "[]",
					   "{}",
					   "{\"files\": {}}",
					   "{\"files\": 3",
					   "{\"files\": [], \"elapsed_time_sec\": 1, "
					   "\"max_footprint_mb\": 1}",
					   "{\"files\": {}, \"elapsed_time_sec\": 1e99, "
					   "\"max_footprint_mb\": 1}"};
	const char *path = text_file(wild);
	struct fah_profile *p = opened(path);
	struct fah_reader *reader;

	(void)state;
	unlink(path);
	assert_true(fabs(share_of(p, "<module>", 1) - 1) < 1e-6);
	fah_profile_free(p);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		path = text_file(none[i]);
		assert_int_equal(fah_import_open(path, &reader), FAH_ERR_FORMAT);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_real_one),
		cmocka_unit_test(an_old_one),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
