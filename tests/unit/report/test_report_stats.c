/*
 * test_report_stats.c - several runs as a table and as JSON, whole, as in golden/; and the numbers,
 * which can be computed by hand from how the runs are made.
 */
#include "golden.h"

#include "model/stats.h"
#include "report/stats.h"

#include <math.h>

#define ROOT "/home/me/project"

struct part {
	const char *name;
	uint32_t line;
	double ms;
};

/* A run of one thread that spends its time in these functions, one after the other. */
static struct fah_profile *run_of(const struct part *parts, size_t n, double sample_ms)
{
	uint32_t process, thread;
	struct build b;
	double at = 0;

	build_begin(&b);
	fah_writer_meta(b.w, "start_real_ns", "1794782322000000000");
	fah_writer_meta(b.w, "git_commit", "0123456789abcdef");
	fah_writer_meta(b.w, "git_branch", "main");
	fah_writer_meta(b.w, "git_dirty", "a.py\ndoc/b.md");
	process = build_process(&b, 10, 0);
	thread = build_thread(&b, process, 10, 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t function = build_function(&b, ROOT "/pkg/a.py", parts[i].name,
						   parts[i].name, parts[i].line);
		uint32_t node = fah_writer_node(b.w, 0, function, parts[i].line + 1);

		for (double ms = 0; ms + sample_ms / 2 < parts[i].ms; ms += sample_ms) {
			at += sample_ms;
			fah_writer_sample(b.w, thread, MS(at), MS(sample_ms), FAH_IN_PYTHON, node);
		}
	}
	fah_writer_thread_end(b.w, thread, MS(at), MS(at));
	build_process_end(&b, process, at, 9000000);
	return build_load(&b, at, at);
}

static void add(struct fah_stats *s, const char *path, struct fah_profile *p)
{
	static const struct fah_scope everything = {.everything = true};
	const struct fah_charges *charges;

	assert_int_equal(fah_profile_charge(p, &everything, &charges), 0);
	assert_int_equal(fah_stats_add(s, path, p, charges, ROOT), 0);
	fah_profile_free(p);
}

#define RUN(s, path, sample_ms, ...) \
	add(s, path, \
	    run_of((const struct part[]){__VA_ARGS__}, \
		   sizeof((const struct part[]){__VA_ARGS__}) / sizeof(struct part), sample_ms))

/* steady: 4, 4.04, 3.96 s; jumpy: 1, 2, 3 s, far beyond what its samples make; evil: 0, 0.3, 0 s;
 * two functions of one name: 0.1 s each. */
static struct fah_stats *three_runs(void)
{
	struct fah_stats *s;

	assert_int_equal(fah_stats_new(&s), 0);
	RUN(s, "runs/run_1/profile.fah", 1, {"steady", 3, 4000}, {"jumpy", 9, 1000},
	    {"twice", 20, 100}, {"twice", 25, 100});
	RUN(s, "runs/run_2/profile.fah", 1, {"steady", 3, 4040}, {"jumpy", 9, 2000},
	    {"twice", 20, 100}, {"twice", 25, 100}, {"evil\033[31m", 40, 300});
	RUN(s, "runs/run_3/profile.fah", 1, {"steady", 4, 3960}, {"jumpy", 10, 3000},
	    {"twice", 21, 100}, {"twice", 26, 100});
	return s;
}

static const struct fah_stats_function *row(const struct fah_stats *s, const char *name)
{
	size_t n;
	const struct fah_stats_program *programs = fah_stats_programs(s, &n);

	for (size_t i = 0; i < programs[0].n_functions; i++)
		if (!strcmp(programs[0].functions[i].name, name))
			return &programs[0].functions[i];
	fail_msg("there is no %s", name);
	return NULL;
}

/* A sample stands for the time up to it: at the border of two, half a millisecond goes astray. */
static void near(double a, double b)
{
	if (!(fabs(a - b) < 0.003))
		fail_msg("%.9g is not %.9g", a, b);
}

static void numbers(void **state)
{
	struct fah_stats *s = three_runs();
	const struct fah_stats_function *f;
	size_t n;

	(void)state;
	assert_int_equal(fah_stats_finish(s), 0);
	fah_stats_programs(s, &n);
	assert_int_equal(n, 1);
	assert_int_equal(fah_stats_programs(s, &n)[0].n, 3);
	near(fah_stats_programs(s, &n)[0].wall_s.min, 5.2);
	near(fah_stats_programs(s, &n)[0].wall_s.max, 7.16);
	f = row(s, "steady");
	near(f->seconds.mean, 4);
	near(f->seconds.sd, 0.04);
	near(f->seconds.min, 3.96);
	near(f->seconds.max, 4.04);
	assert_int_equal(f->n, 3);
	assert_int_equal(f->line, 4);
	assert_false(f->unstable);
	f = row(s, "jumpy");
	near(f->seconds.mean, 2);
	near(f->seconds.sd, 1);
	assert_true(f->unstable);
	f = row(s, "twice");
	near(f->seconds.mean, 0.2);
	assert_int_equal(f->n, 3);
	f = row(s, "evil\033[31m");
	near(f->seconds.mean, 0.1);
	near(f->seconds.sd, sqrt((0.01 + 0.01 + 0.04) / 2));
	near(f->seconds.min, 0);
	assert_int_equal(f->n, 1);
	fah_stats_free(s);
}

/* The same differences seen through 10 samples a second are within what sampling makes. */
static void few_samples(void **state)
{
	struct fah_stats *s;

	(void)state;
	assert_int_equal(fah_stats_new(&s), 0);
	RUN(s, "a", 100, {"f", 3, 900}, {"g", 9, 600});
	RUN(s, "b", 100, {"f", 3, 600}, {"g", 9, 900});
	assert_int_equal(fah_stats_finish(s), 0);
	assert_true(row(s, "f")->seconds.sd > 0.2 * row(s, "f")->seconds.mean);
	assert_false(row(s, "f")->unstable);
	fah_stats_free(s);
}

static void golden(const struct fah_stats *s, const char *name, struct fah_report_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(o ? fah_report_stats(f, s, o)
			   : fah_report_stats_json(f, s, 1794782399000000000),
			 0);
	fclose(f);
	golden_compare(name, text);
	free(text);
}

/* Of one run nothing is known of how much runs differ. */
static void one_run(void **state)
{
	struct fah_stats *s;

	(void)state;
	assert_int_equal(fah_stats_new(&s), 0);
	RUN(s, "a", 1, {"f", 3, 900}, {"g", 9, 100});
	assert_int_equal(fah_stats_finish(s), 0);
	assert_true(isnan(row(s, "f")->seconds.sd));
	assert_false(row(s, "f")->unstable);
	golden(s, "stats-one", &(struct fah_report_options){.width = 80, .utf8 = true});
	fah_stats_free(s);
}

/* Beside them a run that was cut and one with nothing. */
static void texts(void **state)
{
	struct fah_stats *s = three_runs();
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	build_thread(&b, build_process(&b, 10, 0), 10, 0);
	p = build_load(&b, 10, 9);
	add(s, "runs/empty/profile.fah", p);
	build_begin(&b);
	build_thread(&b, build_process(&b, 10, 0), 10, 0);
	p = build_load(&b, 0, 0);
	add(s, "runs/cut/profile.fah", p);
	assert_int_equal(fah_stats_finish(s), 0);
	golden(s, "stats", &(struct fah_report_options){.width = 80, .utf8 = true});
	golden(s, "stats-wide-ascii", &(struct fah_report_options){.width = 120, .top = 2});
	golden(s, "stats-json", NULL);
	fah_stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(few_samples),
		cmocka_unit_test(one_run),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
