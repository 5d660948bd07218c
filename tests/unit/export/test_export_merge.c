/*
 * test_export_merge.c - what merging changes and what it does not: sums by stack, the order of time
 * outside of a window, how many are left.
 */
#include "build.h"
#include "base/cleanup.h"
#include "export/export.h"
#include "export/merge.h"

#include <math.h>

#define DEPTH 6
#define SAMPLES 4000
#define MAX_PATHS 20000

struct fixture {
	struct build b;
	struct fah_reader *reader;
	struct fah_profile *p;
	struct fah_stacks *stacks;
};

/* Random stacks of a few functions, every 2.5 ms; one second without any in the middle, then a
 * sample that stands for 800 ms. */
static void make(struct fixture *f, uint32_t threads)
{
	uint32_t functions[4], process, t;
	static const char *const names[] = {"a", "b", "c", "d"};
	struct fah_view view = {.lines = true};

	build_begin(&f->b);
	for (int i = 0; i < 4; i++)
		functions[i] = build_function(&f->b, "x.py", names[i], names[i], 1);
	process = build_process(&f->b, 10, 0);
	for (uint32_t k = 0; k < threads; k++) {
		t = build_thread(&f->b, process, 10 + k, 0);
		for (int i = 1; i <= SAMPLES; i++) {
			uint32_t node = 0, depth = 1 + (uint32_t)(build_random(&f->b) * DEPTH);
			double at = 2.5 * i + (i > SAMPLES / 2 ? 1800 : 0);

			for (uint32_t d = 0; d < depth; d++)
				node = fah_writer_node(f->b.w, node,
						       functions[(int)(build_random(&f->b) * 4)],
						       1 + d);
			fah_writer_sample(f->b.w, t, MS(at), i == SAMPLES / 2 + 1 ? MS(800) : MS(2),
					  FAH_IN_PYTHON, node);
		}
		fah_writer_thread_end(f->b.w, t, MS(12000), MS(2 * SAMPLES + 798));
	}
	build_process_end(&f->b, process, 12000, 1000);
	f->p = build_load_moments(&f->b, 12000, threads * (2.0 * SAMPLES + 798), &f->reader);
	assert_int_equal(fah_stacks_new(f->p, &view, &f->stacks), 0);
}

static void drop(struct fixture *f)
{
	fah_stacks_free(f->stacks);
	fah_profile_free(f->p);
	fah_reader_free(f->reader);
}

struct sums {
	const struct fah_stacks *stacks;
	uint64_t ns[MAX_PATHS], n, frames, last_ns, long_ns;
	uint32_t before;
};

static uint64_t depth_below(const struct fah_path *paths, uint32_t path, uint32_t before)
{
	uint64_t n = 0;
	uint32_t at;

	for (; path; path = paths[path].parent, n++) {
		for (at = before; at && at != path; at = paths[at].parent)
			;
		if (at)
			break;
	}
	return n;
}

static void add(void *context, const struct fah_span *span)
{
	struct sums *s = context;
	size_t n;
	const struct fah_path *paths = fah_stacks_paths(s->stacks, &n);

	assert_true(span->path < MAX_PATHS);
	assert_true(span->begin_ns >= s->last_ns && span->begin_ns < span->end_ns);
	s->frames += depth_below(paths, span->path, span->begin_ns > s->last_ns ? 0 : s->before);
	s->before = span->path;
	s->last_ns = span->end_ns;
	s->ns[span->path] += span->end_ns - span->begin_ns;
	if (span->end_ns - span->begin_ns == 800000000)
		s->long_ns = span->end_ns;
	s->n++;
}

/* How much of the run up to the middle stands before the middle. */
struct half {
	uint64_t ns, middle_ns;
};

static void add_half(void *context, const struct fah_span *span)
{
	struct half *h = context;

	if (span->end_ns <= h->middle_ns)
		h->ns += span->end_ns - span->begin_ns;
}

static struct fah_merge *counted(struct fixture *f, uint32_t threads, enum fah_merge_unit unit,
				 uint64_t max)
{
	struct fah_merge *m = fah_merge_new(f->stacks, unit, max);

	assert_non_null(m);
	for (uint32_t i = 0; i < threads; i++) {
		assert_int_equal(fah_spans_stacks(f->stacks, i, fah_merge_count, m), 0);
		fah_merge_thread_counted(m);
	}
	assert_int_equal(fah_merge_choose(m), 0);
	return m;
}

static void merged(struct fixture *f, struct fah_merge *m, uint32_t thread, fah_span_fn *fn,
		   void *context)
{
	fah_merge_begin(m, fn, context);
	assert_int_equal(fah_spans_stacks(f->stacks, thread, fah_merge_add, m), 0);
	fah_merge_end(m);
}

static struct sums plain, less;

static void sums_stay(void **state)
{
	static const struct {
		enum fah_merge_unit unit;
		uint64_t max, least_window, most_window;
	} cases[] = {
		{FAH_MERGE_FRAMES, 100000, 0, 0},
		{FAH_MERGE_SPANS, SAMPLES, 0, 0},
		{FAH_MERGE_SPANS, SAMPLES - 1, 1000000, 300000000},
		{FAH_MERGE_FRAMES, 12000, 1000000, 300000000},
		{FAH_MERGE_FRAMES, 8000, 1000000, 20000000000},
		{FAH_MERGE_FRAMES, 10, UINT64_MAX, UINT64_MAX},
	};
	struct fixture f;

	(void)state;
	make(&f, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fah_merge *m = counted(&f, 1, cases[i].unit, cases[i].max);
		uint64_t window = fah_merge_window(m);
		struct half half = {0, MS(SAMPLES / 2 * 2.5 + 500)};

		plain = less = (struct sums){.stacks = f.stacks};
		assert_int_equal(fah_spans_stacks(f.stacks, 0, add, &plain), 0);
		merged(&f, m, 0, add, &less);
		assert_true(window >= cases[i].least_window && window <= cases[i].most_window);
		assert_memory_equal(plain.ns, less.ns, sizeof(plain.ns));
		assert_true(plain.long_ns);
		if (window != UINT64_MAX && cases[i].max >= 8000)
			assert_true((cases[i].unit == FAH_MERGE_FRAMES ? less.frames : less.n) <=
				    cases[i].max);
		if (!window)
			assert_int_equal(less.n, plain.n);
		else
			assert_true(less.n < plain.n);
		if (window < 800000000) /* one that is longer than the window stays */
			assert_int_equal(less.long_ns, plain.long_ns);
		merged(&f, m, 0, add_half, &half);
		if (window < 500000000) /* all of the first half is in the first half */
			assert_int_equal(half.ns, (uint64_t)SAMPLES / 2 * 2000000);
		fah_merge_free(m);
	}
	drop(&f);
}

/* The limit is of all threads together. */
static void threads_share(void **state)
{
	struct fah_merge *one, *both;
	struct fixture f;
	uint64_t n = 0;

	(void)state;
	make(&f, 2);
	one = counted(&f, 1, FAH_MERGE_FRAMES, 9000);
	both = counted(&f, 2, FAH_MERGE_FRAMES, 9000);
	assert_true(fah_merge_window(both) > fah_merge_window(one));
	for (uint32_t i = 0; i < 2; i++) {
		plain = less = (struct sums){.stacks = f.stacks};
		assert_int_equal(fah_spans_stacks(f.stacks, i, add, &plain), 0);
		merged(&f, both, i, add, &less);
		assert_memory_equal(plain.ns, less.ns, sizeof(plain.ns));
		n += less.frames;
	}
	assert_true(n <= 9000);
	fah_merge_free(one);
	fah_merge_free(both);
	drop(&f);
}

/* By hand: two states by turns in one window, a wait that is longer, the next window. */
struct list {
	struct fah_span spans[8];
	size_t n;
};

static void append(void *context, const struct fah_span *span)
{
	struct list *l = context;

	assert_true(l->n < 8);
	l->spans[l->n++] = *span;
}

static void states_by_hand(void **state)
{
	static const struct fah_span spans[] = {
		{.begin_ns = 100, .end_ns = 200, .cpu_ns = 1, .seconds = 0.5},
		{.begin_ns = 200, .end_ns = 210, .reason = 3, .is_wait = true},
		{.begin_ns = 300, .end_ns = 400, .cpu_ns = 2, .seconds = 0.25},
		{.begin_ns = 900000, .end_ns = 5000000, .reason = 3, .is_wait = true}, /* long */
		{.begin_ns = 5000000, .end_ns = 5000100, .cpu_ns = 4, .seconds = 1},
	};
	struct fah_merge *m = fah_merge_new(NULL, FAH_MERGE_STATES, 4);
	struct list l = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		fah_merge_count(m, &spans[i]);
	fah_merge_thread_counted(m);
	assert_int_equal(fah_merge_choose(m), 0);
	assert_int_equal(fah_merge_window(m), 1000000);
	fah_merge_begin(m, append, &l);
	for (size_t i = 0; i < 5; i++)
		fah_merge_add(m, &spans[i]);
	fah_merge_end(m);
	assert_int_equal(l.n, 4);
	assert_true(l.spans[0].begin_ns == 100 && l.spans[0].end_ns == 300 && !l.spans[0].is_wait);
	assert_true(l.spans[0].cpu_ns == 3 && fabs(l.spans[0].seconds - 0.75) < 1e-12);
	assert_true(l.spans[1].begin_ns == 300 && l.spans[1].end_ns == 310);
	assert_true(l.spans[1].is_wait && l.spans[1].reason == 3);
	assert_memory_equal(&l.spans[2], &spans[3], sizeof(spans[3]));
	assert_true(l.spans[3].begin_ns == 5000000 && l.spans[3].end_ns == 5000100);
	fah_merge_free(m);
}

/* The formats say what they have merged, and nothing where they have not. */
static void formats_say_it(void **state)
{
	static const char *const formats[] = {"chrome", "gecko", "speedscope", "jsonl"};
	struct fah_view view = {.lines = true};
	struct fixture f;

	(void)state;
	make(&f, 1);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf note = FAH_STRBUF_INIT;
		FILE *null = fopen("/dev/null", "w");

		assert_int_equal(
			fah_export_write(fah_export_find(formats[i]), f.p, &view, null, &note), 0);
		assert_int_equal(note.len, 0);
		fclose(null);
	}
	drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_stay),
		cmocka_unit_test(threads_share),
		cmocka_unit_test(states_by_hand),
		cmocka_unit_test(formats_say_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
