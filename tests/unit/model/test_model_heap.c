/*
 * test_model_heap.c - who held how much memory, against what was written. Sizes are primes, so that
 * no wrong sum is right by chance.
 */
#include "build_heap.h"

#include "model/calltree.h"

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

#define same(a, b) near(a, b, 0)

struct code {
	uint32_t module, work, other;
	uint32_t work_12, work_13, other_22;
};

static struct code write_code(struct build *b)
{
	struct code c;

	c.module = build_function(b, "/p/main.py", "<module>", "<module>", 1);
	c.work = build_function(b, "/p/main.py", "work", "work", 10);
	c.other = build_function(b, "/p/lib.py", "other", "other", 20);
	c.work_12 = fah_writer_node(b->w, fah_writer_node(b->w, 0, c.module, 30), c.work, 12);
	c.work_13 = fah_writer_node(b->w, fah_writer_node(b->w, 0, c.module, 30), c.work, 13);
	c.other_22 = fah_writer_node(b->w, c.work_12, c.other, 22);
	return c;
}

/*
 *  ms     0    100       200       300        400        500       1000
 *  12          +1009                          -1009
 *  13                    +2003                           -2003
 *  22                              +4001 (Python's)                to the end
 *  held   5000 6009      8012      12013      11004      9001      9001
 */
static void every_block(void **state)
{
	const struct fah_heap_line *l12, *l13, *l22;
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 5000, 0);
	struct code c = write_code(&b);
	uint64_t one, two;

	(void)state;
	one = memory_alloc(&m, 100, c.work_12, 1009);
	two = memory_alloc(&m, 200, c.work_13, 2003);
	memory_alloc_kind(&m, 300, c.other_22, 4001, FAH_MEMORY_PYTHON);
	memory_free(&m, 400, one, 1009);
	memory_free(&m, 500, two, 2003);
	memory_end(&m, 1000);
	p = build_load(&b, 1000, 10);
	heap = heap_of(p);
	same(heap->max, 12013);
	near(heap->max_at_s, 0.3, 1e-9);
	same(heap->before, 5000);
	same(heap->end, 9001);
	same(heap->unassigned, 0);
	same(heap->allocated, 7013);
	near(heap->recorded_s, 1, 1e-9);
	near(heap->average,
	     0.1 * 5000 + 0.1 * 6009 + 0.1 * 8012 + 0.1 * 12013 + 0.1 * 11004 + 0.5 * 9001, 1e-6);
	assert_int_equal(heap->blocks, 3);
	assert_int_equal(heap->interval, 0);
	same(heap->may_be_missing, 0);
	assert_int_equal(heap->n_files, 2);
	assert_string_equal(heap->files[0].abspath, "/p/lib.py"); /* the largest line first */
	l12 = heap_line(heap, 12);
	l13 = heap_line(heap, 13);
	l22 = heap_line(heap, 22);
	same(l12->cost.peak, 1009);
	same(l12->cost.at_peak, 1009);
	same(l12->cost.peak_interval, 0);
	near(l12->cost.average, 1009 * 0.3, 1e-6);
	same(l12->cost.live, 0);
	same(l12->cost.python, 0);
	near(l12->cost.activity, 1009 / 7013.0, 1e-12);
	near(l12->cost.peak_share, 1009 / 12013.0, 1e-12);
	same(l13->cost.at_peak, 2003);
	same(l22->cost.live, 4001);
	same(l22->cost.python, 1);
	near(l22->cost.average, 4001 * 0.7, 1e-6);
	assert_string_equal(fah_profile_function(p, l22->function)->name, "other");
	same(heap->functions[0].cost.peak, 4001);
	same(heap->functions[1].cost.peak, 3012); /* work: its lines together */
	/* 60 parts of 1000 / 60 ms: line 12 from part 6 to 24, in whose first moment it goes. */
	same(l12->cost.timeline[5], 0);
	same(l12->cost.timeline[6], 1009);
	same(l12->cost.timeline[23], 1009);
	same(l12->cost.timeline[25], 0);
	same(heap->timeline[0], 5000);
	same(heap->timeline[59], 9001);
	same(heap->timeline[18], 12013);
	fah_profile_free(p);
}

/* A function holds what its lines hold at once, not the sum of what each held at most. */
static void together(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 0);
	struct code c = write_code(&b);
	uint64_t n;

	(void)state;
	n = memory_alloc(&m, 10, c.work_12, 7001);
	memory_free(&m, 20, n, 7001);
	n = memory_alloc(&m, 30, c.work_13, 5003);
	memory_alloc(&m, 40, c.work_12, 101);
	memory_free(&m, 50, n, 5003);
	memory_end(&m, 100);
	p = build_load(&b, 100, 10);
	heap = heap_of(p);
	assert_int_equal(heap->n_functions, 1);
	same(heap->functions[0].cost.peak, 7001);
	same(heap_line(heap, 12)->cost.peak, 7001);
	same(heap_line(heap, 13)->cost.peak, 5003);
	same(heap_line(heap, 13)->cost.at_peak, 0);
	same(heap->max, 7001);
	fah_profile_free(p);
}

/* Unrecorded blocks make the peak: it lies before the first record that knows it. */
static void peak_between(void **state)
{
	for (int by_free = 0; by_free < 2; by_free++) {
		const struct fah_heap *heap;
		struct fah_profile *p;
		struct build b;
		struct memory m = memory_new(&b, 1000, 1 << 20);
		struct code c = write_code(&b);
		uint64_t one;

		(void)state;
		one = memory_alloc(&m, 10, c.work_12, 50000017);
		memory_count(&m, 9000);
		memory_count(&m, -9000);
		if (by_free)
			memory_free(&m, 20, one, 50000017);
		else
			memory_alloc(&m, 20, c.work_13, 503);
		memory_end(&m, 100);
		p = build_load(&b, 100, 10);
		heap = heap_of(p);
		same(heap->max, 50000017 + 10000);
		near(heap_line(heap, 12)->cost.at_peak, 50000017, 1);
		if (!by_free)
			same(heap_line(heap, 13)->cost.at_peak, 0);
		near(heap->unassigned, 9000, 1);
		fah_profile_free(p);
	}
}

/* What two threads wrote stands in the file thread by thread; a block is given back by another. */
static void threads_in_order(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 0);
	struct code c = write_code(&b);
	uint32_t second = build_thread(&b, m.process, 11, 0);

	(void)state;
#define ALLOC(t, at, n, where, size, now, most_) \
	fah_writer_alloc(b.w, &(struct fah_rec_alloc){.thread = (t), \
						      .time_ns = MS(at), \
						      .block = (n), \
						      .kind = FAH_MEMORY_MAPPED, \
						      .node = (where), \
						      .bytes = (size), \
						      .held = (now), \
						      .most = (most_)})
#define FREE(at, n, now, most_) \
	fah_writer_free_block(b.w, &(struct fah_rec_free){.process = m.process, \
							  .time_ns = MS(at), \
							  .block = (n), \
							  .held = (now), \
							  .most = (most_)})
	ALLOC(m.thread, 10, 1, c.work_12, 1009, 1009, 1009);
	ALLOC(m.thread, 50, 4, c.work_12, 401, 3213, 3512);
	FREE(60, 2, 410, 3512); /* the other thread's; two at the same time as block 4's end */
	FREE(60, 4, 9, 3512);
	ALLOC(second, 20, 2, c.work_13, 2003, 3012, 3012);
	ALLOC(second, 30, 3, c.work_13, 500, 3512, 3512);
	FREE(40, 3, 3012, 3512);
	ALLOC(second, 70, 5, c.work_13, 7, 16, 3512);
	ALLOC(second, 70, 6, c.work_13, 13, 29, 3512);
	FREE(70, 6, 16, 3512); /* within one clock tick */
	memory_end(&m, 100);
	p = build_load(&b, 100, 10);
	heap = heap_of(p);
	same(heap->max, 3512);
	near(heap->max_at_s, 0.03, 1e-9);
	same(heap_line(heap, 12)->cost.at_peak, 1009);
	same(heap_line(heap, 13)->cost.at_peak, 2503);
	same(heap_line(heap, 12)->cost.peak, 1410);
	same(heap_line(heap, 12)->cost.live, 1009);
	same(heap_line(heap, 13)->cost.live, 7);
	/* Block 3, and 6; while 2 lived others asked for 901, and its 2003 are more, but it lived
	 * for 40 ms of 100. */
	same(heap_line(heap, 13)->cost.temporary, 500 + 13);
	same(heap_line(heap, 12)->cost.temporary, 401);
	fah_profile_free(p);
#undef ALLOC
#undef FREE
}

/* A fork's child: its parent's memory is counted once, frees of its parent's blocks are nobody's,
 * and when it ends what it held is gone from the run, but was live at its exit. */
static void forked_child(void **state)
{
	struct fah_process_def def = {.pid = 11,
				      .ppid = 10,
				      .forked = 1,
				      .python_version = 0x030b0700,
				      .start_ns = MS(200),
				      .cmdline = "python3",
				      .cmdline_len = 7};
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 5000, 0), child;
	struct code c = write_code(&b);
	uint32_t process;
	uint64_t n;

	(void)state;
	memory_alloc(&m, 100, c.work_12, 100003);
	process = fah_writer_process(b.w, &def);
	child = memory_begin(&b, process, build_thread(&b, process, 11, 200), 200, 105003, 0);
	n = memory_alloc(&child, 300, c.work_12, 2003);
	memory_alloc(&child, 310, c.work_13, 307);
	memory_free(&child, 320, 77, 100003); /* inherited */
	memory_free(&child, 330, n, 2003);
	memory_end(&child, 400);
	memory_alloc(&m, 500, c.work_13, 1009);
	memory_end(&m, 1000);
	p = build_load(&b, 1000, 10);
	heap = heap_of(p);
	assert_int_equal(heap->n_processes, 2);
	same(heap->max, 5000 + 100003 + 2003 + 307);
	same(heap->before, 5000);
	same(heap->end, 5000 + 100003 + 1009);
	same(heap_line(heap, 12)->cost.peak, 100003 + 2003);
	same(heap_line(heap, 12)->cost.at_peak, 100003 + 2003);
	same(heap_line(heap, 13)->cost.peak, 1009);
	same(heap_line(heap, 13)->cost.at_peak, 307);
	same(heap_line(heap, 13)->cost.live, 1009 + 307);
	same(heap->unassigned, 0);
	assert_int_equal(heap->processes[1].most, 105003 + 2003 + 307);
	assert_int_equal(heap->processes[1].before, 105003);
	fah_profile_free(p);
}

/* What the interpreter frees at its own end was live at the program's; what happens meanwhile is
 * not the program's any more. */
static void ending(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 1000, 0);
	struct code c = write_code(&b);
	struct fah_rec_free last;

	(void)state;
	memory_alloc(&m, 10, c.work_12, 1009);
	memory_alloc(&m, 20, c.work_13, 2003);
	memory_free(&m, 30, 2, 2003);
	last = (struct fah_rec_free){m.process, 1, MS(50), 1, 1000, m.most};
	fah_writer_free_block(b.w, &last);
	memory_alloc(&m, 60, c.work_13, 100003);
	memory_free(&m, 70, 3, 100003);
	m.held = 10;
	memory_end(&m, 100);
	p = build_load(&b, 100, 10);
	heap = heap_of(p);
	same(heap->max, 1000 + 1009 + 2003);
	same(heap->end, 1000 + 1009);
	near(heap->recorded_s, 0.05, 1e-9);
	same(heap_line(heap, 12)->cost.live, 1009);
	near(heap_line(heap, 12)->cost.average, 1009 * 0.8, 1e-6);
	same(heap_line(heap, 13)->cost.allocated, 2003);
	same(heap_line(heap, 13)->cost.live, 0);
	same(heap->timeline[59], 2009);
	fah_profile_free(p);
}

/* Killed: no state at the end, no end at all. What was held last is live. */
static void cut(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 1000, 0);
	struct code c = write_code(&b);

	(void)state;
	for (int i = 0; i < 100; i++)
		memory_alloc(&m, 10 + i, c.work_12, 101);
	p = build_load(&b, 0, 0);
	heap = heap_of(p);
	same(heap->max, 1000 + 10100);
	same(heap->end, heap->max);
	same(heap_line(heap, 12)->cost.live, 10100);
	same(heap_line(heap, 12)->cost.at_peak, 10100);
	near(heap->recorded_s, 0.109, 1e-9);
	fah_profile_free(p);
}

/* Blocks before the first state, or with none at all: those that are there are what is known. */
static void no_state(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = {.b = &b, .interval = 1000};
	struct code c;

	(void)state;
	for (int late = 0; late < 2; late++) {
		build_begin(&b);
		c = write_code(&b);
		m.process = build_process(&b, 10, 0);
		m.thread = build_thread(&b, m.process, 10, 0);
		m.held = m.most = m.blocks = 0;
		memory_alloc(&m, 1, c.work_12, 500);
		if (late)
			memory_state(&m, 2);
		p = build_load(&b, 10, 10);
		heap = heap_of(p);
		near(heap_line(heap, 12)->cost.peak, late ? 500 / (1 - exp(-0.5)) : 500, 1e-6);
		fah_profile_free(p);
	}
}

static void weights(void **state)
{
	double w = 300 / (1 - exp(-0.3)), variance = w * w * exp(-0.3);
	const struct fah_heap_line *line;
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 1000);
	struct code c = write_code(&b);

	(void)state;
	memory_alloc(&m, 1, c.work_12, 300);
	memory_alloc(&m, 2, c.work_12, 300);
	memory_alloc(&m, 3, c.work_13, 100000000);
	memory_end(&m, 10);
	p = build_load(&b, 10, 10);
	heap = heap_of(p);
	line = heap_line(heap, 12);
	near(line->cost.peak, 2 * w, 1e-6);
	near(line->cost.peak_interval, 1.959964 * sqrt(2 * variance), 1e-3);
	near(line->cost.live_interval, line->cost.peak_interval, 1e-9);
	near(line->cost.allocated_interval, line->cost.peak_interval, 1e-9);
	near(heap_line(heap, 13)->cost.peak, 1e8, 1e-6); /* far larger than the interval: itself */
	same(heap->may_be_missing, 3000);
	fah_profile_free(p);
}

/* 40,000 blocks of 64 to 65,600 bytes, picked as the agent would, one in 256 kB: sums are right,
 * within what they say of themselves. */
static void unbiased(void **state)
{
	double truth[2] = {0}, live[2] = {0};
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 256 << 10);
	struct code c = write_code(&b);
	uint32_t nodes[] = {c.work_12, c.work_13};

	(void)state;
	for (int i = 0; i < 40000; i++) {
		uint64_t bytes = i % 2 ? 64 : 64 << (int)(build_random(&b) * 11);
		bool stays = build_random(&b) < 0.5, picked;
		double at = 1 + i * 0.01;

		picked = build_random(&b) < 1 - exp(-(double)bytes / (256 << 10));
		truth[i % 2] += (double)bytes;
		live[i % 2] += stays ? (double)bytes : 0;
		if (picked)
			memory_alloc(&m, at, nodes[i % 2], bytes);
		else
			memory_count(&m, (int64_t)bytes);
		if (!stays && picked)
			memory_free(&m, at + 0.005, m.blocks, bytes);
		else if (!stays)
			memory_count(&m, -(int64_t)bytes);
	}
	memory_end(&m, 1000);
	p = build_load(&b, 1000, 10);
	heap = heap_of(p);
	for (uint32_t i = 0; i < 2; i++) {
		const struct fah_heap_cost *cost = &heap_line(heap, 12 + i)->cost;

		assert_true(cost->allocated_interval > 0);
		near(cost->allocated, truth[i], 1.5 * cost->allocated_interval);
		near(cost->live, live[i], 1.5 * cost->live_interval);
	}
	near(heap->allocated, truth[0] + truth[1], 0.1 * truth[0]);
	same(heap->end, live[0] + live[1]); /* that is counted, not sampled */
	fah_profile_free(p);
}

static void scopes(void **state)
{
	static const char *const dirs[] = {"/p/main.py"};
	struct fah_scope scope = {.dirs = dirs, .n_dirs = 1};
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 0);
	struct code c = write_code(&b);
	uint32_t alone = fah_writer_node(b.w, 0, c.other, 22);

	(void)state;
	memory_alloc(&m, 1, c.other_22, 101); /* called from line 12, which pays */
	memory_alloc(&m, 2, alone, 1009);
	memory_alloc(&m, 3, 0, 10007);
	memory_end(&m, 10);
	p = build_load(&b, 10, 10);
	/* Kept, and not taken for the next. */
	assert_string_equal(heap_of(p)->files[0].abspath, "/p/lib.py");
	assert_int_equal(fah_profile_heap(p, &scope, &heap), 0);
	assert_ptr_equal(heap_of(p), heap_of(p));
	assert_int_equal(heap->n_files, 1);
	assert_string_equal(heap->files[0].abspath, "/p/main.py");
	same(heap_line(heap, 12)->cost.peak, 101);
	same(heap->outside.peak, 1009);
	same(heap->no_python.at_peak, 10007);
	same(heap->unassigned, 0);
	fah_profile_free(p);
}

static double growth_of(double (*held)(double x))
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 0);
	double growth;

	for (int i = 0; i < 1000; i++) {
		memory_count(&m, (int64_t)(1e6 * held(i / 1000.0)) - (int64_t)m.held);
		memory_state(&m, i);
	}
	memory_end(&m, 1000);
	p = build_load(&b, 1000, 10);
	heap = heap_of(p);
	growth = heap->growth;
	near(heap->growth_rate, growth * heap->max / heap->recorded_s, 1e-6);
	fah_profile_free(p);
	return growth;
}

static double evenly(double x)
{
	return x;
}
static double shrinking(double x)
{
	return 1 - x;
}
static double jump(double x)
{
	return x < 0.3 ? 0.1 : 1;
}
static double up_and_down(double x)
{
	return x < 0.5 ? x : 1 - x;
}
static double half_of_it(double x)
{
	return 0.5 + x / 2;
}

static void growth(void **state)
{
	(void)state;
	near(growth_of(evenly), 1, 0.01);
	near(growth_of(shrinking), -1, 0.01);
	near(growth_of(half_of_it), 0.5, 0.01);
	near(growth_of(up_and_down), 0, 0.05);
	near(growth_of(jump), 0, 1e-9);
}

static void heights(void **state)
{
	double timeline[FAH_HEAP_BUCKETS] = {0};
	unsigned char got[4];

	(void)state;
	timeline[0] = 1;
	timeline[20] = 500;
	timeline[31] = 1000;
	fah_heap_heights(timeline, 1000, 4, got);
	assert_memory_equal(got, ((unsigned char[]){1, 4, 8, 0}), 4);
	fah_heap_heights(timeline, 0, 4, got);
	assert_memory_equal(got, ((unsigned char[]){1, 1, 1, 0}), 4);
}

static void rss(void **state)
{
	const struct fah_heap *heap;
	struct fah_heap_rss r;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 1000, 0);

	(void)state;
	memory_end(&m, 10); /* with a resident set of 50 MB */
	p = build_load(&b, 10, 10);
	heap = heap_of(p);
	fah_heap_rss(p, heap, &r);
	assert_int_equal(r.rss, 50000000);
	assert_int_equal(r.heap, 1000);
	assert_int_equal(r.difference, 49999000);
	assert_false(r.touched_less);
	fah_profile_free(p);
}

static double shown(struct fah_profile *p, enum fah_heap_view memory, const char *name)
{
	struct fah_view view = {.memory = memory, .idle = true, .gil = true};
	struct fah_stacks *stacks;
	struct fah_calltree *tree;
	double bytes = 0;

	assert_int_equal(fah_stacks_new(p, &view, &stacks), 0);
	assert_int_equal(fah_calltree_new(stacks, false, &tree), 0);
	assert_int_equal(tree->memory, memory);
	for (uint32_t i = 0; i < tree->n; i++)
		if (!strcmp(fah_call_name(tree, &tree->calls[i]), name))
			bytes += fah_times_sum(&tree->calls[i].total);
	same(fah_times_sum(&tree->calls[0].total), tree->whole_s);
	fah_calltree_free(tree);
	fah_stacks_free(stacks);
	return bytes;
}

/* Stacks by memory: the same figures as of lines. */
static void stacks(void **state)
{
	static const struct {
		enum fah_heap_view view;
		double all, work, other;
	} truth[] = {{FAH_HEAP_VIEW_PEAK, 7013, 7013, 4001},
		     {FAH_HEAP_VIEW_LIVE, 4001, 4001, 4001},
		     {FAH_HEAP_VIEW_TEMPORARY, 13, 13, 0},
		     {FAH_HEAP_VIEW_TOTAL, 7026, 7026, 4001}};
	struct fah_reader *reader;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 5000, 0);
	struct code c = write_code(&b);

	(void)state;
	memory_alloc(&m, 100, c.work_12, 1009);
	memory_alloc(&m, 200, c.work_13, 2003);
	memory_alloc(&m, 300, c.other_22, 4001);
	memory_free(&m, 400, 1, 1009);
	memory_free(&m, 500, 2, 2003);
	memory_alloc(&m, 600, c.work_13, 13);
	memory_free(&m, 605, 4, 13);
	memory_end(&m, 1000);
	p = build_load_moments(&b, 1000, 10, &reader);
	for (size_t i = 0; i < sizeof(truth) / sizeof(*truth); i++) {
		same(shown(p, truth[i].view, "all"), truth[i].all);
		same(shown(p, truth[i].view, "<module>"), truth[i].all);
		same(shown(p, truth[i].view, "work"), truth[i].work);
		same(shown(p, truth[i].view, "other"), truth[i].other);
	}
	fah_profile_free(p);
	fah_reader_free(reader);
}

/* A view of memory of a capture without any has nothing, and is no error. */
static void no_stacks(void **state)
{
	struct fah_reader *reader;
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	build_thread(&b, build_process(&b, 10, 0), 10, 0);
	p = build_load_moments(&b, 10, 10, &reader);
	same(shown(p, FAH_HEAP_VIEW_PEAK, "all"), 0);
	fah_profile_free(p);
	fah_reader_free(reader);
}

/* Numbers that no agent writes: nothing is believed that contradicts itself, nothing crashes. */
static void try_nonsense(bool endings)
{
	static const uint64_t odd[] = {0, 1, 77, 1u << 31, UINT64_MAX - 1, UINT64_MAX};
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 3);
	struct code c = write_code(&b);

	for (int i = 0; i < 20000; i++) {
		uint64_t v[6];

		for (int k = 0; k < 6; k++)
			v[k] = odd[(int)(build_random(&b) * 6)];
		if (i % 7 == 0)
			fah_writer_copied(
				b.w, &(struct fah_rec_copy){m.thread, c.work_12, v[0], v[1], v[2]});
		if (i % 3 == 0)
			fah_writer_alloc(b.w, &(struct fah_rec_alloc){m.thread, c.work_12,
								      (uint32_t)v[5], v[0], v[1],
								      v[2], v[3], v[4]});
		else if (i % 3 == 1)
			fah_writer_free_block(b.w, &(struct fah_rec_free){m.process,
									  endings && v[4] == 77,
									  v[0], v[1], v[2], v[3]});
		else
			fah_writer_heap(b.w, &(struct fah_rec_heap){m.process, v[0], v[1], v[2],
								    v[3], v[4], v[5], v[1], v[2]});
	}
	p = build_load(&b, 10, 10);
	heap = heap_of(p);
	assert_true(heap->max >= 0 && heap->average >= 0);
	for (size_t i = 0; i < heap->n_files; i++)
		for (size_t k = 0; k < heap->files[i].n_lines; k++)
			assert_true(heap->files[i].lines[k].cost.average >= 0);
	fah_profile_free(p);
}

/* By line and by function, also of lines that ask for no memory; a part stands for the whole. */
static void copies(void **state)
{
	const struct fah_heap *heap;
	struct fah_profile *p;
	struct build b;
	struct memory m = memory_new(&b, 0, 0);
	struct code c = write_code(&b);

	(void)state;
	memory_alloc(&m, 10, c.work_13, 101);
	memory_copy(&m, 20, c.work_12, 3001, 0);
	memory_copy(&m, 30, c.work_13, 500, 1000);
	memory_copy(&m, 40, c.work_12, 4001, 0);
	memory_end(&m, 500);
	p = build_load(&b, 500, 500);
	heap = heap_of(p);
	same(heap_line(heap, 12)->cost.copied, 7002);
	near(heap_line(heap, 12)->cost.copy_rate, 14004, 1e-6);
	same(heap_line(heap, 12)->cost.peak, 0);
	near(heap_line(heap, 13)->cost.copied, 500 / (1 - exp(-0.5)), 1e-6);
	near(heap->functions[0].cost.copied, 7002 + 500 / (1 - exp(-0.5)), 1e-6);
	fah_profile_free(p);
}

static void nonsense(void **state)
{
	(void)state;
	try_nonsense(false);
	try_nonsense(true);
}

static void nothing(void **state)
{
	const struct fah_heap *heap = (const void *)1;
	struct fah_profile *p;
	struct build b;

	(void)state;
	build_begin(&b);
	p = build_load(&b, 10, 10);
	assert_int_equal(fah_profile_heap(p, &fah_scope_everything, &heap), 0);
	assert_null(heap);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_block),	cmocka_unit_test(together),
		cmocka_unit_test(peak_between), cmocka_unit_test(threads_in_order),
		cmocka_unit_test(forked_child), cmocka_unit_test(cut),
		cmocka_unit_test(no_state),	cmocka_unit_test(weights),
		cmocka_unit_test(unbiased),	cmocka_unit_test(scopes),
		cmocka_unit_test(growth),	cmocka_unit_test(heights),
		cmocka_unit_test(rss),		cmocka_unit_test(copies),
		cmocka_unit_test(nonsense),	cmocka_unit_test(nothing),
		cmocka_unit_test(ending),	cmocka_unit_test(stacks),
		cmocka_unit_test(no_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
