/*
 * test_model_time.c - seconds of the run, against captures whose truth is known.
 */
#include "build.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
	if (fabs(a - b) > tolerance)
		fail_msg("%g is not within %g of %g", a, tolerance, b);
}

static double seconds_of(const struct fah_profile *p, uint32_t node)
{
	const struct fah_node_cost *c = &fah_profile_node_costs(p)[node];

	return c->seconds[0] + c->seconds[1] + c->seconds[2];
}

/* One thread that computes all the time: its CPU is the wall time, by kind and by node. */
static void single_thread(void **state)
{
	struct build b;
	struct fah_profile *p;
	const struct fah_totals *t;
	uint32_t f, nodes[2], thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	nodes[0] = fah_writer_node(b.w, 0, f, 2);
	nodes[1] = fah_writer_node(b.w, nodes[0], f, 3);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 1000; i++) /* a quarter in nodes[0] native, the rest in nodes[1] */
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4),
				  i % 4 ? FAH_IN_PYTHON : FAH_IN_NATIVE, nodes[i % 4 != 0]);
	fah_writer_thread_end(b.w, thread, MS(4000), MS(4000));
	p = build_load(&b, 4000, 4000);
	t = fah_profile_totals(p);
	near(t->wall_s, 4, 1e-9);
	near(t->on_cpu_s, 4, 1e-6);
	near(t->idle_s, 0, 1e-6);
	near(t->cpu_s, 4, 1e-9);
	near(t->rate_reached, 250, 0.01);
	near(t->effective_samples, 1000, 1);
	near(seconds_of(p, nodes[0]), 1, 1e-6);
	near(seconds_of(p, nodes[1]), 3, 1e-6);
	near(fah_profile_node_costs(p)[nodes[0]].seconds[FAH_IN_NATIVE], 1, 1e-6);
	near(fah_profile_node_costs(p)[nodes[1]].seconds[FAH_IN_PYTHON], 3, 1e-6);
	assert_int_equal(t->samples, 1000);
	assert_true(t->complete);
	fah_profile_free(p);
}

/* 4 threads side by side for 4 s, after 4 s of one alone: each moment is divided, none twice. */
static void parallel_threads(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, process, main_node, nodes[4], thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	process = build_process(&b, 10, 0);
	main_node = fah_writer_node(b.w, 0, f, 99);
	thread = build_thread(&b, process, 10, 0);
	for (int i = 1; i <= 1000; i++)
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, main_node);
	fah_writer_thread_end(b.w, thread, MS(8000), MS(4000));
	for (int k = 0; k < 4; k++) {
		nodes[k] = fah_writer_node(b.w, 0, f, 10 + (uint32_t)k);
		thread = build_thread(&b, process, 20 + (uint32_t)k, 4000);
		for (int i = 1; i <= 1000; i++)
			fah_writer_sample(b.w, thread, MS(4000 + 4 * i), MS(4), 0, nodes[k]);
		fah_writer_thread_end(b.w, thread, MS(8000), MS(4000));
	}
	p = build_load(&b, 8000, 20000);
	near(fah_profile_totals(p)->on_cpu_s, 8, 1e-3);
	near(seconds_of(p, main_node), 4, 1e-2);
	for (int k = 0; k < 4; k++)
		near(seconds_of(p, nodes[k]), 1, 1e-2);
	fah_profile_free(p);
}

/* Serial and parallel work in turns of 10 ms: the turns must not blur into each other. */
static void alternating_phases(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, process, serial, both, one, two;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	process = build_process(&b, 10, 0);
	serial = fah_writer_node(b.w, 0, f, 1);
	both = fah_writer_node(b.w, 0, f, 2);
	one = build_thread(&b, process, 10, 0);
	two = build_thread(&b, process, 11, 0);
	for (int turn = 0; turn < 200; turn++)
		for (int i = 1; i <= 10; i++) {
			double at = turn * 20 + 2 * i;

			fah_writer_sample(b.w, one, MS(at), MS(2), 0, i <= 5 ? serial : both);
			if (i > 5) /* the first after its pause has a long dt but a short CPU */
				fah_writer_sample(b.w, two, MS(at), MS(2), 0, both);
		}
	fah_writer_thread_end(b.w, one, MS(4000), MS(4000));
	fah_writer_thread_end(b.w, two, MS(4000), MS(2000));
	p = build_load(&b, 4000, 6000);
	near(seconds_of(p, serial), 2, 0.06); /* edges fall into buckets */
	near(seconds_of(p, both), 2, 0.06);
	near(fah_profile_totals(p)->on_cpu_s, 4, 1e-3);
	fah_profile_free(p);
}

/* Threads that take turns on one lock, 5 ms each, sampled by a 4 ms tick: busy all the time. */
static void one_lock(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 16; n *= 2) {
		uint32_t f, node, process, threads[16];
		double cpu[16] = {0}, next[16], last[16] = {0}, now = 0;
		struct fah_profile *p;
		struct build b;

		build_begin(&b);
		f = build_function(&b, "a.py", "f", "f", 1);
		node = fah_writer_node(b.w, 0, f, 2);
		process = build_process(&b, 10, 0);
		for (uint32_t k = 0; k < n; k++) {
			threads[k] = build_thread(&b, process, 10 + k, 0);
			next[k] = 4 * build_random(&b);
		}
		for (uint32_t k = 0; now < 20000; k = (k + 1) % n) {
			double run = 5 * (0.9 + 0.4 * build_random(&b));
			double tick = 4 * floor(now / 4) + 4;

			for (; tick < now + run; tick += 4) {
				double used = cpu[k] + tick - now;

				if (used < next[k])
					continue;
				fah_writer_sample(b.w, threads[k], MS(tick), MS(used - last[k]), 0,
						  node);
				last[k] = used;
				next[k] += 4 * (0.75 + 0.5 * build_random(&b));
				next[k] = next[k] > used ? next[k] : used;
			}
			cpu[k] += run;
			now += run;
		}
		for (uint32_t k = 0; k < n; k++)
			fah_writer_thread_end(b.w, threads[k], MS(now), MS(cpu[k]));
		p = build_load(&b, now, now);
		near(fah_profile_totals(p)->on_cpu_s, now / 1000, 0.012 * now / 1000);
		near(seconds_of(p, node), now / 1000, 0.012 * now / 1000);
		fah_profile_free(p);
	}
}

/* A program that sleeps: CPU counts in full, the rest is idle, wherever the sleeps lie. */
static void idle_gaps(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, node, thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	node = fah_writer_node(b.w, 0, f, 2);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 100; i++)
		fah_writer_sample(b.w, thread, MS(100 * i), MS(4), 0, node);
	fah_writer_thread_end(b.w, thread, MS(10000), MS(400));
	p = build_load(&b, 10000, 400);
	near(fah_profile_totals(p)->on_cpu_s, 0.4, 1e-6);
	near(fah_profile_totals(p)->idle_s, 9.6, 1e-6);
	near(seconds_of(p, node), 0.4, 1e-6);
	fah_profile_free(p);
}

/*
 * 2,000 threads of 3 ms beside a main thread that waits, each first by f for 1 ms, then by g for
 * 2 ms; the timer's first interval is uniform in (0, 4 ms). Most threads have no sample, and all
 * their CPU must still arrive, in the right proportion.
 */
static void short_threads(void **state)
{
	struct build b;
	struct fah_profile *p;
	const struct fah_totals *t;
	uint32_t f, nodes[3], process, thread;
	uint64_t samples = 0;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	for (uint32_t i = 0; i < 3; i++)
		nodes[i] = fah_writer_node(b.w, 0, f, 1 + i);
	process = build_process(&b, 10, 0);
	thread = build_thread(&b, process, 10, 0);
	for (int i = 1; i <= 500; i++) /* 2 s of its own, firm */
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, nodes[2]);
	fah_writer_thread_end(b.w, thread, MS(8000), MS(2000));
	for (int i = 0; i < 2000; i++) {
		double start = 2000 + 3 * i, first = 4 * build_random(&b);

		thread = build_thread(&b, process, 100 + (uint32_t)i, start);
		if (first < 3) {
			fah_writer_sample(b.w, thread, MS(start + first), MS(first), 0,
					  nodes[first >= 1]);
			samples++;
		}
		fah_writer_thread_end(b.w, thread, MS(start + 3), MS(3));
	}
	p = build_load(&b, 8000, 8000);
	t = fah_profile_totals(p);
	assert_true(samples > 1400 && samples < 1600);
	assert_int_equal(t->unsampled_threads, 0);
	near(t->on_cpu_s, 8, 1e-2);
	near(seconds_of(p, nodes[2]), 2, 1e-2);
	near(seconds_of(p, nodes[0]) + seconds_of(p, nodes[1]), 6, 1e-2);
	near(seconds_of(p, nodes[0]), 2, 0.15); /* 1,500 samples: 4 sigma */
	fah_profile_free(p);
}

/*
 * The same as the kernel and the agent do it: the timer comes with the first tick; and a thread
 * that ends before it leaves no record at all, as where it is killed. What getrusage says beyond
 * the known threads is theirs.
 */
static void absent_threads(void **state)
{
	struct fah_process_end end = {
		.status = FAH_AGENT_ENDED, .time_ns = MS(8750), .user_ns = MS(8010), .reason = ""};
	struct build b;
	struct fah_profile *p;
	const struct fah_totals *t;
	uint32_t f, nodes[2], thread;
	uint64_t known = 0;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	nodes[0] = fah_writer_node(b.w, 0, f, 1);
	nodes[1] = fah_writer_node(b.w, 0, f, 2);
	end.process = build_process(&b, 10, 0);
	thread = build_thread(&b, end.process, 10, 0);
	for (int i = 1; i <= 500; i++)
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, nodes[0]);
	fah_writer_thread_end(b.w, thread, MS(8750), MS(2000));
	for (int i = 0; i < 2000; i++) {
		double start = 2000 + 3.37 * i + 0.3 * build_random(&b);
		double tick = 4 * ceil(start / 4);

		if (tick >= start + 3)
			continue;
		thread = build_thread(&b, end.process, 100 + (uint32_t)i, start);
		fah_writer_sample(b.w, thread, MS(tick), MS(tick - start), 0, nodes[1]);
		fah_writer_thread_end(b.w, thread, MS(start + 3), MS(3));
		known++;
	}
	fah_writer_process_end(b.w, &end);
	p = build_load(&b, 8760, 8010);
	t = fah_profile_totals(p);
	assert_true(known > 1400 && known < 1600);
	near(t->absent_cpu_s, (double)(2000 - known) * 0.003,
	     0.3); /* some 1,500 samples: 3 sigma of a rate */
	near(seconds_of(p, nodes[0]), 2, 1e-2);
	near(seconds_of(p, nodes[1]), 6, 0.3);
	near(t->on_cpu_s + t->idle_s, 8.76, 1e-6);
	fah_profile_free(p);
}

/* Dropped CPU and the tail after the last sample belong to the thread's samples. */
static void drops_and_tails(void **state)
{
	struct build b;
	struct fah_profile *p;
	const struct fah_totals *t;
	uint32_t f, nodes[2], thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	nodes[0] = fah_writer_node(b.w, 0, f, 2);
	nodes[1] = fah_writer_node(b.w, 0, f, 3);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 1000; i++) {
		if (i % 5 == 0)
			fah_writer_drops(b.w, thread, MS(4 * i), FAH_DROP_FRAME, 1, MS(4));
		else
			fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, nodes[i % 5 < 3]);
	}
	fah_writer_thread_end(b.w, thread, MS(4400), MS(4400));
	p = build_load(&b, 4400, 4400);
	t = fah_profile_totals(p);
	assert_int_equal(t->samples, 800);
	assert_int_equal(t->drops, 200);
	assert_int_equal(t->drops_by[FAH_DROP_FRAME], 200);
	near(t->dropped_cpu_s, 0.8, 1e-6);
	near(t->on_cpu_s, 4.4, 1e-3);
	near(seconds_of(p, nodes[0]), 2.2, 1e-2);
	near(seconds_of(p, nodes[1]), 2.2, 1e-2);
	fah_profile_free(p);
}

/* A native pool with all signals blocked: its CPU is shown as what it is, not given to others. */
static void unsampled_thread(void **state)
{
	struct build b;
	struct fah_profile *p;
	const struct fah_totals *t;
	uint32_t f, node, process, thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	node = fah_writer_node(b.w, 0, f, 2);
	process = build_process(&b, 10, 0);
	thread = build_thread(&b, process, 10, 0);
	for (int i = 1; i <= 500; i++)
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, node);
	fah_writer_thread_end(b.w, thread, MS(2000), MS(2000));
	thread = build_thread(&b, process, 11, 0);
	fah_writer_thread_end(b.w, thread, MS(2000), MS(2000));
	p = build_load(&b, 2000, 4000);
	t = fah_profile_totals(p);
	assert_int_equal(t->unsampled_threads, 1);
	near(t->unsampled_s, 1, 1e-2);
	near(seconds_of(p, node), 1, 1e-2);
	near(t->on_cpu_s, 2, 1e-3);
	fah_profile_free(p);
}

/* Two processes: each has its threads, the time is the tree's. */
static void two_processes(void **state)
{
	struct build b;
	struct fah_profile *p;
	const struct fah_process *processes;
	uint32_t f, nodes[2], process[2], thread;
	size_t n;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	for (uint32_t k = 0; k < 2; k++) {
		nodes[k] = fah_writer_node(b.w, 0, f, 2 + k);
		process[k] = build_process(&b, 10 + k, 1000.0 * k);
		thread = build_thread(&b, process[k], 10 + k, 1000.0 * k);
		for (int i = 1; i <= 500; i++)
			fah_writer_sample(b.w, thread, MS(1000.0 * k + 4 * i), MS(4), 0, nodes[k]);
		fah_writer_thread_end(b.w, thread, MS(1000.0 * k + 2000), MS(2000));
		build_process_end(&b, process[k], 1000.0 * k + 2000, 1000000 * (k + 1));
	}
	p = build_load(&b, 3000, 4000);
	processes = fah_profile_processes(p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(processes[1].pid, 11);
	assert_string_equal(processes[0].cmdline, "python3 advanced.py");
	assert_int_equal(processes[1].max_rss_bytes, 2000000);
	near(fah_profile_totals(p)->program_s, 2, 1e-9);
	near(fah_profile_totals(p)->on_cpu_s, 3, 1e-2);
	near(seconds_of(p, nodes[0]), 1.5, 1e-2); /* alone for 1 s, half of the second one */
	near(seconds_of(p, nodes[1]), 1.5, 1e-2);
	fah_profile_free(p);
}

/* No END: the run lasted until its last record, and says that it is cut. */
static void cut_capture(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, node, thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	node = fah_writer_node(b.w, 0, f, 2);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 100; i++)
		fah_writer_sample(b.w, thread, MS(4 * i), MS(4), 0, node);
	p = build_load(&b, 0, 0);
	assert_false(fah_profile_totals(p)->complete);
	near(fah_profile_totals(p)->wall_s, 0.4, 1e-9);
	near(fah_profile_totals(p)->cpu_s, 0.4, 1e-9);
	near(seconds_of(p, node), 0.4, 1e-3);
	fah_profile_free(p);
}

/* On a machine with too few cores a thread that never blocks gets 4 ms of CPU in 10 ms: all 10 are
 * its own. Where it did block, only the CPU is. */
static void want_of_a_core(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, ran_on, blocked, thread;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	ran_on = fah_writer_node(b.w, 0, f, 2);
	blocked = fah_writer_node(b.w, 0, f, 3);
	thread = build_thread(&b, build_process(&b, 10, 0), 10, 0);
	for (int i = 1; i <= 400; i++)
		fah_writer_sample(b.w, thread, MS(10 * i), MS(4), i <= 200 ? FAH_SAMPLE_RAN_ON : 0,
				  i <= 200 ? ran_on : blocked);
	fah_writer_thread_end(b.w, thread, MS(4000), MS(1600));
	p = build_load(&b, 4000, 1600);
	near(seconds_of(p, ran_on), 2, 0.01);
	near(seconds_of(p, blocked), 0.8, 0.01);
	near(fah_profile_totals(p)->idle_s, 1.2, 0.01);
	near(fah_profile_totals(p)->cpu_s, 1.6, 1e-9);
	fah_profile_free(p);
}

/* A pool's thread beside a Python thread for 2 s, then alone for 1 s: only that second is its own.
 */
static void native_pool(void **state)
{
	struct build b;
	struct fah_profile *p;
	uint32_t f, node, process, python, pool;

	(void)state;
	build_begin(&b);
	f = build_function(&b, "a.py", "f", "f", 1);
	node = fah_writer_node(b.w, 0, f, 2);
	process = build_process(&b, 10, 0);
	python = build_thread(&b, process, 10, 0);
	pool = build_thread(&b, process, 11, 0);
	for (int i = 1; i <= 750; i++) {
		if (i <= 500)
			fah_writer_sample(b.w, python, MS(4 * i), MS(4), FAH_IN_NATIVE, node);
		fah_writer_sample(b.w, pool, MS(4 * i), MS(4), FAH_IN_NATIVE | FAH_SAMPLE_NO_PYTHON,
				  0);
	}
	fah_writer_thread_end(b.w, python, MS(3000), MS(2000));
	fah_writer_thread_end(b.w, pool, MS(3000), MS(3000));
	p = build_load(&b, 3000, 5000);
	near(seconds_of(p, node), 2, 0.01);
	near(seconds_of(p, 0), 1, 0.01);
	near(fah_profile_totals(p)->on_cpu_s, 3, 0.01);
	fah_profile_free(p);
}

static void interval(void **state)
{
	(void)state;
	near(fah_share_interval(0.5, 1e9), 0, 1e-4);
	near(fah_share_interval(0.5, 100), 0.096, 0.003);
	assert_true(fah_share_interval(0, 10) > 0.2 && fah_share_interval(1, 10) > 0.2);
	assert_true(fah_share_interval(0, 1) > 0.7);
	near(fah_share_interval(0.3, 0), 1, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(single_thread),      cmocka_unit_test(parallel_threads),
		cmocka_unit_test(alternating_phases), cmocka_unit_test(one_lock),
		cmocka_unit_test(idle_gaps),	      cmocka_unit_test(short_threads),
		cmocka_unit_test(absent_threads),     cmocka_unit_test(drops_and_tails),
		cmocka_unit_test(unsampled_thread),   cmocka_unit_test(two_processes),
		cmocka_unit_test(cut_capture),	      cmocka_unit_test(interval),
		cmocka_unit_test(want_of_a_core),     cmocka_unit_test(native_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
