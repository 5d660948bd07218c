/*
 * test_model_linehits.c - lines that were told one by one: of a code object's line the last record
 * counts; code objects of one function, and processes, are added up.
 */
#include "build.h"

#include "capture/reader.h"
#include "core/varint.h"
#include "model/linehits.h"

struct told {
	uint32_t process, function, code;
	struct fah_rec_line lines[3];
	int n;
};

static void tell(struct build *b, const struct told *t)
{
	uint8_t bytes[3 * 4 * FAH_VARINT_MAX], *p = bytes;
	struct fah_rec_lines lines = {
		.process = t->process, .function = t->function, .code = t->code};

	for (int i = 0; i < t->n; i++) {
		p = fah_put_varint(p, t->lines[i].line);
		p = fah_put_varint(p, t->lines[i].hits);
		p = fah_put_varint(p, t->lines[i].ns);
		p = fah_put_varint(p, t->lines[i].called_ns);
	}
	lines.rest = (struct fah_cursor){bytes, p, false};
	fah_writer_lines(b->w, &lines);
}

static void line_is(const struct fah_linehit *l, uint32_t line, uint64_t hits, double time,
		    double called)
{
	assert_int_equal(l->line, line);
	assert_int_equal(l->hits, hits);
	assert_true(l->time == time && l->called == called);
}

static void last_record_counts(void **state)
{
	struct fah_linehits h;
	struct fah_linehits_state how;
	struct fah_profile *p;
	struct build b;
	uint32_t one, two, f, g, never;

	build_begin(&b);
	one = build_process(&b, 100, 0);
	two = build_process(&b, 101, 0);
	f = build_function(&b, "/a.py", "f", "C.f", 10);
	g = build_function(&b, "/a.py", "g", "g", 2);
	never = build_function(&b, "/a.py", "never", "never", 20);
	tell(&b, &(struct told){one, f, 1, {{11, 1, 100, 0}}, 1});
	tell(&b, &(struct told){one, f, 1, {{11, 5, 900, 30}, {12, 4, 70, 0}}, 2});
	/* another code object of the same function, and a child */
	tell(&b, &(struct told){one, f, 2, {{12, 1, 7, 1}}, 1});
	tell(&b, &(struct told){two, f, 1, {{11, 2, 50, 0}}, 1});
	tell(&b, &(struct told){two, g, 2, {{3, 1, 1, 1}}, 1});
	tell(&b, &(struct told){two, never, 3, {{0}}, 0});
	fah_writer_lines_state(b.w,
			       &(struct fah_rec_lines_state){.process = one, .lost_frames = 3});
	fah_writer_lines_state(b.w, &(struct fah_rec_lines_state){.process = two,
								  .lost_frames = 4,
								  .why = {"too old", 7}});
	p = build_load(&b, 1000, 500);
	fah_linehits_init(&h, 1e-9);
	assert_int_equal(fah_linehits_load(p, &h, &how), 0);
	fah_profile_free(p);
	fah_linehits_sort(&h);

	assert_int_equal(h.n_functions, 3);
	assert_string_equal(h.functions[0].name, "g");
	assert_string_equal(h.functions[1].name, "C.f");
	assert_int_equal(h.functions[1].n_lines, 2);
	line_is(&h.functions[1].lines[0], 11, 7, 950, 30);
	line_is(&h.functions[1].lines[1], 12, 5, 77, 1);
	assert_int_equal(h.functions[2].n_lines, 0);
	assert_true(fah_linehits_total(&h, &h.functions[1], NULL) == 1027e-9);
	assert_int_equal(how.lost_frames, 7);
	assert_true(how.told);
	assert_string_equal(how.why, "too old");
	fah_linehits_done(&h);
}

/* Files of several versions: microseconds and nanoseconds; one that knows of calls, one not. */
static void units_are_one(void **state)
{
	struct fah_linehits a, b;
	uint32_t f;

	fah_linehits_init(&a, 1e-9);
	fah_linehits_init(&b, 1e-6);
	b.has_called = false;
	assert_int_equal(fah_linehits_function(&a, "x", 1, 1, "f", 1, &f), 0);
	assert_int_equal(fah_linehits_add(&a, f, &(struct fah_linehit){2, 1, 500, 100}), 0);
	assert_int_equal(fah_linehits_function(&b, "x", 1, 1, "f", 1, &f), 0);
	assert_int_equal(fah_linehits_add(&b, f, &(struct fah_linehit){2, 1, 3, 0}), 0);
	assert_int_equal(fah_linehits_merge(&a, &b), 0);
	assert_int_equal(a.n_functions, 1);
	assert_int_equal(a.functions[0].lines[0].hits, 2);
	assert_true(a.functions[0].lines[0].time > 3499.9 && a.functions[0].lines[0].time < 3500.1);
	assert_false(a.has_called);
	fah_linehits_done(&a);
	fah_linehits_done(&b);
}

/* What an interpreter without qualified names told too much of. */
static void only_names(void **state)
{
	static const char *const names[] = {"C.*", "top"};
	static const struct {
		const char *file, *name;
		bool marked, stays;
	} all[] = {
		{"a.py", "C.f", false, true},	{"a.py", "D.f", false, false},
		{"a.py", "D.g", true, true},	{"a.py", "outer.<locals>.C.f", false, true},
		{"a.py", "top", false, true},	{"a.py", "stop", false, false},
		{"<string>", "f", false, true}, {"<frozen x>", "f", false, false},
	};
	struct fah_linehits h;
	uint32_t f;
	size_t n = sizeof(all) / sizeof(all[0]), at = 0;

	fah_linehits_init(&h, 1);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fah_linehits_function(&h, all[i].file, strlen(all[i].file),
						       (uint32_t)i, all[i].name,
						       strlen(all[i].name), &f),
				 0);
		assert_int_equal(fah_linehits_add(&h, f, &(struct fah_linehit){1, 1, 1, 0}), 0);
		h.functions[f].marked = all[i].marked;
	}
	fah_linehits_only(&h, names, 0);
	assert_int_equal(h.n_functions, n);
	fah_linehits_only(&h, names, 2);
	for (size_t i = 0; i < n; i++)
		if (all[i].stays)
			assert_string_equal(h.functions[at++].name, all[i].name);
	assert_int_equal(h.n_functions, at);
	fah_linehits_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_record_counts),
		cmocka_unit_test(units_are_one),
		cmocka_unit_test(only_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
