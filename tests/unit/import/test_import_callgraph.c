/*
 * test_import_callgraph.c - files of callgrind and folded stacks: each thing that their formats
 * have, what is wrong and where, and texts that end anywhere.
 */
#include "import/callgraph.h"

#include "core/err.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9))
		fail_msg("%.12f, not %.12f", value, wanted);
}

static const struct fah_exact_function *find(const struct fah_exact *e, const char *file,
					     const char *name)
{
	for (size_t i = 0; i < e->n_functions; i++)
		if (!strcmp(e->functions[i].name, name) && !strcmp(e->functions[i].file, file))
			return &e->functions[i];
	fail_msg("there is no %s in '%s'", name, file);
	return NULL;
}

static const struct fah_exact_times *between(const struct fah_exact *e, const char *caller,
					     const char *callee)
{
	for (size_t i = 0; i < e->n_edges; i++)
		if (!strcmp(e->functions[e->edges[i].caller].name, caller) &&
		    !strcmp(e->functions[e->edges[i].callee].name, callee))
			return &e->edges[i].times;
	fail_msg("%s does not call %s", caller, callee);
	return NULL;
}

/* By hand, with all that the format has; main is 100 + 40 + 30 + 7. */
static const char sample[] = "# callgrind format\n"
			     "version: 1\n"
			     "creator: callgrind-3.19.0\n"
			     "pid: 4711\n"
			     "cmd:  ./a.out\r\n"
			     "part: 1\n"
			     "\n"
			     "desc: Timerange: Basic block 0 - 217941\n"
			     "event: Ir : instructions\n"
			     "positions: instr line\n"
			     "events: Ir Dr\n"
			     "summary: 177 3\n"
			     "\n"
			     "ob=(1) /usr/bin/a.out\n"
			     "fl=(1) /src/a.c\n"
			     "fn=(1) main\n"
			     "0x400 10 60 3\n"
			     "+4 +2 20\n" /* line 12; the second cost is left out */
			     "* * 20 1\n"
			     "fi=(2) /src/inline.h\n"
			     "0x500 3\n" /* no costs at all */
			     "cob=(2) /usr/lib/libx.so\n"
			     "cfi=(3) ???\n"
			     "cfn=(2) x_work\n"
			     "calls=2 0x1000 0\n"
			     "0x500 3 40 7\n"
			     "fe=(1)\n"
			     "jcnd=1/2 +8 -1\n"
			     "* *\n"
			     "jfi=(4) /src/jump.h\n"
			     "cfn=(3) fact\n" /* in a.c, and of this object again */
			     "calls=1 0x600 +18\n"
			     "+12 12 30\n"
			     "cfi=(4)\n"
			     "cfn=(9) of_jump_h\n"
			     "calls=3 * 5\n"
			     "* * 7\n"
			     "\n"
			     "ob=(2)\n"
			     "fl=(3)\n"
			     "fn=(2)\n"
			     "0x1000 0 40\n"
			     "\n"
			     "ob=(1)\n"
			     "fl=(1)\n"
			     "fn=(3)\n"
			     "0x600 30 10\n"
			     "cfn=(4) fact'2\n"
			     "calls=1 0x600 30\n"
			     "* 31 20\n"
			     "\n"
			     "fn=(4)\n"
			     "0x600 30 20\n"
			     "cfn=(4)\n"
			     "calls=5 0x600 30\n"
			     "* 31 60\n" /* each level of recursion once more */
			     "\n"
			     "fl=(4)\n"
			     "fn=(9)\n"
			     "7 5 7\n"
			     "\n"
			     "totals: 177 3\n";

static void callgrind(void **state)
{
	const struct fah_exact_function *f;
	struct fah_import_error error;
	struct fah_exact e;
	double whole;

	(void)state;
	fah_exact_init(&e);
	assert_true(fah_import_is_callgrind(sample, strlen(sample)));
	assert_int_equal(fah_import_callgrind(sample, strlen(sample), &e, &whole, &error), 0);
	near(whole, 177);
	assert_false(e.samples);
	assert_int_equal(e.n_functions, 4); /* fact'2 is fact */
	f = find(&e, "/src/a.c", "main");
	near(f->times.self_s, 100);
	near(f->times.total_s, 177);
	f = find(&e, "/usr/lib/libx.so", "x_work"); /* its file is not known, its library is */
	near(f->times.self_s, 40);
	assert_int_equal(f->times.calls, 2);
	assert_int_equal(f->line, 0);
	f = find(&e, "/src/a.c", "fact");
	near(f->times.self_s, 30);
	near(f->times.total_s, 30);
	assert_int_equal(f->times.calls, 7);
	assert_int_equal(f->line,
			 30); /* 3 + 18 was said first: relative to the last cost; then 30 */
	f = find(&e, "/src/jump.h", "of_jump_h");
	near(f->times.total_s, 7);
	near(between(&e, "main", "x_work")->total_s, 40);
	near(between(&e, "main", "fact")->total_s, 30);
	assert_int_equal(between(&e, "main", "fact")->calls, 1);
	near(between(&e, "fact", "fact")->total_s, 20);
	assert_int_equal(between(&e, "fact", "fact")->calls, 6);
	near(fah_exact_whole(&e).self_s, 177);
	fah_exact_done(&e);
}

/* main 20 calls a (of 15: b 8, of which a'2 has 3), a calls itself too. With levels told apart all
 * is exact, also in circles. */
static void levels_of_recursion(void **state)
{
	static const char text[] =
		"events: Ir\nfl=x.c\nfn=(1) main\n1 5\n"
		"cfn=(2) a\ncalls=1 1\n1 15\n"
		"fn=(2)\n1 4\ncfn=(3) b\ncalls=1 1\n1 8\ncfn=(4) a'2\ncalls=1 1\n1 3\n"
		"fn=(3)\n1 5\ncfn=(4)\ncalls=1 1\n1 3\n"
		"fn=(4)\n1 6\ncfn=(4)\ncalls=2 1\n1 4\n";
	struct fah_import_error error;
	struct fah_exact e;
	double whole;

	(void)state;
	fah_exact_init(&e);
	assert_int_equal(fah_import_callgrind(text, strlen(text), &e, &whole, &error), 0);
	assert_int_equal(e.n_functions, 3);
	near(find(&e, "x.c", "a")->times.total_s, 15);
	near(find(&e, "x.c", "a")->times.self_s, 10);
	near(find(&e, "x.c", "b")->times.total_s, 8);
	near(find(&e, "x.c", "main")->times.total_s, 20);
	near(between(&e, "a", "a")->total_s, 3); /* what a'2 calls is in it */
	assert_int_equal(between(&e, "a", "a")->calls, 3);
	near(between(&e, "b", "a")->total_s, 3);
	fah_exact_done(&e);
}

static void lines_of_callees(void **state)
{
	static const char text[] = "positions: line\nevents: ns\n"
				   "fl=a.py\nfn=main\n100 5\n"
				   "cfn=up\ncalls=1 +20\n+1 5\n"
				   "cfn=down\ncalls=1 -50\n* 5\n"
				   "cfn=same\ncalls=1 *\n* 5\n"
				   "cfn=there\ncalls=1 0x10\n* 5\n";
	struct fah_import_error error;
	struct fah_exact e;
	double whole;

	(void)state;
	fah_exact_init(&e);
	assert_int_equal(fah_import_callgrind(text, strlen(text), &e, &whole, &error), 0);
	near(whole, 0); /* it does not say */
	assert_int_equal(find(&e, "a.py", "up")->line, 120);
	assert_int_equal(find(&e, "a.py", "down")->line, 51);
	assert_int_equal(find(&e, "a.py", "same")->line, 101);
	assert_int_equal(find(&e, "a.py", "there")->line, 16);
	fah_exact_done(&e);
}

/* Dumps one behind the other; and ours, whose calls are samples. */
static void several_parts(void **state)
{
	static const char text[] = "creator: fixingahole 1\nevents: ns\nsummary: 30\nfl=(1) a.py\n"
				   "fn=(1) f\n1 10\ncfn=(2) g\ncalls=9 1\n1 20\nfn=(2)\n1 20\n"
				   "part: 2\nevents: ns\nfn=(1)\n1 12\ntotals: 12\n";
	struct fah_import_error error;
	struct fah_exact e;
	double whole;

	(void)state;
	fah_exact_init(&e);
	assert_int_equal(fah_import_callgrind(text, strlen(text), &e, &whole, &error), 0);
	near(whole, 42);
	near(find(&e, "a.py", "f")->times.self_s, 22);
	near(find(&e, "a.py", "f")->times.total_s, 42);
	assert_true(e.samples);
	assert_int_equal(between(&e, "f", "g")->calls, 9);
	fah_exact_done(&e);
}

static void wrong_callgrind(void **state)
{
	static const struct {
		const char *text;
		size_t line;
		const char *says;
	} wrong[] = {
		{"events: Ir\n1 5\n", 2, "before any function"},
		{"events: Ir\nfn=(3)\n1 5\n", 2, "no name"},
		{"events: Ir\nfl=(3)\n", 2, "no name"},
		{"events: Ir\nfn=f\n1 x\n", 3, "no number"},
		{"events: Ir\nfn=f\n1 99999999999999999999999\n", 3, "no number"},
		{"events: Ir\nfn=f\n99999999999 1\n", 3, "position"},
		{"events: Ir\nfn=f\n+ 1\n", 3, "position"},
		{"events: Ir\npositions: instr line\nfn=f\n1\n", 4, "position"},
		{"events: Ir\nfn=f\ncalls=1 1\n", 3, "of no function"},
		{"events: Ir\nfn=f\ncfn=g\ncalls=x 1\n", 4, "without a number"},
		{"events:\n", 1, "no events"},
		{"positions:\n", 1, "positions"},
		{"events: Ir\nsummary: many\n", 2, "sum"},
		{"events: Ir\nHello, world\n", 2, "neither"},
		{"fn=f\n1 5\n", 0, "events"},
		{"", 0, "events"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct fah_import_error error = {99, ""};
		struct fah_exact e;
		double whole;

		fah_exact_init(&e);
		assert_int_equal(fah_import_callgrind(wrong[i].text, strlen(wrong[i].text), &e,
						      &whole, &error),
				 FAH_ERR_FORMAT);
		if (error.line != wrong[i].line || !strstr(error.text, wrong[i].says))
			fail_msg("%zu: line %zu: %s", i, error.line, error.text);
		fah_exact_done(&e);
	}
}

static void folded(void **state)
{
	static const char text[] =
		"# made by hand\n"
		"main (app.py:3);Store.parse (pkg/app.py:12) 30\n"
		"main (app.py:4);Store.parse (pkg/app.py:19);loads (json/i.py) 10\r\n"
		"\n"
		"main (app.py:9);waiting (sleep) 40\n"
		"main (app.py:9);r;r;;r 15.5\n"
		"ns::f(int, char);operator() (x) 4.5  \n"
		"nothing 0\n";
	struct fah_import_error error;
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	assert_true(fah_import_is_folded(text, strlen(text)));
	assert_false(fah_import_is_callgrind(text, strlen(text)));
	assert_int_equal(fah_import_folded(text, strlen(text), &e, &error), 0);
	assert_int_equal(e.n_functions, 7);
	near(find(&e, "app.py", "main")->times.total_s, 95.5);
	near(find(&e, "app.py", "main")->times.self_s, 0);
	near(find(&e, "pkg/app.py", "Store.parse")->times.total_s, 40);
	near(find(&e, "pkg/app.py", "Store.parse")->times.self_s, 30);
	near(find(&e, "json/i.py", "loads")->times.self_s, 10);
	near(find(&e, "", "waiting (sleep)")->times.self_s, 40);
	near(find(&e, "", "r")->times.total_s, 15.5);
	near(find(&e, "", "operator() (x)")->times.total_s, 4.5);
	near(between(&e, "r", "r")->total_s, 15.5);
	near(fah_exact_whole(&e).self_s, 100);
	fah_exact_done(&e);
}

static void wrong_folded(void **state)
{
	static const struct {
		const char *text;
		size_t line;
	} wrong[] = {{"a;b 1\na;b\n", 2}, {"a;b -1\n", 1}, {"a;b nan\n", 1},  {"a;b inf\n", 1},
		     {"a;b 1e99\n", 1},	  {" 12\n", 1},	   {"a b;c 1x\n", 1}, {"12\n", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct fah_import_error error = {99, ""};
		struct fah_exact e;

		fah_exact_init(&e);
		assert_int_equal(
			fah_import_folded(wrong[i].text, strlen(wrong[i].text), &e, &error),
			FAH_ERR_FORMAT);
		if (error.line != wrong[i].line)
			fail_msg("%zu: line %zu", i, error.line);
		fah_exact_done(&e);
	}
	assert_false(fah_import_is_folded("", 0));
	assert_false(fah_import_is_folded("#!/bin/sh\nexit\n", 15));
	assert_false(fah_import_is_folded("a\0b 12\n", 7));
}

/* Cut anywhere, in memory of exactly that size: an error or a graph. */
static void texts_that_end_anywhere(void **state)
{
	static const char stacks[] = "main (app.py:3);a;b (x/y.c) 30\nmain (app.py:4);c 1.5\n";

	(void)state;
	for (size_t n = 0; n <= strlen(sample); n++) {
		char *copy = malloc(n ? n : 1);
		struct fah_import_error error;
		struct fah_exact e;
		double whole;

		memcpy(copy, sample, n);
		fah_exact_init(&e);
		if (fah_import_callgrind(copy, n, &e, &whole, &error) == 0)
			for (size_t i = 0; i < e.n_functions; i++)
				assert_true(e.functions[i].times.total_s <= 177);
		fah_exact_done(&e);
		if (n <= strlen(stacks)) {
			memcpy(copy, stacks, n);
			fah_import_folded(copy, n, &e, &error);
			fah_import_is_folded(copy, n);
			fah_exact_done(&e);
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callgrind),	    cmocka_unit_test(levels_of_recursion),
		cmocka_unit_test(lines_of_callees), cmocka_unit_test(several_parts),
		cmocka_unit_test(wrong_callgrind),  cmocka_unit_test(folded),
		cmocka_unit_test(wrong_folded),	    cmocka_unit_test(texts_that_end_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
