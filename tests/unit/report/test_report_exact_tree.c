/*
 * test_report_exact_tree.c - the tree of calls: right to the call where each function has one
 * caller, marked as shared out below one that has several.
 */
#include "report/exact_tree.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define WHAT_IT_MEANS \
	"\n%s: shared out. Calls are recorded by caller, not by path: what a function with " \
	"several " \
	"callers called is divided\namong them by time, and not all of them need have led " \
	"there.\n"

static struct fah_exact calls;

static uint32_t function(const char *name)
{
	uint32_t i;

	assert_int_equal(fah_exact_function(&calls, "f.py", 4, 1, name, strlen(name), &i), 0);
	return i;
}

static void did(const char *name, uint64_t n, uint64_t primitive, double self_s, double total_s)
{
	uint32_t i = function(name); /* may move them */

	calls.functions[i].times = (struct fah_exact_times){n, primitive, self_s, total_s};
}

static void called(const char *caller, const char *callee, uint64_t n, double self_s,
		   double total_s)
{
	uint32_t i, from = function(caller), to = function(callee);

	assert_int_equal(fah_exact_edge(&calls, from, to, &i), 0);
	calls.edges[i].times = (struct fah_exact_times){n, n, self_s, total_s};
}

static void expect(bool utf8, const char *tree, const char *below)
{
	const struct fah_exact_tree_look look = {.utf8 = utf8, .floor = 0};
	char *text = NULL, wanted[4096];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(fah_report_exact_tree(out, &calls, &look), 0);
	fclose(out);
	snprintf(wanted, sizeof(wanted), below ? "%s" WHAT_IT_MEANS : "%s", tree, below);
	assert_string_equal(text, wanted);
	free(text);
	fah_exact_done(&calls);
	fah_exact_init(&calls);
}

static void one_caller_each(void **state)
{
	(void)state;
	did("main", 1, 1, 0.1, 1.0);
	did("f", 3, 3, 0.3, 0.9);
	did("g", 7, 7, 0.6, 0.6);
	called("main", "f", 3, 0.3, 0.9);
	called("f", "g", 7, 0.6, 0.6);
	expect(true,
	       "1.000 main  f.py:1  (1 call, itself 0.100)\n"
	       "└─ 0.900 f  f.py:1  (3 calls, itself 0.300)\n"
	       "   └─ 0.600 g  f.py:1  (7 calls, itself 0.600)\n",
	       NULL);
}

/* a calls mid, which returns at once; b calls mid, which calls slow: a never reaches slow. Its row
 * has what is known of the call of mid, and below it there are no numbers of calls. */
static void make_two_callers(void)
{
	did("main", 1, 1, 0, 1.0);
	did("a", 1, 1, 0.1, 0.3);
	did("b", 1, 1, 0.1, 0.7);
	did("mid", 11, 11, 0.4, 0.8);
	did("slow", 1, 1, 0.4, 0.4);
	called("main", "a", 1, 0.1, 0.3);
	called("main", "b", 1, 0.1, 0.7);
	called("a", "mid", 10, 0.2, 0.2);
	called("b", "mid", 1, 0.2, 0.6);
	called("mid", "slow", 1, 0.4, 0.4);
}

static void several_callers(void **state)
{
	(void)state;
	make_two_callers();
	expect(true,
	       "1.000 main  f.py:1  (1 call, itself 0.000)\n"
	       "├─ 0.700 b  f.py:1  (1 call, itself 0.100)\n"
	       "│  └─ 0.600 mid  f.py:1  (1 call, itself 0.200)\n"
	       "│     └─ ≈0.300 slow  f.py:1  (itself ≈0.300)\n"
	       "└─ 0.300 a  f.py:1  (1 call, itself 0.100)\n"
	       "   └─ 0.200 mid  f.py:1  (10 calls, itself 0.200)\n"
	       "      └─ ≈0.100 slow  f.py:1  (itself ≈0.100)\n",
	       "≈");
	make_two_callers();
	expect(false,
	       "1.000 main  f.py:1  (1 call, itself 0.000)\n"
	       "|- 0.700 b  f.py:1  (1 call, itself 0.100)\n"
	       "|  `- 0.600 mid  f.py:1  (1 call, itself 0.200)\n"
	       "|     `- ~0.300 slow  f.py:1  (itself ~0.300)\n"
	       "`- 0.300 a  f.py:1  (1 call, itself 0.100)\n"
	       "   `- 0.200 mid  f.py:1  (10 calls, itself 0.200)\n"
	       "      `- ~0.100 slow  f.py:1  (itself ~0.100)\n",
	       "~");
}

/* Below what is shared all is shared, also where a function has one caller. */
static void further_below(void **state)
{
	(void)state;
	make_two_callers();
	did("deep", 5, 5, 0.08, 0.08);
	did("slow", 1, 1, 0.32, 0.4);
	called("mid", "slow", 1, 0.32, 0.4);
	called("slow", "deep", 5, 0.08, 0.08);
	expect(true,
	       "1.000 main  f.py:1  (1 call, itself 0.000)\n"
	       "├─ 0.700 b  f.py:1  (1 call, itself 0.100)\n"
	       "│  └─ 0.600 mid  f.py:1  (1 call, itself 0.200)\n"
	       "│     └─ ≈0.300 slow  f.py:1  (itself ≈0.240)\n"
	       "│        └─ ≈0.060 deep  f.py:1  (itself ≈0.060)\n"
	       "└─ 0.300 a  f.py:1  (1 call, itself 0.100)\n"
	       "   └─ 0.200 mid  f.py:1  (10 calls, itself 0.200)\n"
	       "      └─ ≈0.100 slow  f.py:1  (itself ≈0.080)\n"
	       "         └─ ≈0.020 deep  f.py:1  (itself ≈0.020)\n",
	       "≈");
}

/* A function that calls itself has one caller; what its own calls took itself is its. */
static void recursion(void **state)
{
	(void)state;
	did("main", 1, 1, 0.1, 1.0);
	did("r", 8, 2, 0.5, 0.9);
	did("leaf", 8, 8, 0.4, 0.4);
	called("main", "r", 2, 0.2, 0.9);
	called("r", "r", 6, 0.3, 0.6);
	called("r", "leaf", 8, 0.4, 0.4);
	expect(true,
	       "1.000 main  f.py:1  (1 call, itself 0.100)\n"
	       "└─ 0.900 r  f.py:1  (2 calls, itself 0.500)\n"
	       "   └─ 0.400 leaf  f.py:1  (8 calls, itself 0.400)\n",
	       NULL);
}

/* A thread's function that is called again from below: all of its time is the thread's. */
static void recursion_from_below(void **state)
{
	(void)state;
	did("visit", 4, 1, 0.6, 1.0);
	did("other", 3, 1, 0.4, 0.9);
	called("visit", "other", 3, 0.4, 0.9);
	called("other", "visit", 3, 0.5, 0.8);
	expect(true,
	       "1.000 visit  f.py:1  (1 call, itself 0.600)\n"
	       "└─ ≈0.900 other  f.py:1  (itself ≈0.400)\n"
	       "   └─ ≈0.800 visit  f.py:1  (itself ≈0.480)\n",
	       "≈");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_caller_each),	cmocka_unit_test(several_callers),
		cmocka_unit_test(further_below),	cmocka_unit_test(recursion),
		cmocka_unit_test(recursion_from_below),
	};

	fah_exact_init(&calls);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
