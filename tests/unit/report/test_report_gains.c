/*
 * test_report_gains.c - the bottleneck, what faster lines would gain, the time without profiling,
 * and reports that have little to show, whole, as in golden/. The numbers of each run are made so
 * that what must come out can be computed by hand.
 */
#include "golden.h"

#include "capture/format.h"
#include "model/gains.h"
#include "report/lines.h"
#include "report/summary.h"

#include <math.h>

#define ROOT "/home/me/project"

struct run {
	struct build b;
	uint32_t process, thread;
	double at;
};

static void begin(struct run *r)
{
	*r = (struct run){0};
	build_begin(&r->b);
	r->process = build_process(&r->b, 10, 0);
	r->thread = build_thread(&r->b, r->process, 10, 0);
}

static uint32_t node_of(struct run *r, const char *file, const char *name, uint32_t first,
			uint32_t line)
{
	return fah_writer_node(r->b.w, 0, build_function(&r->b, file, name, name, first), line);
}

static void spend(struct run *r, double ms, uint32_t flags, uint32_t node)
{
	for (double until = r->at + ms; r->at + 1 < until;) {
		r->at += 4;
		fah_writer_sample(r->b.w, r->thread, MS(r->at), MS(4), flags, node);
	}
}

static struct fah_profile *finish(struct run *r, double wall_ms, double cpu_ms)
{
	fah_writer_thread_end(r->b.w, r->thread, MS(wall_ms), MS(cpu_ms));
	build_process_end(&r->b, r->process, wall_ms, 9000000);
	return build_load(&r->b, wall_ms, cpu_ms);
}

static void check(struct fah_profile *p, const char *name,
		  int (*report)(FILE *, struct fah_profile *, const struct fah_report_options *))
{
	const char *dirs[] = {ROOT};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 1};
	struct fah_report_options o = {.width = 80, .utf8 = true, .root = ROOT, .scope = &scope};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(report(f, p, &o), 0);
	fclose(f);
	golden_compare(name, text);
	free(text);
}

static const struct fah_charges *charges_of(struct fah_profile *p)
{
	static const struct fah_scope everything = {.everything = true};
	const struct fah_charges *charges;

	assert_int_equal(fah_profile_charge(p, &everything, &charges), 0);
	return charges;
}

/* 10 s of which line 3 has 6: without it 4 s, 2.5 times as fast; with half 7 s. */
static void amdahl(void **state)
{
	const struct fah_gains *gains;
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	spend(&r, 6000, FAH_IN_PYTHON, node_of(&r, ROOT "/a.py", "f", 2, 3));
	spend(&r, 4000, FAH_IN_NATIVE, node_of(&r, ROOT "/a.py", "g", 8, 9));
	p = finish(&r, 10000, 10000);
	assert_int_equal(fah_profile_gains(p, charges_of(p), 1, 0.01, &gains), 0);
	assert_int_equal(gains->n, 1);
	assert_int_equal(gains->lines[0].line->line, 3);
	assert_true(fabs(gains->lines[0].without_s - 4) < 1e-6);
	assert_true(fabs(gains->lines[0].without_x - 2.5) < 1e-6);
	assert_true(fabs(gains->lines[0].half_s - 7) < 1e-6);
	assert_true(fabs(gains->lines[0].half_x - 10.0 / 7) < 1e-6);
	assert_true(fabs(fah_profile_totals(p)->cores - 1) < 1e-6);
	fah_profile_free(p);
}

/* Two functions whose shares the samples do not tell apart, and two that they do. */
static void rivals(void **state)
{
	(void)state;
	for (int apart = 0; apart < 2; apart++) {
		struct fah_bottleneck b;
		struct fah_profile *p;
		struct run r;

		begin(&r);
		spend(&r, apart ? 700 : 520, FAH_IN_PYTHON, node_of(&r, ROOT "/a.py", "f", 2, 3));
		spend(&r, apart ? 300 : 480, FAH_IN_PYTHON, node_of(&r, ROOT "/a.py", "g", 8, 9));
		p = finish(&r, 1000, 1000);
		fah_profile_bottleneck(p, charges_of(p), &b);
		assert_int_equal(b.kind, FAH_BOTTLENECK_FUNCTION);
		assert_string_equal(fah_profile_function(p, b.function->function)->name, "f");
		assert_true(apart ? !b.rival : b.rival != NULL);
		if (!apart)
			check(p, "rivals", fah_report_summary);
		fah_profile_free(p);
	}
}

/* Twelve functions alike: none is the bottleneck. */
static void spread(void **state)
{
	struct fah_bottleneck b;
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	for (uint32_t i = 0; i < 12; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%u", i);
		spend(&r, 100, FAH_IN_PYTHON,
		      node_of(&r, ROOT "/a.py", name, 10 * i + 1, 10 * i + 2));
	}
	p = finish(&r, 1200, 1200);
	fah_profile_bottleneck(p, charges_of(p), &b);
	assert_int_equal(b.kind, FAH_BOTTLENECK_SPREAD);
	check(p, "spread", fah_report_summary);
	fah_profile_free(p);
}

/* 0.3 s of work in 1 s, of which 0.6 s had no core: that is the bottleneck, not the function. */
static void no_core(void **state)
{
	struct fah_bottleneck b;
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	spend(&r, 300, FAH_IN_PYTHON, node_of(&r, ROOT "/a.py", "f", 2, 3));
	fah_writer_states(r.b.w, r.thread, MS(300), MS(300), 0);
	fah_writer_states(r.b.w, r.thread, MS(1000), MS(300), MS(600));
	p = finish(&r, 1000, 300);
	fah_profile_bottleneck(p, charges_of(p), &b);
	assert_int_equal(b.kind, FAH_BOTTLENECK_NO_CORE);
	assert_true(fabs(b.share - 0.6) < 0.01);
	check(p, "no-core", fah_report_summary);
	fah_profile_free(p);
}

/* The same, shared all along: lines have it, and the words tell this from what no line has. */
static void no_core_in_lines(void **state)
{
	struct fah_profile *p;
	uint32_t node;
	struct run r;

	(void)state;
	begin(&r);
	node = node_of(&r, ROOT "/a.py", "f", 2, 3);
	for (int turn = 1; turn <= 400; turn++) {
		fah_writer_sample(r.b.w, r.thread, MS(10 * turn), MS(4),
				  FAH_IN_PYTHON | (turn <= 390 ? FAH_SAMPLE_RAN_ON : 0), node);
		if (turn % 10 == 0)
			fah_writer_states(r.b.w, r.thread, MS(10 * turn), MS(4 * turn),
					  MS(6 * turn));
	}
	p = finish(&r, 4000, 1600);
	check(p, "no-core-in-lines", fah_report_summary);
	fah_profile_free(p);
}

/* A head counts the functions that have rows, or those that one row stands for. */
static void below_the_floor(void **state)
{
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	spend(&r, 9000, FAH_IN_PYTHON, node_of(&r, ROOT "/pkg/a.py", "f", 2, 3));
	spend(&r, 980, FAH_IN_PYTHON, node_of(&r, ROOT "/pkg/b.py", "g", 2, 3));
	spend(&r, 4, FAH_IN_PYTHON, node_of(&r, ROOT "/pkg/a.py", "small", 20, 23));
	spend(&r, 4, FAH_IN_PYTHON, node_of(&r, ROOT "/pkg/c.py", "one", 2, 3));
	spend(&r, 4, FAH_IN_PYTHON, node_of(&r, ROOT "/pkg/c.py", "two", 12, 13));
	p = finish(&r, 10000, 10000);
	check(p, "below-the-floor", fah_report_summary);
	check(p, "below-the-floor-lines", fah_report_lines); /* no file below 1 % */
	fah_profile_free(p);
}

/* All time in code that is not the project's: it says so and shows that. */
static void outside(void **state)
{
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	spend(&r, 900, FAH_IN_PYTHON,
	      node_of(&r, "/opt/elsewhere/lib/json/tool.py", "main", 1, 60));
	spend(&r, 80, FAH_IN_NATIVE, node_of(&r, "/opt/elsewhere/lib/runpy.py", "_run_code", 2, 3));
	p = finish(&r, 1000, 1000);
	check(p, "outside", fah_report_summary);
	check(p, "outside-lines", fah_report_lines);
	fah_profile_free(p);
}

/*
 * 8 s of handlers' CPU in 100 s of two threads beside each other, 4 s of the profiler's own. With
 * two cores there is none left for that: (8 + 4) / 2 less; with three it takes nothing: 8 / 2.
 */
static struct fah_profile *costly(const char *cores)
{
	struct fah_rec_health health = {.process = 1,
					.handlers = {.count = 1000, .sum_ns = MS(8000)}};
	uint32_t node, second;
	struct run r;

	begin(&r);
	fah_writer_meta(r.b.w, "collector_cpu_ns", "4000000000");
	if (cores)
		fah_writer_meta(r.b.w, "cores", cores);
	node = node_of(&r, ROOT "/a.py", "f", 2, 3);
	second = build_thread(&r.b, r.process, 11, 0);
	for (double ms = 1000; ms <= 100000; ms += 1000) {
		fah_writer_sample(r.b.w, r.thread, MS(ms), MS(1000), FAH_IN_PYTHON, node);
		fah_writer_sample(r.b.w, second, MS(ms), MS(1000), FAH_IN_NATIVE, node);
	}
	health.handlers.buckets[10] = 1000;
	fah_writer_health(r.b.w, &health);
	fah_writer_thread_end(r.b.w, r.thread, MS(100000), MS(100000));
	fah_writer_thread_end(r.b.w, second, MS(100000), MS(100000));
	build_process_end(&r.b, r.process, 100000, 9000000);
	return build_load(&r.b, 100000, 200000);
}

static void without_profiling(void **state)
{
	static const struct {
		const char *cores;
		double seconds;
	} cases[] = {{"2", 94}, {"3", 96}, {"8", 96}, {NULL, 96}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct fah_profile *p = costly(cases[i].cores);

		assert_true(fabs(fah_profile_totals(p)->unprofiled_s - cases[i].seconds) < 0.01);
		if (!i)
			check(p, "costly", fah_report_summary);
		fah_profile_free(p);
	}
}

/* The parts of a run are the whole run. */
static void parts(void **state)
{
	struct fah_parts whole;
	struct fah_profile *p;
	struct run r;

	(void)state;
	begin(&r);
	spend(&r, 300, FAH_IN_PYTHON, node_of(&r, ROOT "/a.py", "f", 2, 3));
	spend(&r, 100, FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON, 0);
	p = finish(&r, 1000, 400);
	fah_profile_parts(p, charges_of(p), &whole);
	assert_true(fabs(whole.inside - 0.3) < 1e-6);
	assert_true(fabs(whole.inside + whole.outside + whole.no_python + whole.no_core +
			 whole.unknown + whole.unsampled - 1) < 1e-6);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amdahl),
		cmocka_unit_test(rivals),
		cmocka_unit_test(spread),
		cmocka_unit_test(no_core),
		cmocka_unit_test(no_core_in_lines),
		cmocka_unit_test(below_the_floor),
		cmocka_unit_test(outside),
		cmocka_unit_test(parts),
		cmocka_unit_test(without_profiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
