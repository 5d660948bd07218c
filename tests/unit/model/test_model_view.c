/*
 * test_model_view.c - moments add up to what the reports say, by run and by thread; and what each
 * choice of a view shows of known stacks.
 */
#include "build.h"
#include "model/view.h"

#include "core/err.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%g is not within %g of %g", a, tolerance, b);
}

/*
 * Two threads for 2 s of CPU each, the first 1 s of them at once; then the main thread waits.
 *   main: <module>:3 -> work:12 -> [sorted] -> key:20       Python and native
 *         <module>:3 -> work:13 -> [read]                   system, 100 ms
 *         <module>:4, waiting for a lock                    1 s
 *   other: run:9 -> work:12
 *          no stack, in native code                         400 ms
 */
struct fixture {
	struct build b;
	struct fah_reader *reader;
	struct fah_profile *p;
};

static uint32_t native(struct build *b, const char *name)
{
	uint32_t file = fah_writer_string(b->w, "/usr/lib/libpython3.so", 22);

	return fah_writer_other_function(b->w, file, fah_writer_string(b->w, name, strlen(name)),
					 FAH_FUNCTION_NATIVE);
}

static void make(struct fixture *f, bool cut)
{
	uint32_t module, work, key, run, sorted, reads, at12, in_key, in_read, waits, other[2],
		t[2];
	uint32_t process;
	struct build *b = &f->b;

	build_begin(b);
	fah_writer_meta(b->w, "root", "/home/me/project");
	module = build_function(b, "main.py", "<module>", "<module>", 1);
	work = build_function(b, "pkg/job.py", "work", "Job.work", 10);
	key = build_function(b, "pkg/job.py", "key", "Job.sorted.<locals>.key", 18);
	run = build_function(b, "/usr/lib/python3.11/threading.py", "run", "Thread.run", 5);
	sorted = native(b, "builtin_sorted");
	reads = native(b, "read");
	at12 = fah_writer_node(b->w, fah_writer_node(b->w, 0, module, 3), work, 12);
	in_key = fah_writer_node(b->w, fah_writer_node(b->w, at12, sorted, 0), key, 20);
	in_read = fah_writer_node(
		b->w, fah_writer_node(b->w, fah_writer_node(b->w, 0, module, 3), work, 13), reads,
		0);
	waits = fah_writer_node(b->w, 0, module, 4);
	other[0] = fah_writer_node(b->w, fah_writer_node(b->w, 0, run, 9), work, 12);
	other[1] = 0;
	process = build_process(b, 10, 0);
	t[0] = build_thread(b, process, 10, 0);
	t[1] = build_thread(b, process, 11, 1000);
	for (int i = 1; i <= 500; i++)
		fah_writer_sample(b->w, t[0], MS(4 * i), MS(4),
				  i > 475 ? FAH_IN_SYSTEM : FAH_IN_PYTHON,
				  i > 475 ? in_read : in_key);
	for (int i = 1; i <= 500; i++)
		fah_writer_sample(b->w, t[1], MS(1000 + 4 * i), MS(4),
				  i > 400 ? FAH_IN_NATIVE : FAH_IN_PYTHON, other[i > 400]);
	fah_writer_wait(b->w, t[0], MS(4000), MS(2000), MS(2000), FAH_WAIT_LOCK, waits);
	fah_writer_states(b->w, t[0], MS(4000), MS(2000), 0);
	if (!cut) {
		fah_writer_thread_end(b->w, t[0], MS(4000), MS(2000));
		fah_writer_thread_end(b->w, t[1], MS(3000), MS(2000));
		build_process_end(b, process, 4000, 1000);
	}
	f->p = build_load_moments(b, cut ? 0 : 4000, cut ? 0 : 4000, &f->reader);
}

static void drop(struct fixture *f)
{
	fah_profile_free(f->p);
	fah_reader_free(f->reader);
}

struct sums {
	double by_node[64], samples, seconds, waited;
	uint64_t last_ns;
};

static void count(void *context, const struct fah_moment *m)
{
	struct sums *s = context;

	assert_true(m->node < 64 && m->time_ns >= s->last_ns);
	s->last_ns = m->time_ns;
	s->by_node[m->node] += m->seconds;
	s->samples += !m->is_wait;
	*(m->is_wait ? &s->waited : &s->seconds) += m->seconds;
}

static void moments_add_up(void **state)
{
	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		struct fixture f;
		struct sums run = {0};
		const struct fah_node_cost *costs;
		const struct fah_totals *t;
		size_t n;

		make(&f, cut);
		t = fah_profile_totals(f.p);
		costs = fah_profile_node_costs(f.p);
		for (uint32_t i = 0; i < 2; i++) {
			struct sums own = {0};

			run.last_ns = 0;
			fah_profile_moments(f.p, i, FAH_RUN_TIME, true, count, &run);
			fah_profile_moments(f.p, i, FAH_OWN_TIME, true, count, &own);
			near(own.seconds, 2, 1e-3);
			near(own.waited, i ? 0 : 2, 1e-3);
			assert_true(own.samples == 500);
		}
		fah_profile_nodes(f.p, &n);
		for (size_t i = 0; i < n; i++)
			near(run.by_node[i], fah_node_cost_sum(&costs[i]), 1e-9);
		near(run.seconds, t->on_cpu_s, 1e-6);
		near(run.waited, t->waited_s, 1e-6);
		near(run.seconds, 3, 0.01);
		near(run.waited, 1, 0.01);
		drop(&f);
	}
}

/* "a;b;c" of a path. */
static const char *text(struct fah_stacks *s, uint32_t path, char *buf, size_t cap)
{
	size_t n;
	const struct fah_path *paths = fah_stacks_paths(s, &n);
	const struct fah_frame *frames = fah_stacks_frames(s, &n);
	char below[1024];

	if (!path)
		return strcpy(buf, "");
	text(s, paths[path].parent, below, sizeof(below));
	snprintf(buf, cap, "%s%s%s", below, *below ? ";" : "", frames[paths[path].frame].label);
	return buf;
}

/* The view's stacks are exactly these pairs of a path and its seconds. */
static void shows(struct fah_profile *p, struct fah_view view, const char *const *expected)
{
	struct fah_stacks *s;
	const struct fah_path_sum *sums;
	const char *const *e;
	size_t n, seen = 0, listed = 0;
	char buf[2048];

	assert_int_equal(fah_stacks_new(p, &view, &s), 0);
	assert_int_equal(fah_stacks_sum(s, FAH_ALL_THREADS, fah_view_measure(&view), &sums, &n), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (!(sums[i].seconds > 0))
			continue;
		text(s, i, buf, sizeof(buf));
		for (e = expected; *e && strcmp(*e, buf) != 0; e += 2)
			;
		if (!*e)
			fail_msg("not expected: %s %g", buf, sums[i].seconds);
		near(sums[i].seconds, strtod(e[1], NULL), 0.012);
		seen++;
	}
	for (e = expected; *e; e += 2)
		listed++;
	assert_int_equal(seen, listed);
	fah_stacks_free(s);
}

#define SHOWS(view, ...) shows(f.p, (struct fah_view)view, (const char *const[]){__VA_ARGS__, NULL})
#define VIEW(...) \
	{ \
		__VA_ARGS__ \
	}

static void views_show(void **state)
{
	struct fixture f;

	(void)state;
	make(&f, false);
	SHOWS(VIEW(.lines = true), /* the run's time: half of the second that both ran */
	      "<module> (main.py:3);Job.work (pkg/job.py:12);Job.sorted.<locals>.key "
	      "(pkg/job.py:20)",
	      "1.45", "<module> (main.py:3);Job.work (pkg/job.py:13)", "0.05",
	      "Thread.run (threading.py:9);Job.work (pkg/job.py:12)", "1.1", "(no Python)", "0.4");
	SHOWS(VIEW(.native = true), /* by function, with what is called between */
	      "<module> (main.py);Job.work (pkg/job.py);builtin_sorted "
	      "(libpython3.so);Job.sorted.<locals>.key (pkg/job.py)",
	      "1.45", "<module> (main.py);Job.work (pkg/job.py);read (libpython3.so)", "0.05",
	      "Thread.run (threading.py);Job.work (pkg/job.py)", "1.1", "(no Python)", "0.4");
	SHOWS(VIEW(.idle = true, .only = "<module>"),
	      "<module> (main.py);Job.work (pkg/job.py);Job.sorted.<locals>.key (pkg/job.py)",
	      "1.45", "<module> (main.py);Job.work (pkg/job.py)", "0.05",
	      "<module> (main.py);waiting (lock)", "1");
	SHOWS(VIEW(.threads = true, .idle = true), /* each thread's own time */
	      "thread 10 (t);<module> (main.py);Job.work (pkg/job.py);Job.sorted.<locals>.key "
	      "(pkg/job.py)",
	      "1.9", "thread 10 (t);<module> (main.py);Job.work (pkg/job.py)", "0.1",
	      "thread 10 (t);<module> (main.py);waiting (lock)", "2",
	      "thread 11 (t);Thread.run (threading.py);Job.work (pkg/job.py)", "1.6",
	      "thread 11 (t);(no Python)", "0.4");
	SHOWS(VIEW(.gil = true, .idle = true, .only = "pkg/job.py:work"), /* no system, no waits */
	      "Job.work (pkg/job.py);Job.sorted.<locals>.key (pkg/job.py)", "1.45",
	      "Job.work (pkg/job.py)", "1.1");
	SHOWS(VIEW(.only = "builtin_sorted"), /* what was asked for is seen, though it is native */
	      "builtin_sorted (libpython3.so);Job.sorted.<locals>.key (pkg/job.py)", "1.45");
	drop(&f);
}

/* A parent and its child, in one function each and in one that both have. */
static void processes_apart(void **state)
{
	uint32_t main_, child, both, t;
	struct fixture f;
	struct build *b = &f.b;

	(void)state;
	build_begin(b);
	fah_writer_meta(b->w, "root", "/home/me/project");
	main_ = build_function(b, "main.py", "<module>", "<module>", 1);
	child = build_function(b, "main.py", "child", "child", 10);
	both = build_function(b, "main.py", "both", "both", 20);
	for (uint32_t i = 0; i < 3; i++) { /* the last two: threads of one process */
		uint32_t process = i < 2 ? build_process(b, 10 + i, 0) : 2;
		uint32_t top = fah_writer_node(b->w, 0, i ? child : main_, 5);
		uint32_t node = fah_writer_node(b->w, top, both, 21);

		t = build_thread(b, process, 10 + i, 1000 * i);
		for (int k = 1; k <= 250; k++)
			fah_writer_sample(b->w, t, MS(1000 * i + 4 * k), MS(4), FAH_IN_PYTHON,
					  k > 50 ? node : top);
		fah_writer_thread_end(b->w, t, MS(1000 * i + 1000), MS(1000));
		if (i != 1)
			build_process_end(b, process, 1000 * i + 1000, 1000);
	}
	f.p = build_load_moments(b, 3000, 3000, &f.reader);
	SHOWS(VIEW(.lines = false), "<module> (main.py)", "0.2",
	      "<module> (main.py);both (main.py)", "0.8", "child (main.py)", "0.4",
	      "child (main.py);both (main.py)", "1.6");
	SHOWS(VIEW(.processes = true), "process 10 (python3 advanced.py);<module> (main.py)", "0.2",
	      "process 10 (python3 advanced.py);<module> (main.py);both (main.py)", "0.8",
	      "process 11 (python3 advanced.py);child (main.py)", "0.4",
	      "process 11 (python3 advanced.py);child (main.py);both (main.py)", "1.6");
	SHOWS(VIEW(.processes = true, .only = "both"),
	      "process 10 (python3 advanced.py);both (main.py)", "0.8",
	      "process 11 (python3 advanced.py);both (main.py)", "1.6");
	drop(&f);
	make(&f, false); /* where there is one, it is not named */
	SHOWS(VIEW(.processes = true, .only = "builtin_sorted"),
	      "builtin_sorted (libpython3.so);Job.sorted.<locals>.key (pkg/job.py)", "1.45");
	drop(&f);
}

static void part_of_the_run(void **state)
{
	struct fah_view view = {.only = "work"};
	struct fah_stacks *s;
	struct fah_part part;
	struct fixture f;

	(void)state;
	make(&f, false);
	assert_int_equal(fah_stacks_new(f.p, &view, &s), 0);
	assert_int_equal(fah_stacks_part(s, &part), 0);
	assert_int_equal(part.samples, 900);
	near(part.seconds, 2.6, 0.012);
	near(part.share, 0.65, 0.003);
	near(part.interval, fah_share_interval(2.6 / 3, 1000) * 3 / 4, 0.01);
	fah_stacks_free(s);
	for (const char *const *bad = (const char *const[]){"wor", "job.py:key2", "ob.py:work", "",
							    "other.py:work", NULL};
	     *bad; bad++) {
		view.only = *bad;
		assert_int_equal(fah_stacks_new(f.p, &view, &s), FAH_ERR_USAGE);
	}
	drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_add_up),
		cmocka_unit_test(views_show),
		cmocka_unit_test(processes_apart),
		cmocka_unit_test(part_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
