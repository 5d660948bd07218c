/*
 * test_model_wait.c - moments in which nobody runs: whose they are, and for what reason, against
 * captures whose truth is known; and the states of threads.
 */
#include "build.h"

#include <math.h>

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%g is not within %g of %g", a, tolerance, b);
}

/* What holds for every capture: each moment of the run has one owner, each of a thread's too. */
static void add_up(struct fah_profile *p)
{
	const struct fah_totals *t = fah_profile_totals(p);
	const struct fah_scope everything = {.everything = true};
	const struct fah_node_cost *costs = fah_profile_node_costs(p);
	const struct fah_thread *threads;
	const struct fah_wait_cost *waits;
	const struct fah_charges *c;
	double nodes = 0, pairs = 0, reasons = 0, lines = 0, charged;
	size_t n, n_nodes;

	near(t->on_cpu_s + t->waited_s + t->ready_idle_s + t->unknown_s, t->wall_s, 1e-6);
	near(t->on_cpu_s + t->idle_s, t->wall_s, 1e-6);
	assert_true(t->ready_s >= t->ready_idle_s);
	fah_profile_nodes(p, &n_nodes);
	for (size_t i = 0; i < n_nodes; i++)
		nodes += costs[i].waiting;
	waits = fah_profile_waits(p, &n);
	for (size_t i = 0; i < n; i++) {
		assert_true(waits[i].node < n_nodes && waits[i].seconds > 0);
		assert_true(!i || waits[i - 1].node < waits[i].node ||
			    (waits[i - 1].node == waits[i].node &&
			     waits[i - 1].reason < waits[i].reason));
		pairs += waits[i].seconds;
	}
	for (int i = 0; i < FAH_WAIT_COUNT; i++)
		reasons += t->waited_by[i];
	near(nodes, t->waited_s, 1e-6);
	near(pairs, t->waited_s, 1e-6);
	near(reasons, t->waited_s, 1e-6);

	assert_int_equal(fah_profile_charge(p, &everything, &c), 0);
	charged = fah_times_sum(&c->outside) + fah_times_sum(&c->no_python) + c->unsampled_s;
	for (size_t i = 0; i < c->n_files; i++) {
		charged += fah_times_sum(&c->files[i].times);
		for (size_t k = 0; k < c->files[i].n_lines; k++) {
			const struct fah_line_cost *line = &c->files[i].lines[k];
			double by = 0;

			for (int r = 0; r < FAH_WAIT_COUNT; r++)
				by += line->waited_by[r];
			near(by, line->times.waiting, 1e-9);
			lines += by;
		}
	}
	near(charged, t->on_cpu_s + t->waited_s, 1e-6);
	near(lines + c->no_python.waiting + c->outside.waiting, t->waited_s, 1e-6);

	threads = fah_profile_threads(p, &n);
	for (size_t i = 0; i < n; i++) {
		const struct fah_states *s = &threads[i].states;
		double by = 0;

		for (int r = 0; r < FAH_WAIT_COUNT; r++)
			by += s->waited_by[r];
		assert_true(s->cpu_s >= 0 && s->ready_s >= 0 && s->waited_s >= 0);
		near(s->cpu_s + s->ready_s + s->waited_s, s->wall_s, 1e-9);
		near(by, s->waited_s, 1e-9);
	}
}

static double ran(const struct fah_profile *p, uint32_t node)
{
	const struct fah_node_cost *c = &fah_profile_node_costs(p)[node];

	return c->seconds[0] + c->seconds[1] + c->seconds[2];
}

static double waited(const struct fah_profile *p, uint32_t node)
{
	return fah_profile_node_costs(p)[node].waiting;
}

/* A program with one function; its nodes are its lines. */
struct program {
	struct build b;
	uint32_t f, process, main;
};

static void program_begin(struct program *r)
{
	build_begin(&r->b);
	r->f = build_function(&r->b, "a.py", "f", "f", 1);
	r->process = build_process(&r->b, 10, 0);
	r->main = build_thread(&r->b, r->process, 10, 0);
}

static uint32_t line(struct program *r, uint32_t number)
{
	return fah_writer_node(r->b.w, 0, r->f, number);
}

/* CPU of a thread that runs all the time, up to a point. */
static void run(struct program *r, uint32_t thread, double from, double to, uint32_t node)
{
	for (double at = from + 4; at <= to + 0.001; at += 4)
		fah_writer_sample(r->b.w, thread, MS(at), MS(4), 0, node);
}

/* One wait, all of it waited, seen every `every` ms. */
static void block(struct program *r, uint32_t thread, double from, double to, double every,
		  uint32_t reason, uint32_t node)
{
	for (double at = from; at < to - 0.001;) {
		double end = at + every < to ? at + every : to;

		fah_writer_wait(r->b.w, thread, MS(end), MS(end - at), MS(end - at), reason, node);
		at = end;
	}
}

/* 1 s of work, 2 s asleep, 1 s on a socket: each line has its own, with its reason. */
static void sleeping_main(void **state)
{
	struct program r;
	struct fah_profile *p;
	const struct fah_totals *t;
	const struct fah_wait_cost *waits;
	uint32_t work, nap, read;
	size_t n;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	nap = line(&r, 3);
	read = line(&r, 4);
	run(&r, r.main, 0, 1000, work);
	block(&r, r.main, 1000, 3000, 37, FAH_WAIT_SLEEP, nap);
	block(&r, r.main, 3000, 4000, 1000, FAH_WAIT_SOCKET, read);
	fah_writer_states(r.b.w, r.main, MS(4000), MS(1000), 0);
	fah_writer_thread_end(r.b.w, r.main, MS(4000), MS(1000));
	p = build_load(&r.b, 4000, 1000);
	add_up(p);
	t = fah_profile_totals(p);
	assert_true(t->has_waits);
	near(t->on_cpu_s, 1, 1e-3);
	near(t->waited_s, 3, 1e-3);
	near(t->unknown_s, 0, 1e-3);
	near(t->waited_by[FAH_WAIT_SLEEP], 2, 1e-3);
	near(t->waited_by[FAH_WAIT_SOCKET], 1, 1e-3);
	near(ran(p, work), 1, 1e-3);
	near(waited(p, work), 0, 1e-3);
	near(waited(p, nap), 2, 1e-3);
	near(waited(p, read), 1, 1e-3);
	waits = fah_profile_waits(p, &n);
	assert_int_equal(n, 2);
	assert_int_equal(waits[0].node, nap);
	assert_int_equal(waits[0].reason, FAH_WAIT_SLEEP);
	fah_profile_free(p);
}

/* Main waits 4 s in join(): a worker runs for the first 3 s, then sleeps itself for 1 s. */
static void join_while_worker_runs(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t work, join, nap, worker;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	join = line(&r, 3);
	nap = line(&r, 4);
	worker = build_thread(&r.b, r.process, 11, 0);
	run(&r, worker, 0, 3000, work);
	block(&r, worker, 3000, 4000, 50, FAH_WAIT_SLEEP, nap);
	block(&r, r.main, 0, 4000, 50, FAH_WAIT_LOCK, join);
	fah_writer_thread_end(r.b.w, worker, MS(4000), MS(3000));
	fah_writer_thread_end(r.b.w, r.main, MS(4000), MS(0));
	p = build_load(&r.b, 4000, 3000);
	add_up(p);
	near(ran(p, work), 3, 1e-2);
	near(waited(p, join), 1, 1e-2);
	near(waited(p, nap), 0, 1e-9); /* the worker's wait is nobody's time but its own */
	near(fah_profile_totals(p)->waited_by[FAH_WAIT_LOCK], 1, 1e-2);
	near(fah_profile_totals(p)->unknown_s, 0, 1e-2);
	fah_profile_free(p);
}

/* subprocess.run(): the child works for 2 s beside its waiting parent, and sleeps for 0.5 s. */
static void main_waits_for_child(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t work, call, child, thread;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	call = line(&r, 3);
	child = build_process(&r.b, 11, 100);
	thread = build_thread(&r.b, child, 11, 100);
	block(&r, r.main, 0, 3000, 20, FAH_WAIT_CHILD, call);
	run(&r, thread, 100, 2100, work);
	block(&r, thread, 2100, 2600, 20, FAH_WAIT_SLEEP, work);
	fah_writer_thread_end(r.b.w, thread, MS(2600), MS(2000));
	build_process_end(&r.b, child, 2600, 1000000);
	fah_writer_thread_end(r.b.w, r.main, MS(3000), MS(0));
	build_process_end(&r.b, r.process, 3000, 1000000);
	p = build_load(&r.b, 3000, 2000);
	add_up(p);
	near(ran(p, work), 2, 1e-2);
	near(waited(p, work), 0, 1e-9);
	near(waited(p, call), 1, 1e-2);
	near(fah_profile_totals(p)->waited_by[FAH_WAIT_CHILD], 1, 1e-2);
	fah_profile_free(p);
}

/* A thread's own word of its life is better than the kernel's of its start; CPU from before that is
 * no state of it. */
static void own_word(void **state)
{
	struct program r;
	struct fah_profile *p;
	const struct fah_thread *threads;
	uint32_t thread;
	size_t n;

	(void)state;
	program_begin(&r);
	thread = build_thread(&r.b, r.process, 11, 990);
	fah_writer_states(r.b.w, thread, MS(1020), MS(6), MS(3));
	fah_writer_thread_life(r.b.w, thread, MS(1020), MS(6), MS(1000), 0);
	fah_writer_thread_life(r.b.w, r.main, MS(2000), MS(115), MS(0), MS(15));
	p = build_load(&r.b, 2000, 121);
	threads = fah_profile_threads(p, &n);
	assert_int_equal(n, 2);
	near(threads[0].states.wall_s, 2, 1e-9);
	near(threads[0].states.cpu_s, 0.1, 1e-9);
	near(threads[0].states.waited_s, 1.9, 1e-9);
	near(threads[1].states.wall_s, 0.02, 1e-9);
	near(threads[1].states.cpu_s, 0.006, 1e-9);
	near(threads[1].states.ready_s, 0.003, 1e-9);
	near(threads[1].states.waited_s, 0.011, 1e-9);
	fah_profile_free(p);
}

/* 50 threads on 2 cores, one GIL: one runs, the others wait or are ready. All sums hold. */
static void fifty_threads(void **state)
{
	struct program r;
	struct fah_profile *p;
	const struct fah_thread *threads;
	uint32_t work, join, thread[50];
	size_t n;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	join = line(&r, 3);
	block(&r, r.main, 0, 10000, 100, FAH_WAIT_LOCK, join);
	for (uint32_t i = 0; i < 50; i++)
		thread[i] = build_thread(&r.b, r.process, 11 + i, 0);
	for (int turn = 0; turn < 1000; turn++) { /* 8 ms of CPU, then 2 ms without a core */
		uint32_t k = thread[turn % 50];
		double at = 10 * turn;

		fah_writer_sample(r.b.w, k, MS(at + 8), MS(8), 0, work);
	}
	for (uint32_t i = 0; i < 50; i++) {
		/* 160 ms ran (20 turns), 40 ms ready; what was seen says 9.5 s for the GIL and
		 * 0.5 s for a lock, and is scaled to the truth. */
		block(&r, thread[i], 0, 9500, 500, FAH_WAIT_GIL, work);
		block(&r, thread[i], 9500, 10000, 500, FAH_WAIT_LOCK, work);
		for (int s = 1; s <= 10; s++)
			fah_writer_states(r.b.w, thread[i], MS(1000 * s), MS(16 * s), MS(4 * s));
		fah_writer_thread_end(r.b.w, thread[i], MS(10000), MS(160));
	}
	fah_writer_thread_end(r.b.w, r.main, MS(10000), MS(0));
	p = build_load(&r.b, 10000, 8000);
	add_up(p);
	threads = fah_profile_threads(p, &n);
	assert_int_equal(n, 51);
	for (size_t i = 1; i < n; i++) {
		const struct fah_states *s = &threads[i].states;

		near(s->wall_s, 10, 1e-9);
		near(s->cpu_s, 0.16, 1e-9);
		near(s->ready_s, 0.04, 1e-9);
		near(s->waited_s, 9.8, 1e-9);
		near(s->waited_by[FAH_WAIT_GIL], 9.8 * 0.95, 1e-9);
		near(s->waited_by[FAH_WAIT_LOCK], 9.8 * 0.05, 1e-9);
	}
	near(threads[0].states.waited_by[FAH_WAIT_LOCK], 10, 1e-9);
	/* Where in its 500 ms between samples each ran is not known: the edges blur. */
	near(ran(p, work), 8, 0.2);
	near(fah_profile_totals(p)->ready_s, 2, 0.1);
	/* Nobody runs in these 2 s, and main is in join() all the time. */
	near(waited(p, join), 2, 0.2);
	fah_profile_free(p);
}

/* 1 ms of CPU after each sleep of 9 ms, one sample in four turns; the waits are seen as one stretch
 * of 100 ms each, then exactly. */
static void short_sleeps(void **state)
{
	(void)state;
	for (int exact = 0; exact < 2; exact++) {
		struct program r;
		struct fah_profile *p;
		uint32_t work, nap;

		program_begin(&r);
		work = line(&r, 2);
		nap = line(&r, 3);
		for (int turn = 1; turn <= 1000; turn++) {
			double at = 10 * turn;

			if (turn % 4 == 0)
				fah_writer_sample(r.b.w, r.main, MS(at), MS(4), 0, work);
			if (exact)
				fah_writer_wait(r.b.w, r.main, MS(at - 1), MS(9), MS(9),
						FAH_WAIT_SLEEP, nap);
			else if (turn % 10 == 0)
				fah_writer_wait(r.b.w, r.main, MS(at), MS(100), MS(90),
						FAH_WAIT_SLEEP, nap);
		}
		fah_writer_thread_end(r.b.w, r.main, MS(10000), MS(1000));
		p = build_load(&r.b, 10000, 1000);
		add_up(p);
		near(ran(p, work), 1, 1e-3);
		near(waited(p, nap), 9, 0.02);
		near(fah_profile_totals(p)->unknown_s, 0, 0.02);
		fah_profile_free(p);
	}
}

/* Moments without a wait are unknown, also beside others in the same bucket. */
static void unseen_waits(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t nap;

	(void)state;
	program_begin(&r);
	nap = line(&r, 3);
	block(&r, r.main, 900, 3100, 40, FAH_WAIT_SLEEP, nap);
	fah_writer_thread_end(r.b.w, r.main, MS(4000), MS(0));
	p = build_load(&r.b, 4000, 0);
	add_up(p);
	near(waited(p, nap), 2.2, 0.02); /* what may be carried over an edge */
	near(fah_profile_totals(p)->unknown_s, 1.8, 0.02);
	near(fah_profile_threads(p, &(size_t){0})[0].states.waited_by[FAH_WAIT_SLEEP], 2.2, 1e-9);
	near(fah_profile_threads(p, &(size_t){0})[0].states.waited_by[FAH_WAIT_UNKNOWN], 1.8, 1e-9);
	fah_profile_free(p);
}

/* 4 ms of CPU in 10 ms: in the first 2 s the thread never blocked and claims all of it, then it
 * did, and wanted a core for so many ms of the other 6. */
static struct fah_profile *wants_a_core(struct program *r, uint32_t *work, int ready_ms,
					bool beside)
{
	uint64_t ready = 0;
	uint32_t other;

	program_begin(r);
	*work = line(r, 2);
	for (int i = 1; i <= 400; i++) {
		fah_writer_sample(r->b.w, r->main, MS(10 * i), MS(4),
				  i <= 200 ? FAH_SAMPLE_RAN_ON : 0, *work);
		ready += MS(i <= 200 ? 6 : ready_ms);
		if (i % 10 == 0)
			fah_writer_states(r->b.w, r->main, MS(10 * i), MS(4 * i), ready);
	}
	fah_writer_thread_end(r->b.w, r->main, MS(4000), MS(1600));
	if (!beside)
		return build_load(&r->b, 4000, 1600);
	other = build_thread(&r->b, r->process, 11, 4000);
	for (int i = 1; i <= 100; i++) {
		fah_writer_sample(r->b.w, other, MS(4000 + 10 * i), MS(10), FAH_SAMPLE_RAN_ON,
				  line(r, 7));
		fah_writer_states(r->b.w, other, MS(4000 + 10 * i), MS(10 * i), 0);
	}
	fah_writer_thread_end(r->b.w, other, MS(5000), MS(1000));
	return build_load(&r->b, 5000, 2600);
}

/* The kernel's word for want of a core gives it to the samples of a thread that is alone, also
 * where it blocked; what it waited of that time is not its own. */
static void no_core(void **state)
{
	struct program r;
	uint32_t work;
	struct fah_profile *p = wants_a_core(&r, &work, 6, false);
	const struct fah_totals *t = fah_profile_totals(p);

	(void)state;
	add_up(p);
	near(ran(p, work), 4, 0.01);
	near(t->ready_s, 2.4, 0.01);
	near(t->ready_idle_s, 0, 0.01);
	near(t->unknown_s, 0, 0.01);
	near(fah_profile_threads(p, &(size_t){0})[0].states.ready_s, 2.4, 1e-9);
	fah_profile_free(p);
	p = wants_a_core(&r, &work, 2, false);
	add_up(p);
	near(ran(p, work), 2 + 1.2, 0.01);
	near(fah_profile_totals(p)->unknown_s, 0.8, 0.02);
	fah_profile_free(p);
}

/* Of one among others only the CPU is. The totals say both, the idle time the second. */
static void no_core_among_others(void **state)
{
	struct program r;
	uint32_t work;
	struct fah_profile *p = wants_a_core(&r, &work, 6, true);
	const struct fah_totals *t = fah_profile_totals(p);

	(void)state;
	add_up(p);
	near(ran(p, work), 2.8, 0.01);
	near(t->ready_s, 2.4, 0.01);
	near(t->ready_idle_s, 1.2, 0.01);
	near(t->unknown_s, 0, 0.01);
	fah_profile_free(p);
}

/* Half of a stretch the main thread waited, half it was ready: the waits get theirs only. */
static void ready_beside_waiting(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t nap;

	(void)state;
	program_begin(&r);
	nap = line(&r, 3);
	for (int i = 1; i <= 40; i++) {
		fah_writer_wait(r.b.w, r.main, MS(100 * i), MS(100), MS(50), FAH_WAIT_DISK, nap);
		fah_writer_states(r.b.w, r.main, MS(100 * i), 0, MS(50 * i));
	}
	fah_writer_thread_end(r.b.w, r.main, MS(4000), 0);
	p = build_load(&r.b, 4000, 0);
	add_up(p);
	near(waited(p, nap), 2, 0.02);
	near(fah_profile_totals(p)->ready_idle_s, 2, 0.02);
	fah_profile_free(p);
}

/* 2 s of work of which nobody knows where half of the time went, in one stretch with the sleep of
 * 20 ms at its end: the sleep gets its 20 ms, not all that is idle. */
static void short_wait_after_work(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t work, nap;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	nap = line(&r, 3);
	for (int i = 1; i <= 200; i++)
		fah_writer_sample(r.b.w, r.main, MS(10 * i), MS(5), 0, work);
	fah_writer_wait(r.b.w, r.main, MS(2020), MS(2020), MS(20), FAH_WAIT_SLEEP, nap);
	fah_writer_thread_end(r.b.w, r.main, MS(2020), MS(1000));
	p = build_load(&r.b, 2020, 1000);
	add_up(p);
	near(ran(p, work), 1, 1e-3);
	near(waited(p, nap), 0.02, 0.011); /* and what may be carried over an edge */
	near(fah_profile_totals(p)->unknown_s, 1, 0.011);
	fah_profile_free(p);
}

/* No END, no THREAD_END: everything up to the last record, which is a wait. */
static void cut_capture(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t work, nap;

	(void)state;
	program_begin(&r);
	work = line(&r, 2);
	nap = line(&r, 3);
	run(&r, r.main, 0, 1000, work);
	block(&r, r.main, 1000, 2000, 50, FAH_WAIT_SLEEP, nap);
	p = build_load(&r.b, 0, 0);
	add_up(p);
	assert_false(fah_profile_totals(p)->complete);
	near(fah_profile_totals(p)->wall_s, 2, 1e-9);
	near(ran(p, work), 1, 1e-3);
	near(waited(p, nap), 1, 1e-3);
	near(fah_profile_threads(p, &(size_t){0})[0].states.wall_s, 2, 1e-9);
	near(fah_profile_threads(p, &(size_t){0})[0].states.waited_by[FAH_WAIT_SLEEP], 1, 1e-9);
	fah_profile_free(p);
}

/* Waits of other lives: beyond the run, of no node, longer than time, for a reason of a later
 * version; states that run backwards or count more than time. Nothing breaks, all adds up. */
static void impossible(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t nap;

	(void)state;
	program_begin(&r);
	nap = line(&r, 3);
	fah_writer_wait(r.b.w, r.main, MS(500), MS(100000), MS(100000), FAH_WAIT_SLEEP, nap);
	fah_writer_wait(r.b.w, r.main, MS(600), MS(100), MS(100), 15, 12345);
	fah_writer_wait(r.b.w, r.main, MS(700), 0, 0, FAH_WAIT_SLEEP, nap);
	fah_writer_wait(r.b.w, r.main, MS(900000), MS(899000), MS(899000), FAH_WAIT_DISK, nap);
	fah_writer_states(r.b.w, r.main, MS(800), MS(90000), MS(90000));
	fah_writer_states(r.b.w, r.main, MS(700), MS(1), MS(1));
	fah_writer_states(r.b.w, r.main, MS(900), 0, 0);
	fah_writer_thread_end(r.b.w, r.main, MS(1000), MS(0));
	p = build_load(&r.b, 1000, 0);
	add_up(p);
	fah_profile_free(p);
}

/* After exec the main thread is a thread of the same id in a process of the same id. */
static void replaced_by_exec(void **state)
{
	struct program r;
	struct fah_profile *p;
	uint32_t nap, other, again;

	(void)state;
	program_begin(&r);
	nap = line(&r, 3);
	other = line(&r, 4);
	block(&r, r.main, 0, 1000, 50, FAH_WAIT_SLEEP, nap);
	again = build_thread(&r.b, build_process(&r.b, 10, 1000), 10, 1000);
	block(&r, again, 1000, 2000, 50, FAH_WAIT_PIPE, other);
	p = build_load(&r.b, 2000, 0);
	add_up(p);
	near(waited(p, nap), 1, 0.02);
	near(waited(p, other), 1, 0.02);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeping_main),
		cmocka_unit_test(join_while_worker_runs),
		cmocka_unit_test(main_waits_for_child),
		cmocka_unit_test(own_word),
		cmocka_unit_test(fifty_threads),
		cmocka_unit_test(short_sleeps),
		cmocka_unit_test(unseen_waits),
		cmocka_unit_test(no_core),
		cmocka_unit_test(no_core_among_others),
		cmocka_unit_test(ready_beside_waiting),
		cmocka_unit_test(short_wait_after_work),
		cmocka_unit_test(cut_capture),
		cmocka_unit_test(impossible),
		cmocka_unit_test(replaced_by_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
