/*
 * test_report_pstats.c - keys, limits, regular expressions and merging as pstats has them, and
 * whole reports. What is expected was printed by CPython's own pstats; tests/e2e/test_stats.py asks
 * it again, for real files.
 */
#include "report/pstats.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "report/pstats_list.h"

#include <regex.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What each word means to pstats; -1: a KeyError. */
static void words(void **state)
{
	static const struct {
		const char *word;
		int key;
	} cases[] = {
		{"calls", FAH_PSTATS_CALLS},
		{"ca", FAH_PSTATS_CALLS},
		{"c", -1},
		{"cum", -1},
		{"cu", FAH_PSTATS_CUMULATIVE},
		{"cumt", FAH_PSTATS_CUMULATIVE},
		{"cumulative", FAH_PSTATS_CUMULATIVE},
		{"file", FAH_PSTATS_FILE},
		{"f", FAH_PSTATS_FILE},
		{"m", FAH_PSTATS_FILE},
		{"l", FAH_PSTATS_LINE},
		{"n", -1},
		{"na", FAH_PSTATS_NAME},
		{"nc", FAH_PSTATS_CALLS},
		{"nf", FAH_PSTATS_NFL},
		{"p", FAH_PSTATS_PRIMITIVE},
		{"s", FAH_PSTATS_STDNAME},
		{"t", -1},
		{"ti", FAH_PSTATS_TIME},
		{"to", FAH_PSTATS_TIME},
		{"TIME", FAH_PSTATS_TIME},
		{"CUMULATIVE", FAH_PSTATS_CUMULATIVE},
		{"-1", FAH_PSTATS_STDNAME},
		{"0", FAH_PSTATS_CALLS},
		{"1", FAH_PSTATS_TIME},
		{"2", FAH_PSTATS_CUMULATIVE},
		{"nsamples", FAH_PSTATS_SAMPLES},
		{"", -1},
		{"timer", -1},
		{"3", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fah_pstats_order o = {0};
		bool ok = fah_pstats_order_add(&o, cases[i].word);

		if (ok != (cases[i].key >= 0) || (ok && (int)o.keys[0] != cases[i].key))
			fail_msg("%s", cases[i].word);
	}
}

static void too_many_keys(void **state)
{
	struct fah_pstats_order o = {0};

	(void)state;
	for (int i = 0; i < FAH_PSTATS_KEYS_MAX; i++)
		assert_true(fah_pstats_order_add(&o, "time"));
	assert_false(fah_pstats_order_add(&o, "time"));
}

static void limits(void **state)
{
	struct fah_pstats_limit l;

	(void)state;
	assert_int_equal(fah_pstats_limit_parse("10", &l), 0);
	assert_true(l.type == FAH_PSTATS_COUNT && l.count == 10);
	assert_int_equal(fah_pstats_limit_parse("-3", &l), 0);
	assert_true(l.type == FAH_PSTATS_COUNT && l.count == -3);
	assert_int_equal(fah_pstats_limit_parse("99999999999999999999999", &l), 0);
	assert_true(l.type == FAH_PSTATS_COUNT && l.count == INT64_MAX);
	assert_int_equal(fah_pstats_limit_parse(".1", &l), 0);
	assert_true(l.type == FAH_PSTATS_FRACTION && l.fraction == 0.1);
	assert_int_equal(fah_pstats_limit_parse("1.0", &l), 0);
	assert_int_equal(fah_pstats_limit_parse("1.5", &l), FAH_ERR_RANGE);
	assert_int_equal(fah_pstats_limit_parse("-0.5", &l), FAH_ERR_RANGE);
	assert_int_equal(fah_pstats_limit_parse("json", &l), 0);
	assert_int_equal(l.type, FAH_PSTATS_REGEX);
	assert_int_equal(fah_pstats_limit_parse("e", &l), 0);
	assert_int_equal(l.type, FAH_PSTATS_REGEX);
	assert_int_equal(fah_pstats_limit_parse("0x10", &l), 0);
	assert_int_equal(l.type, FAH_PSTATS_REGEX);
	assert_int_equal(fah_pstats_limit_parse("", &l), 0);
	assert_int_equal(l.type, FAH_PSTATS_REGEX);
}

/* 1: matches, 0: does not, -1: no regular expression, or none that can be had here. */
static int matches(const char *python, const char *text)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	bool ignore_case;
	regex_t re;
	int r;

	if (!fah_pstats_regex(python, &sb, &ignore_case) ||
	    regcomp(&re, fah_strbuf_str(&sb),
		    REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0)))
		return -1;
	r = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return r;
}

static void regexes(void **state)
{
	static const struct {
		const char *python, *text;
		int want;
	} cases[] = {
		{"json", "a/json.py:3(x)", 1},
		{"", "anything", 1},
		{"^a.*\\)$", "a.py:3(x)", 1},
		{"\\d+\\(", "a.py:33(x)", 1},
		{"\\D33", "a.py:33(x)", 1},
		{"\\d{3}", "a.py:33(x)", 0},
		{"3{,2}\\(", "a.py:33(x)", 1},
		{"\\Aa", "ba", 0},
		{"b\\Z", "ab", 1},
		{"\\bfib\\b", "a(fib)", 1},
		{"\\bfib\\b", "a(fibs)", 0},
		{"{built-in", "{built-in method x}", 1},
		{"x}", "{built-in method x}", 1},
		{"a{x}", "a{x}", 1},
		{"a+?b", "ab", 1},
		{"xa+?b", "xb", 0},
		{"xa*?b", "xb", 1},
		{"xa??b", "xab", 1},
		{"fi(?:b|x)", "fix", 1},
		{"(?P<n>a)b", "ab", 1},
		{"(?i)FIB", "fib", 1},
		{"FIB", "fib", 0},
		{"[\\w.]+\\.py", "a.py", 1},
		{"^[\\d]+$", "a1", 0},
		{"^[\\s]$", "\t", 1},
		{"[]x]", "]", 1},
		{"[^]x]", "]", 0},
		{"^[^]x]$", "^", 1},
		{"[\\]]", "]", 1},
		{"[\\\\]", "\\", 1},
		{"^[\\\\]$", "]", 0},
		{"[a-]", "-", 1},
		{"[a\\-c]", "b", 0},
		{"[a-c]", "b", 1},
		{"[\\^]", "^", 1},
		{"[\\^-]", "-", 1},
		{"[[]", "[", 1},
		{"^[[.]$", ".", 1},
		{"\\.", "x", 0},
		{"\\<", "<", 1},
		{"\\<lambda\\>", "<lambda>", 1},
		{"\\x3c", "<", 1},
		{"\\t", "\t", 1},
		{"a|", "b", 1},
		{"()", "b", 1},
		{"a\\|b", "a|b", 1},
		/* errors in Python too */
		{"*", "", -1},
		{"a**", "", -1},
		{"(", "", -1},
		{")", "", -1},
		{"[a", "", -1},
		{"[]", "", -1},
		{"\\", "", -1},
		{"[\\", "", -1},
		{"\\y", "", -1},
		{"x{2,1}", "", -1},
		{"[b-a]", "", -1},
		{"(?P<n", "", -1},
		{"a|*", "", -1},
		{"\\x4", "", -1},
		/* only here */
		{"(?=a)", "", -1},
		{"(?<!a)b", "", -1},
		{"(a)\\1", "", -1},
		{"[\\W]", "", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int got = matches(cases[i].python, cases[i].text);

		if (got != cases[i].want)
			fail_msg("%s on %s: %d", cases[i].python, cases[i].text, got);
	}
}

static void texts(void **state)
{
	static const struct {
		const char *text, *repr;
	} reprs[] = {
		{"a", "'a'"},	       {"it's", "\"it's\""},	   {"'\"", "'\\'\"'"},
		{"a\\d", "'a\\\\d'"},  {"a\tb\n", "'a\\tb\\n'"},   {"\x1b", "'\\x1b'"},
		{"\xff", "'\\udcff'"}, {"\xc3\xa4", "'\xc3\xa4'"}, {"\xc2\xa0", "'\\xa0'"},
	};
	static const struct {
		double v;
		const char *repr;
	} floats[] = {{0.1, "0.1"},
		      {0, "0.0"},
		      {1e-5, "1e-05"},
		      {0.0001, "0.0001"},
		      {0.3, "0.3"},
		      {0.123456789, "0.123456789"},
		      {1.0 / 3, "0.3333333333333333"},
		      {1, "1.0"}};

	(void)state;
	for (size_t i = 0; i < sizeof(reprs) / sizeof(*reprs); i++) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

		fah_pstats_add_repr(&sb, reprs[i].text);
		assert_string_equal(fah_strbuf_str(&sb), reprs[i].repr);
	}
	for (size_t i = 0; i < sizeof(floats) / sizeof(*floats); i++) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

		fah_pstats_add_float(&sb, floats[i].v);
		assert_string_equal(fah_strbuf_str(&sb), floats[i].repr);
	}
	assert_int_equal(fah_pstats_len("a\xc3\xa4\xff\xed\xa0\x80"), 4);
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
		 struct fah_exact_times times)
{
	uint32_t i;

	assert_int_equal(fah_exact_edge(e, caller, callee, &i), 0);
	e->edges[i].times = times;
}

/* Two modules of the same name in two folders, each of which calls both. */
static void build(struct fah_exact *e)
{
	uint32_t a, b, f, g, c;

	fah_exact_init(e);
	a = function(e, "/a/m.py", 1, "<module>", (struct fah_exact_times){1, 1, 0.5, 3});
	b = function(e, "/b/m.py", 1, "<module>", (struct fah_exact_times){1, 1, 0.25, 2});
	f = function(e, "/a/f.py", 2, "\xc3\xa4", (struct fah_exact_times){5, 3, 1, 1.5});
	g = function(e, "/b/f.py", 2, "\xc3\xa4", (struct fah_exact_times){2, 2, 0.125, 0.25});
	c = function(e, "~", 0, "<built-in method x>", (struct fah_exact_times){0, 0, 0, 0});
	edge(e, a, f, (struct fah_exact_times){3, 2, 0.5, 0.75});
	edge(e, b, f, (struct fah_exact_times){2, 1, 0.5, 0.75});
	edge(e, b, g, (struct fah_exact_times){2, 2, 0.125, 0.25});
	edge(e, f, c, (struct fah_exact_times){1, 1, 0, 0});
}

static void prints(const struct fah_exact *e, const struct fah_pstats_options *o, const char *want)
{
	_cleanup_(fah_freep) char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(fah_report_pstats(f, e, o), 0);
	fclose(f);
	assert_string_equal(text, want);
}

static void reports(void **state)
{
	static const char *const titles[] = {"Mon Nov 16 04:38:27 2026    out"};
	struct fah_pstats_order order = {.keys = {FAH_PSTATS_TIME}, .n = 1};
	struct fah_pstats_limit two[2];
	struct fah_pstats_options o = {.titles = titles, .n_titles = 1, .order = &order};
	struct fah_exact e;

	(void)state;
	build(&e);
	prints(&e, &o,
	       "Mon Nov 16 04:38:27 2026    out\n\n"
	       "         9 function calls (7 primitive calls) in 1.875 seconds\n\n"
	       "   Ordered by: internal time\n\n"
	       "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
	       "      5/3    1.000    0.200    1.500    0.500 /a/f.py:2(\xc3\xa4)\n"
	       "        1    0.500    0.500    3.000    3.000 /a/m.py:1(<module>)\n"
	       "        1    0.250    0.250    2.000    2.000 /b/m.py:1(<module>)\n"
	       "        2    0.125    0.062    0.250    0.125 /b/f.py:2(\xc3\xa4)\n"
	       "        0    0.000             0.000          {built-in method x}\n\n\n");
	fah_pstats_limit_parse("/", &two[0]);
	fah_pstats_limit_parse("1", &two[1]);
	o.limits = two;
	o.n_limits = 2;
	o.n_titles = 0;
	o.what = FAH_PSTATS_CALLERS;
	prints(&e, &o,
	       "   Ordered by: internal time\n"
	       "   List reduced from 5 to 4 due to restriction <'/'>\n"
	       "   List reduced from 4 to 1 due to restriction <1>\n\n"
	       "Function      was called by...\n"
	       "                  ncalls  tottime  cumtime\n"
	       "/a/f.py:2(\xc3\xa4)  <-     3/2    0.500    0.750  /a/m.py:1(<module>)\n"
	       "                     2/1    0.500    0.750  /b/m.py:1(<module>)\n\n\n");
	order.reverse = true;
	o.what = FAH_PSTATS_CALLEES;
	o.n_limits = 0;
	prints(&e, &o,
	       "   Ordered by: internal time\n\n"
	       "Function             called...\n"
	       "                         ncalls  tottime  cumtime\n"
	       "{built-in method x}  -> \n"
	       "/b/f.py:2(\xc3\xa4)         -> \n"
	       "/b/m.py:1(<module>)  ->     2/1    0.500    0.750  /a/f.py:2(\xc3\xa4)\n"
	       "                              2    0.125    0.250  /b/f.py:2(\xc3\xa4)\n"
	       "/a/m.py:1(<module>)  ->     3/2    0.500    0.750  /a/f.py:2(\xc3\xa4)\n"
	       "/a/f.py:2(\xc3\xa4)         ->       1    0.000    0.000  {built-in method "
	       "x}\n\n\n");
	/* nothing left: not even the order is told */
	fah_pstats_limit_parse("nothing", &two[0]);
	o.n_limits = 1;
	prints(&e, &o, "");
	fah_exact_done(&e);
}

/* A caller that the merging makes two of loses one of them: so it is in pstats. Functions do not.
 */
static void stripped(void **state)
{
	struct fah_pstats_options o = {.what = FAH_PSTATS_CALLERS};
	struct fah_exact e, s;

	(void)state;
	build(&e);
	fah_exact_init(&s);
	assert_int_equal(fah_pstats_strip_dirs(&e, &s), 0);
	assert_int_equal(s.n_functions, 3);
	assert_int_equal(s.functions[0].times.calls, 2);
	assert_true(s.functions[1].times.self_s == 1.125);
	prints(&s, &o,
	       "   Random listing order was used\n\n"
	       "Function             was called by...\n"
	       "                         ncalls  tottime  cumtime\n"
	       "m.py:1(<module>)     <- \n"
	       "f.py:2(\xc3\xa4)            <-     4/3    0.625    1.000  m.py:1(<module>)\n"
	       "{built-in method x}  <-       1    0.000    0.000  f.py:2(\xc3\xa4)\n\n\n");
	fah_exact_done(&s);
	fah_exact_done(&e);
}

/* Names from a file cannot do anything to a terminal. */
static void hostile_names(void **state)
{
	struct fah_pstats_options o = {.what = FAH_PSTATS_CALLEES};
	struct fah_exact e;

	(void)state;
	fah_exact_init(&e);
	function(&e, "\x1b[2J", 1, "\xff\nC:\\x", (struct fah_exact_times){0});
	prints(&e, &o,
	       "   Random listing order was used\n\n"
	       "Function        called...\n"
	       "\\x1b[2J:1(\\udcff\\x0aC:\\x)  -> \n\n\n");
	fah_exact_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),    cmocka_unit_test(too_many_keys),
		cmocka_unit_test(limits),   cmocka_unit_test(regexes),
		cmocka_unit_test(texts),    cmocka_unit_test(reports),
		cmocka_unit_test(stripped), cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
