/*
 * test_model_counts.c - calls as they were counted, and estimates of those that were not: by the
 * calls of who calls, by those of another function, by the clock; several processes, circles,
 * damage.
 */
#include "build.h"

#include "model/counts.h"

#include <math.h>

struct made {
	struct build b;
	uint32_t module, main, caller, leaf, other, process, thread;
	int at;
};

static void begin(struct made *m)
{
	memset(m, 0, sizeof(*m));
	build_begin(&m->b);
	m->module = build_function(&m->b, "main.py", "<module>", "<module>", 1);
	m->main = build_function(&m->b, "main.py", "main", "main", 10);
	m->caller = build_function(&m->b, "main.py", "caller", "caller", 20);
	m->leaf = build_function(&m->b, "main.py", "leaf", "leaf", 30);
	m->other = build_function(&m->b, "main.py", "other", "other", 40);
	m->process = build_process(&m->b, 10, 0);
	m->thread = build_thread(&m->b, m->process, 10, 0);
}

static void calls(struct made *m, int ms, uint32_t function, uint32_t caller, uint64_t n,
		  struct fah_paced_calls by_caller, struct fah_paced_calls by_other)
{
	fah_writer_calls(m->b.w, &(struct fah_rec_calls){.process = m->process,
							 .function = function,
							 .caller = caller,
							 .line = caller ? caller * 10 + 1 : 0,
							 .time_ns = MS(ms),
							 .count = n,
							 .by_caller = by_caller,
							 .by_other = by_other});
}

static void counting(struct made *m, int ms, uint32_t function, bool on, int work_ms)
{
	fah_writer_counting(m->b.w, &(struct fah_rec_counting){.process = m->process,
							       .function = function,
							       .on = on,
							       .time_ns = MS(ms),
							       .work_ns = MS(work_ms)});
}

#define NONE ((struct fah_paced_calls){0, 0, 0, 0})

/* Samples of 4 ms up to there, of leaf as main and caller call it, or of main alone. */
static void samples(struct made *m, int upto_ms, bool in_leaf)
{
	uint32_t node = fah_writer_node(m->b.w, 0, m->main, m->main * 10 + 1);

	if (in_leaf) {
		node = fah_writer_node(m->b.w, node, m->caller, m->caller * 10 + 1);
		node = fah_writer_node(m->b.w, node, m->leaf, 31);
	}
	while (4 * (m->at + 1) <= upto_ms) {
		m->at++;
		fah_writer_sample(m->b.w, m->thread, MS(4 * m->at), MS(4), FAH_IN_PYTHON, node);
	}
}

static struct fah_profile *end(struct made *m)
{
	fah_writer_thread_end(m->b.w, m->thread, MS(4000), MS(4000));
	fah_writer_process_end(m->b.w, &(struct fah_process_end){.process = m->process,
								 .time_ns = MS(4000),
								 .reason = ""});
	return build_load(&m->b, 4000, 4000);
}

static void expect(const struct fah_profile *p, uint32_t function, uint32_t caller, double n,
		   bool estimated)
{
	const struct fah_call_count *c =
		fah_profile_calls(p, function, caller, caller ? caller * 10 + 1 : 0);

	if (!c)
		fail_msg("calls of %u by %u are not known", function, caller);
	else if (fabs(c->n - n) > 0.005 * n || c->estimated != estimated)
		fail_msg("%u by %u: %.1f, not %.1f; estimated: %d", function, caller, c->n, n,
			 c->estimated);
}

static void counted_exactly(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	counting(&m, 1, m.leaf, true, 1);
	calls(&m, 100, m.leaf, m.caller, 70, NONE, NONE);
	calls(&m, 200, m.leaf, m.caller, 30, NONE, NONE);
	calls(&m, 200, m.leaf, 0, 4, NONE, NONE);
	samples(&m, 4000, true);
	p = end(&m);
	expect(p, m.leaf, m.caller, 100, false);
	expect(p, m.leaf, 0, 4, false);
	assert_null(fah_profile_calls(p, m.leaf, m.main, m.main * 10 + 1));
	fah_profile_free(p);
}

/* 1,000 a call of caller, in 3 of 20 calls; the clock would say other things. */
static void by_its_caller(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	counting(&m, 1, m.caller, true, 1);
	counting(&m, 1, m.leaf, true, 1);
	calls(&m, 100, m.leaf, m.caller, 2000, (struct fah_paced_calls){m.caller, 2, 2000, 2},
	      NONE);
	counting(&m, 100, m.leaf, false, 50);
	calls(&m, 2000, m.leaf, m.caller, 0, (struct fah_paced_calls){m.caller, 0, 0, 12}, NONE);
	counting(&m, 2000, 0, true, 1500);
	calls(&m, 2100, m.leaf, m.caller, 1000, (struct fah_paced_calls){m.caller, 1, 1000, 13},
	      NONE);
	counting(&m, 2100, m.leaf, false, 1600);
	calls(&m, 3000, m.leaf, m.caller, 0, (struct fah_paced_calls){m.caller, 0, 0, 20}, NONE);
	calls(&m, 3000, m.caller, m.main, 20, NONE, NONE);
	samples(&m, 4000, true);
	p = end(&m);
	expect(p, m.leaf, m.caller, 20000, true);
	expect(p, m.caller, m.main, 20, false);
	fah_profile_free(p);
}

/* main begins once; its loop tells, and the last that it told: the clock would say other things. */
static void by_its_turns(void **state)
{
	struct fah_rec_calls r;
	struct fah_profile *p;
	struct made m;

	begin(&m);
	counting(&m, 1, m.leaf, true, 1);
	r = (struct fah_rec_calls){.process = m.process,
				   .function = m.leaf,
				   .caller = m.main,
				   .line = m.main * 10 + 1,
				   .time_ns = MS(100),
				   .count = 5000};
	fah_writer_calls(m.b.w, &r);
	counting(&m, 100, m.leaf, false, 50);
	r.count = 0;
	r.time_ns = MS(2000);
	r.passed = 400000;
	fah_writer_calls(m.b.w, &r);
	r.time_ns = MS(3000);
	r.passed = 700000;
	fah_writer_calls(m.b.w, &r);
	samples(&m, 4000, false);
	p = end(&m);
	expect(p, m.leaf, m.main, 705000, true);
	fah_profile_free(p);
}

/* main begins once; other, which it also calls, 50 times: 40 of them unseen, 200 leaves each. */
static void by_another(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	counting(&m, 1, m.leaf, true, 1);
	calls(&m, 100, m.leaf, m.main, 2000, NONE, (struct fah_paced_calls){m.other, 10, 2000, 10});
	counting(&m, 100, m.leaf, false, 50);
	calls(&m, 3000, m.other, m.main, 50, NONE, NONE);
	calls(&m, 3000, m.leaf, m.main, 0, NONE, (struct fah_paced_calls){m.other, 0, 0, 50});
	samples(&m, 4000, true);
	p = end(&m);
	expect(p, m.leaf, m.main, 10000, true);
	fah_profile_free(p);
}

/* 500 in 10 ms of CPU; then half of 3 seconds is in it, in one piece. */
static void by_the_clock(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	counting(&m, 1, m.leaf, true, 1);
	calls(&m, 990, m.leaf, m.caller, 3, NONE, NONE); /* seldom, for long */
	counting(&m, 990, m.leaf, true, 990);
	calls(&m, 1000, m.leaf, m.caller, 500, NONE, NONE);
	counting(&m, 1000, m.leaf, true, 1000);
	counting(&m, 1000, m.leaf, false, 1000);
	samples(&m, 1000, true);
	samples(&m, 2500, true);
	samples(&m, 4000, false);
	p = end(&m);
	expect(p, m.leaf, m.caller, 503 + 50 * 1500, true);
	assert_true(fah_profile_calls(p, m.leaf, m.caller, m.caller * 10 + 1)->roughly);
	fah_profile_free(p);
}

/* leaf by caller, 5 each; caller, itself too often, by main, 100 each; main 30 times. */
static void one_by_the_other(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	calls(&m, 100, m.leaf, m.caller, 1000, (struct fah_paced_calls){m.caller, 200, 1000, 200},
	      NONE);
	calls(&m, 100, m.caller, m.main, 200, (struct fah_paced_calls){m.main, 2, 200, 2}, NONE);
	counting(&m, 100, m.leaf, false, 50);
	counting(&m, 100, m.caller, false, 50);
	calls(&m, 3000, m.leaf, m.caller, 0, (struct fah_paced_calls){m.caller, 0, 0, 200}, NONE);
	calls(&m, 3000, m.caller, m.main, 0, (struct fah_paced_calls){m.main, 0, 0, 30}, NONE);
	calls(&m, 3000, m.main, m.module, 30, NONE, NONE);
	samples(&m, 4000, true);
	p = end(&m);
	expect(p, m.caller, m.main, 3000, true);
	expect(p, m.leaf, m.caller, 15000, true);
	fah_profile_free(p);
}

/* Two calls in one line: each has its own pace. */
static void two_in_a_line(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	for (int ms = 100; ms <= 3000; ms += 2900) {
		for (uint32_t place = 1; place <= 2; place++) {
			struct fah_rec_calls r = {
				.process = m.process,
				.function = m.leaf,
				.caller = m.caller,
				.line = m.caller * 10 + 1,
				.place = place,
				.time_ns = MS(ms),
				.count = ms == 100 ? 1000 : 0,
				.by_caller = {m.caller, ms == 100, ms == 100 ? 1000 : 0,
					      ms == 100 ? 1 : 5},
			};

			fah_writer_calls(m.b.w, &r);
		}
		if (ms == 100)
			counting(&m, 100, m.leaf, false, 50);
	}
	calls(&m, 3000, m.caller, m.main, 5, NONE, NONE);
	samples(&m, 4000, true);
	p = end(&m);
	expect(p, m.leaf, m.caller, 10000, true);
	fah_profile_free(p);
}

/* Two that call each other: no number comes from itself, and none is endless. */
static void in_a_circle(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	calls(&m, 100, m.leaf, m.caller, 100, (struct fah_paced_calls){m.caller, 100, 100, 100},
	      NONE);
	calls(&m, 100, m.caller, m.leaf, 100, (struct fah_paced_calls){m.leaf, 100, 100, 100},
	      NONE);
	counting(&m, 100, m.leaf, false, 50);
	counting(&m, 100, m.caller, false, 50);
	samples(&m, 4000, true);
	p = end(&m);
	assert_true(fah_profile_calls(p, m.leaf, m.caller, m.caller * 10 + 1)->n < 1e6);
	assert_true(fah_profile_calls(p, m.caller, m.leaf, m.leaf * 10 + 1)->n < 1e6);
	fah_profile_free(p);
}

/* What no agent writes: ids that are not there, times and work that go back, off without on. */
static void nonsense(void **state)
{
	struct fah_profile *p;
	struct made m;

	begin(&m);
	calls(&m, 100, 4000000, 3000000, UINT64_MAX, (struct fah_paced_calls){77, UINT64_MAX, 1, 0},
	      (struct fah_paced_calls){5000000, 3, UINT64_MAX, UINT64_MAX});
	counting(&m, 5000000, 4000000, false, 0);
	counting(&m, 90, m.leaf, false, 900);
	counting(&m, 80, m.leaf, false, 5);
	counting(&m, 70, 0, false, 1);
	counting(&m, 95, 0, true, 2);
	calls(&m, 60, m.leaf, m.caller, 1, (struct fah_paced_calls){m.caller, 0, 9, 1}, NONE);
	samples(&m, 4000, true);
	p = end(&m);
	assert_non_null(p);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_exactly), cmocka_unit_test(by_its_caller),
		cmocka_unit_test(by_its_turns),	   cmocka_unit_test(by_another),
		cmocka_unit_test(by_the_clock),	   cmocka_unit_test(one_by_the_other),
		cmocka_unit_test(in_a_circle),	   cmocka_unit_test(two_in_a_line),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
