/* test_model_exact.c - functions and calls between them: found again, in order, added up. */
#include "model/exact.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint32_t function(struct fah_exact *e, const char *file, int64_t line, const char *name)
{
	uint32_t i;

	assert_int_equal(fah_exact_function(e, file, strlen(file), line, name, strlen(name), &i),
			 0);
	return i;
}

static struct fah_exact_edge *edge(struct fah_exact *e, uint32_t caller, uint32_t callee)
{
	uint32_t i;

	assert_int_equal(fah_exact_edge(e, caller, callee, &i), 0);
	return &e->edges[i];
}

static void found_again(void **state)
{
	struct fah_exact e;
	uint32_t a;

	(void)state;
	fah_exact_init(&e);
	a = function(&e, "f", 1, "g");
	assert_int_not_equal(function(&e, "f", 2, "g"), a);
	assert_int_not_equal(function(&e, "f", -1, "g"), a);
	assert_int_not_equal(function(&e, "g", 1, "f"), a);
	assert_int_equal(function(&e, "f", 1, "g"), a);
	assert_int_equal(e.n_functions, 4);
	edge(&e, 0, 1)->times.calls = 3;
	assert_int_equal(edge(&e, 0, 1)->times.calls, 3);
	assert_int_equal(edge(&e, 1, 0)->times.calls, 0);
	assert_int_equal(e.n_edges, 2);
	fah_exact_done(&e);
}

static void in_order(void **state)
{
	struct fah_exact e;
	uint32_t names[4], got[16];

	(void)state;
	fah_exact_init(&e);
	for (int i = 0; i < 4; i++)
		names[i] = function(&e, "f", i, "g");
	edge(&e, names[2], names[0]);
	edge(&e, names[1], names[0]);
	edge(&e, names[1], names[3]);
	edge(&e, names[0], names[0]);
	assert_int_equal(fah_exact_callers(&e, names[0], got), 3);
	assert_true(got[0] == 0 && got[1] == 1 && got[2] == 3);
	assert_int_equal(fah_exact_callees(&e, names[1], got), 2);
	assert_true(got[0] == 1 && got[1] == 2);
	assert_int_equal(fah_exact_callers(&e, names[2], got), 0);
	fah_exact_done(&e);
}

/* One file has no times of a function that another has; one has only counts of a call. */
static void added_up(void **state)
{
	struct fah_exact e, more;
	struct fah_exact_times whole;
	uint32_t a, b;

	(void)state;
	fah_exact_init(&e);
	a = function(&e, "f", 1, "a");
	b = function(&e, "f", 2, "b");
	e.functions[a].times = (struct fah_exact_times){2, 1, 0.5, 1};
	e.functions[b].only_caller = true;
	edge(&e, b, a)->only_count = true;
	edge(&e, b, a)->times.calls = 2;

	fah_exact_init(&more);
	assert_int_equal(fah_exact_add(&more, &e), 0);
	assert_true(more.functions[1].only_caller && more.edges[0].only_count);
	assert_false(more.functions[0].only_caller);
	assert_int_equal(fah_exact_add(&more, &e), 0);
	assert_true(more.functions[1].only_caller && more.edges[0].only_count);
	assert_int_equal(more.functions[0].times.calls, 4);
	assert_int_equal(more.edges[0].times.calls, 4);
	assert_true(more.functions[0].times.self_s == 1.0);

	e.functions[b].only_caller = false;
	edge(&e, b, a)->only_count = false;
	e.samples = true;
	assert_int_equal(fah_exact_add(&more, &e), 0);
	assert_true(!more.functions[1].only_caller && !more.edges[0].only_count && more.samples);
	whole = fah_exact_whole(&more);
	assert_int_equal(whole.calls, 6);
	assert_int_equal(whole.primitive, 3);
	assert_true(whole.self_s == 1.5 && whole.total_s == 1.5);
	fah_exact_done(&more);
	fah_exact_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_again),
		cmocka_unit_test(in_order),
		cmocka_unit_test(added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
