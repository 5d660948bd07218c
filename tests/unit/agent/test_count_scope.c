/* test_count_scope.c - whose calls are counted, by the lines that the profiler has left. */
#include "../../../src/agent/count_scope.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char left[40000];

long fah_session_file(const char *name, char *to, size_t cap)
{
	size_t n = strlen(left) < cap - 1 ? strlen(left) : cap - 1;

	assert_string_equal(name, "count");
	memcpy(to, left, n);
	to[n] = 0;
	return (long)n;
}

static void by_its_folder(void **state)
{
	(void)state;
	strcpy(left, "=/r/old/x.py\n+/r\n+/s/\n-/r/old\n-/s/a b\n");
	assert_true(fah_count_scope_read());
	assert_true(fah_count_scope_has("/r/a.py"));
	assert_true(fah_count_scope_has("/s/b/a.py"));
	assert_true(fah_count_scope_has("relative.py"));
	assert_true(fah_count_scope_has("/r/old/x.py"));
	assert_false(fah_count_scope_has("/r/old/y.py"));
	assert_true(fah_count_scope_has("/r/older/y.py"));
	assert_false(fah_count_scope_has("/s/a b/y.py"));
	assert_false(fah_count_scope_has("/elsewhere/y.py"));
	assert_false(fah_count_scope_has("/rest.py"));
	assert_false(fah_count_scope_has("<frozen importlib._bootstrap>"));
	strcpy(left, "");
	assert_false(fah_count_scope_read());
}

/* A line that is cut would be another folder: "-/r/old" is not "-/r". */
static void too_many_folders(void **state)
{
	(void)state;
	strcpy(left, "+/r\n");
	while (strlen(left) < sizeof(text) - 4)
		strcat(left, "-/e/aaa\n");
	assert_int_equal(strlen(left), sizeof(text) - 4); /* there is room for "-/r" */
	strcat(left, "-/r/old\n");
	assert_true(fah_count_scope_read());
	assert_true(fah_count_scope_has("/r/a.py"));
	assert_false(fah_count_scope_has("/e/aaa/a.py"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_its_folder),
		cmocka_unit_test(too_many_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
