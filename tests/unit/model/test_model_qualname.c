/*
 * test_model_qualname.c - the surprises of qualified names, one by one. check_qualnames.py compares
 * with an interpreter over its whole library.
 */
#include "build.h"

#include "base/strbuf.h"
#include "model/qualname.h"

static const char source[] =
	"'''a string\n"							  /* 1 */
	"def no(): pass'''\n"						  /* 2 */
	"class A(B, key=lambda: 0):\n"					  /* 3 */
	"    def f(self, x=lambda: 1,\n"				  /* 4 */
	"  y=2):\n"							  /* 5 */
	"        # def comment():\n"					  /* 6 */
	"        s = \"def 'quoted(): \\\" \"\n"			  /* 7 */
	"        def inner(): return [\n"				  /* 8 */
	"            (lambda: i)\n"					  /* 9 */
	"            for i in map(lambda j: j, s)\n"			  /* 10 */
	"            if {k: v for k, v in i}]\n"			  /* 11 */
	"        return inner\n"					  /* 12 */
	"    @deco(\n"							  /* 13 */
	"        1)\n"							  /* 14 */
	"    # between\n"						  /* 15 */
	"    @other\n"							  /* 16 */
	"    async def g(self):\n"					  /* 17 */
	"        global h\n"						  /* 18 */
	"        def h(): return (x for x in y)\n"			  /* 19 */
	"\tclass Tab: z = lambda: {a for a in b}\n"			  /* 20 */
	"def after(\\\n"						  /* 21 */
	"): return f'{lambda: 0}'\n"					  /* 22 */
	"x = [y async for y in z]; w = lambda a=lambda: 1: (lambda: a)\n" /* 23 */
	"if x: v = {lambda: 1: 2}[lambda: 3:4]\n"			  /* 24 */
	;

static void surprises(void **state)
{
	static const struct {
		uint32_t line;
		const char *name, *qualname;
	} cases[] = {
		{3, "A", "A"},
		{3, "<lambda>", "<lambda>"},
		{4, "f", "A.f"},
		{4, "<lambda>", "A.<lambda>"},
		{8, "inner", "A.f.<locals>.inner"},
		{8, "<listcomp>", "A.f.<locals>.inner.<locals>.<listcomp>"},
		{9, "<lambda>", "A.f.<locals>.inner.<locals>.<listcomp>.<lambda>"},
		{10, "<lambda>", "A.f.<locals>.inner.<locals>.<lambda>"},
		{11, "<dictcomp>", "A.f.<locals>.inner.<locals>.<listcomp>.<dictcomp>"},
		{13, "g", "A.g"},
		{19, "h", "h"},
		{19, "<genexpr>", "h.<locals>.<genexpr>"},
		{20, "Tab", "A.g.<locals>.Tab"},
		{20, "<setcomp>", "A.g.<locals>.Tab.<lambda>.<locals>.<setcomp>"},
		{21, "after", "after"},
		{22, "<lambda>", "after.<locals>.<lambda>"}, /* in an f-string: the scope around */
		{23, "<listcomp>", "<listcomp>"},
		{24, "<lambda>", "<lambda>"},
		{2, "no", NULL},
		{6, "comment", NULL},
		{17, "g", NULL},
		{99, "f", NULL},
	};
	struct fah_qualnames *q;

	(void)state;
	assert_int_equal(fah_qualnames_new(source, sizeof(source) - 1, &q), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *got = fah_qualnames_find(q, cases[i].name, cases[i].line);

		if (!cases[i].qualname)
			assert_null(got);
		else if (!got || strcmp(got, cases[i].qualname) != 0)
			fail_msg("line %u, %s: %s", cases[i].line, cases[i].name,
				 got ? got : "nothing");
	}
	fah_qualnames_free(q);
}

/* A line ends in \r\n or \r as well, also in strings, comments and behind a backslash. */
static void line_ends(void **state)
{
	static const char *const ends[] = {"\n", "\r\n", "\r"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;
		struct fah_qualnames *q;

		for (const char *p = source; *p; p++)
			fah_strbuf_adds(&sb, *p == '\n' ? ends[i] : (char[]){*p, 0});
		assert_int_equal(fah_qualnames_new(fah_strbuf_str(&sb), sb.len, &q), 0);
		assert_string_equal(fah_qualnames_find(q, "g", 13), "A.g");
		assert_string_equal(fah_qualnames_find(q, "after", 21), "after");
		assert_int_equal(fah_qualnames_last_line(q, 21), 22);
		fah_qualnames_free(q);
		fah_strbuf_release(&sb);
	}
}

/* Text that is no Python: any answer, no crash (run under ASan). */
static void not_python(void **state)
{
	struct build b = {.seed = 42};
	static const char *const parts[] = {
		"def ", "class ", "lambda",   "(",  "[",    "{",      "}",    ")",    "]", ":",
		":=",	"for ",	  " in ",     "\n", "\\\n", "\"\"\"", "'",    "@",    ";", "async ",
		"\t",	"if ",	  "global x", "#",  "x",    ",",      "\xff", "\r\n", "\r"};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;
		struct fah_qualnames *q;
		const char *name;
		uint32_t line;

		for (int i = (int)(build_random(&b) * 60); i--;)
			fah_strbuf_adds(&sb, parts[(size_t)(build_random(&b) *
							    (sizeof(parts) / sizeof(*parts)))]);
		assert_int_equal(fah_qualnames_new(fah_strbuf_str(&sb), sb.len, &q), 0);
		for (size_t i = 0; fah_qualnames_at(q, i, &name, &line); i++)
			fah_qualnames_find(q, name, line);
		fah_qualnames_free(q);
		fah_strbuf_release(&sb);
	}
}

static void too_deep(void **state)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_qualnames *q;

	(void)state;
	fah_strbuf_adds(&sb, "def f(): pass\nx = ");
	fah_strbuf_fill(&sb, '(', 100000);
	assert_int_equal(fah_qualnames_new(sb.p, sb.len, &q), 0);
	assert_string_equal(fah_qualnames_find(q, "f", 1), "f");
	fah_qualnames_free(q);
	fah_strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(surprises),
		cmocka_unit_test(line_ends),
		cmocka_unit_test(not_python),
		cmocka_unit_test(too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
