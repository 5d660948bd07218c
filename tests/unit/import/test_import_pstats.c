/*
 * test_import_pstats.c - Python's stats files, byte by byte: every way in which a marshal may write
 * a value, and everything that must not be believed.
 */
#include "import/pstats.h"

#include "core/err.h"
#include "import/marshal.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BYTES(literal) literal, sizeof(literal) - 1

/* (f.py, 7, go): (1, 2, 0.5, 1.0, {}) in several writings; K and V are put together by the tests.
 */
#define KEY \
	")\x03z\x04" \
	"f.pyi\x07\0\0\0z\x02" \
	"go"
#define HALF "g\0\0\0\0\0\0\xe0\x3f"
#define ONE "g\0\0\0\0\0\0\xf0\x3f"
#define VALUE ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE "{0"

static int parse(const char *data, size_t len, struct fah_exact *e)
{
	/* behind it nothing may be read: a copy without room shows it under a sanitizer */
	char *copy = malloc(len ? len : 1);
	int err;

	fah_exact_init(e);
	memcpy(copy, data, len);
	err = fah_pstats_parse(copy, len, e);
	free(copy);
	return err;
}

static void check_go(const char *data, size_t len)
{
	const struct fah_exact_function *f;
	struct fah_exact e;

	assert_int_equal(parse(data, len, &e), 0);
	assert_int_equal(e.n_functions, 1);
	f = &e.functions[0];
	assert_string_equal(f->file, "f.py");
	assert_string_equal(f->name, "go");
	assert_int_equal(f->line, 7);
	assert_int_equal(f->times.primitive, 1);
	assert_int_equal(f->times.calls, 2);
	assert_true(f->times.self_s == 0.5 && f->times.total_s == 1.0);
	assert_false(f->only_caller);
	fah_exact_done(&e);
}

static void every_writing(void **state)
{
	(void)state;
	check_go(BYTES("{" KEY VALUE "0"));
	/* long tuples, as bytes, UTF-8, interned, of 64 bits, many digits, floats as text */
	check_go(BYTES("{(\x03\0\0\0s\x04\0\0\0f.pyI\x07\0\0\0\0\0\0\0u\x02\0\0\0go"
		       "(\x05\0\0\0l\x01\0\0\0\x01\0l\x01\0\0\0\x02\0f\x03"
		       "0.5f\x05"
		       "1e+00"
		       "{00"));
	check_go(BYTES("{)\x03"
		       "a\x04\0\0\0f.pyi\x07\0\0\0A\x02\0\0\0go" VALUE "0"));
	check_go(BYTES("{)\x03t\x04\0\0\0f.pyi\x07\0\0\0Z\x02"
		       "go" VALUE "0"));
	/* whole seconds as integers; what stands behind the end */
	check_go(BYTES("{" KEY ")\x05i\x01\0\0\0i\x02\0\0\0" HALF "i\x01\0\0\0{00 more"));
}

static void references(void **state)
{
	struct fah_exact e;

	(void)state;
	/* numbers 0: the dict, 1: the key, 2: f.py, 3: 7, 4: go; the function calls itself */
	assert_int_equal(parse(BYTES("\xfb\xa9\x03\xfa\x04"
				     "f.py\xe9\x07\0\0\0\xda\x02"
				     "go"
				     ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE "{r\x01\0\0\0"
				     ")\x04i\x01\0\0\0i\0\0\0\0" HALF HALF "0"
				     ")\x03r\x02\0\0\0r\x03\0\0\0z\x01"
				     "b" VALUE "0"),
			       &e),
			 0);
	assert_int_equal(e.n_functions, 2);
	assert_int_equal(e.n_edges, 1);
	assert_int_equal(e.edges[0].caller, 0);
	assert_int_equal(e.edges[0].callee, 0);
	assert_int_equal(e.edges[0].times.calls, 1);
	assert_int_equal(e.edges[0].times.primitive, 0);
	assert_string_equal(e.functions[1].file, "f.py");
	assert_string_equal(e.functions[1].name, "b");
	assert_int_equal(e.functions[1].line, 7);
	fah_exact_done(&e);
}

static void callers(void **state)
{
	struct fah_exact e;

	(void)state;
	/* of the module profile: a number. The caller has no times of its own, and stands last. */
	assert_int_equal(parse(BYTES("{" KEY ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE
				     "{)\x03z\x01~i\0\0\0\0z\x01xi\x03\0\0\0"
				     "0"
				     ")\x03z\x01"
				     "bi\x01\0\0\0z\x01"
				     "b" VALUE "0"),
			       &e),
			 0);
	assert_int_equal(e.n_functions, 3);
	assert_string_equal(e.functions[1].name, "b");
	assert_string_equal(e.functions[2].name, "x");
	assert_true(e.functions[2].only_caller);
	assert_true(e.edges[0].only_count);
	assert_int_equal(e.edges[0].times.calls, 3);
	fah_exact_done(&e);
}

static void numbers(void **state)
{
	struct fah_exact e;

	(void)state;
	/* 2^62 calls in five digits; -1, of those who know no count; a negative line */
	assert_int_equal(parse(BYTES("{)\x03z\x01"
				     "fi\xff\xff\xff\xffz\x01"
				     "g)\x05l\x05\0\0\0\0\0\0\0\0\0"
				     "\0\0\x04\0i\xff\xff\xff\xff" HALF ONE "{00"),
			       &e),
			 0);
	assert_true(e.functions[0].times.primitive == (uint64_t)1 << 62);
	assert_int_equal(e.functions[0].times.calls, 0);
	assert_int_equal(e.functions[0].line, -1);
	fah_exact_done(&e);
	/* 2^75, -(2^75) as a line; not a number; infinite */
	assert_int_equal(
		parse(BYTES("{" KEY ")\x05i\x01\0\0\0l\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0" HALF ONE
			    "{00"),
		      &e),
		FAH_ERR_RANGE);
	fah_exact_done(&e);
	assert_int_equal(parse(BYTES("{)\x03z\x01"
				     "fl\xfa\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\x01\0z\x01"
				     "g" VALUE "0"),
			       &e),
			 FAH_ERR_RANGE);
	fah_exact_done(&e);
	assert_int_equal(
		parse(BYTES("{" KEY ")\x05i\x01\0\0\0i\x01\0\0\0g\0\0\0\0\0\0\xf8\x7f" ONE "{00"),
		      &e),
		FAH_ERR_RANGE);
	fah_exact_done(&e);
	assert_int_equal(
		parse(BYTES("{" KEY ")\x05i\x01\0\0\0i\x01\0\0\0f\x03infi\x01\0\0\0{00"), &e),
		FAH_ERR_RANGE);
	fah_exact_done(&e);
}

/* Bytes that are no UTF-8 come as surrogates, which stand for them. */
static void surrogates(void **state)
{
	struct fah_exact e;

	(void)state;
	assert_int_equal(parse(BYTES("{)\x03u\x0a\0\0\0a\xed\xb2\x80\xed\xb3\xbf\xc3\xa4\x62"
				     "i\x07\0\0\0u\x04\0\0\0g\xed\xa0\x80" VALUE "0"),
			       &e),
			 0);
	assert_string_equal(e.functions[0].file, "a\x80\xff\xc3\xa4\x62");
	assert_string_equal(e.functions[0].name, "g\xed\xa0\x80");
	fah_exact_done(&e);
}

/* profiling.sampling of 3.15 marks its files. */
static void samples(void **state)
{
	struct fah_exact e;

	(void)state;
	assert_int_equal(parse(BYTES("{" KEY VALUE ")\x01z\x0b__sampled__T0"), &e), 0);
	assert_true(e.samples);
	assert_int_equal(e.n_functions, 1);
	fah_exact_done(&e);
}

static void none(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		int err;
	} cases[] = {
		{BYTES(""), FAH_ERR_DAMAGED},
		{BYTES("plain text, and more of it"), FAH_ERR_FORMAT},
		{BYTES("{\"json\": 1, \"more\": 2}"), FAH_ERR_FORMAT},
		{BYTES("i\x01\0\0\0"), FAH_ERR_FORMAT},
		{BYTES("{i\x01\0\0\0i\x01\0\0\0"
		       "0"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY "N0"), FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE "N0"), FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05i\x01\0\0\0z\x01"
		       "2" HALF ONE "{00"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x04i\x01\0\0\0i\x02\0\0\0" HALF ONE "0"), FAH_ERR_FORMAT},
		/* a NUL in a name; a caller that is no tuple; a digit of 16 bits; a float of
		   letters */
		{BYTES("{)\x03z\x02"
		       "f\0i\x01\0\0\0z\x01g" VALUE "0"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE "{" KEY "N00"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05l\x01\0\0\0\0\xffi\x01\0\0\0" HALF ONE "{00"), FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05i\x01\0\0\0i\x01\0\0\0f\x01xi\0\0\0\0{00"), FAH_ERR_FORMAT},
		/* references: to nothing, to a number below zero, to what is not complete */
		{BYTES("{" KEY "r\x05\0\0\0"
		       "0"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY "r\xff\xff\xff\xff"
		       "0"),
		 FAH_ERR_FORMAT},
		{BYTES("\xfb" KEY "r\0\0\0\0"
		       "0"),
		 FAH_ERR_FORMAT},
		/* lengths that are longer than the file, or below zero */
		{BYTES("{)\x03z\xff"
		       "f.pyi\x07\0\0\0z\x02go"),
		 FAH_ERR_DAMAGED},
		{BYTES("{(\xff\xff\xff\x7f"
		       "f.pyi\x07\0\0\0z\x02go"),
		 FAH_ERR_DAMAGED},
		{BYTES("{(\xff\xff\xff\xff"
		       "f.pyi\x07\0\0\0z\x02go"),
		 FAH_ERR_FORMAT},
		{BYTES("{" KEY ")\x05l\xff\xff\xff\x7f\0\0\0\0\0"), FAH_ERR_DAMAGED},
		{BYTES("{" KEY ")\x05l\0\0\0\x80\0\0\0\0\0"), FAH_ERR_DAMAGED},
		{BYTES("{" KEY "?"), FAH_ERR_FORMAT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fah_exact e;
		int err = parse(cases[i].data, cases[i].len, &e);

		if (err != cases[i].err)
			fail_msg("case %zu: %d, not %d", i, err, cases[i].err);
		fah_exact_done(&e);
	}
}

/* Cut anywhere, it is none. */
static void cut(void **state)
{
	static const char whole[] = "{" KEY ")\x05i\x01\0\0\0i\x02\0\0\0" HALF ONE "{" KEY
				    ")\x04i\x01\0\0\0l\x01\0\0\0\x01\0f\x03"
				    "0.5" HALF "00";
	struct fah_exact e;

	(void)state;
	assert_int_equal(parse(whole, sizeof(whole) - 1, &e), 0);
	fah_exact_done(&e);
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		assert_int_equal(parse(whole, n, &e), FAH_ERR_DAMAGED);
		fah_exact_done(&e);
	}
}

static void deep(void **state)
{
	char data[1000];
	struct fah_exact e;

	(void)state;
	memset(data, '{', sizeof(data));
	data[0] = '{';
	for (size_t i = 1; i + 1 < sizeof(data); i += 2)
		memcpy(data + i, ")\x01", 2);
	assert_int_equal(parse(data, sizeof(data), &e), FAH_ERR_RANGE);
	fah_exact_done(&e);
}

/* One dict of callers for all functions: a short file that would need all memory. */
static void shared_callers(void **state)
{
	enum { N = 400 };
	static char data[64 * N];
	size_t n = 0;
	struct fah_exact e;

	(void)state;
#define PUT(literal) (memcpy(data + n, BYTES(literal)), n += sizeof(literal) - 1)
	PUT("{");
	for (int i = 0; i < N; i++) {
		char line[] = {')', 3, 'z', 1, 'f', 'i', (char)i, (char)(i >> 8),
			       0,   0, 'z', 1, 'g'};

		memcpy(data + n, line, sizeof(line));
		n += sizeof(line);
		PUT(")\x05i\x01\0\0\0i\x01\0\0\0i\0\0\0\0i\0\0\0\0");
		if (i) {
			PUT("r\0\0\0\0");
			continue;
		}
		PUT("\xfb");
		for (int k = 0; k < N; k++) {
			char key[] = {')', 3, 'z', 1, 'c', 'i', (char)k, (char)(k >> 8),
				      0,   0, 'z', 1, 'g', 'i', 1,	 0,
				      0,   0};

			memcpy(data + n, key, sizeof(key));
			n += sizeof(key);
		}
		PUT("0");
	}
	PUT("0");
	assert_true(n < sizeof(data));
	assert_int_equal(parse(data, n, &e), FAH_ERR_RANGE);
	fah_exact_done(&e);
}

static void likely(void **state)
{
	(void)state;
	assert_true(fah_pstats_is_likely(BYTES("\xfb\xa9\x03")));
	assert_true(fah_pstats_is_likely(BYTES("{(\x03")));
	assert_false(fah_pstats_is_likely(BYTES("{\n  \"a\": 1}")));
	assert_false(fah_pstats_is_likely(BYTES("{")));
	assert_false(fah_pstats_is_likely(BYTES("FAHCAP\r\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_writing), cmocka_unit_test(references),
		cmocka_unit_test(callers),	 cmocka_unit_test(numbers),
		cmocka_unit_test(surrogates),	 cmocka_unit_test(samples),
		cmocka_unit_test(none),		 cmocka_unit_test(cut),
		cmocka_unit_test(deep),		 cmocka_unit_test(shared_callers),
		cmocka_unit_test(likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
