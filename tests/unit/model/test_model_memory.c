/*
 * test_model_memory.c - memory as the kernel counted it, by construction: sums over processes, one
 * axis of time with the heap, how near a limit, kills; and what is not known stays so.
 */
#include "build_memory.h"

#include <signal.h>

static const struct fah_memory_timeline *timeline_of(struct fah_profile *p)
{
	const struct fah_memory_timeline *m = NULL;

	assert_int_equal(fah_profile_memory(p, &m), 0);
	assert_non_null(m);
	return m;
}

static void near_to(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6 * fabs(wanted) + 1e-9)
		fail_msg("%.9g is not %.9g", value, wanted);
}

static void check_row(const struct fah_memory_timeline *m, enum fah_memory_row_kind kind, double mb,
		      double at_s)
{
	assert_true(m->rows[kind].known);
	near_to(m->rows[kind].extreme, MB(mb));
	near_to(m->rows[kind].at_s, at_s);
}

/* 6 s, so a bar is 100 ms: a block of 300 MB is asked for after 1 s, and written to after 4. */
static void one_axis(void **state)
{
	struct fah_profile *p;
	const struct fah_memory_timeline *m;
	struct build b;
	struct memory heap;
	uint32_t process, thread;

	(void)state;
	build_begin(&b);
	process = build_process(&b, 10, 0);
	thread = build_thread(&b, process, 10, 0);
	heap = memory_begin(&b, process, thread, 500, 10000000, 0);
	memory_alloc(&heap, 1050, 0, 300000000);
	seen_process(&b, process, 550, 20, 0, 20);
	seen_process(&b, process, 4050, 20, 0, 25);
	seen_process(&b, process, 4150, 320, 0, 320);
	memory_state(&heap, 5500);
	build_process_end(&b, process, 5550, 330000000);
	p = build_load(&b, 6000, 100);
	m = timeline_of(p);
	near_to(m->to_s, 6);
	check_row(m, FAH_MEMORY_HEAP, 310, 1.05);
	check_row(m, FAH_MEMORY_RESIDENT, 320, 4.15);
	check_row(m, FAH_MEMORY_HIGH, 330, 5.55); /* the process's own last word */
	check_row(m, FAH_MEMORY_SWAPPED, 0, 0.55);
	for (int i = 0; i < FAH_HEAP_BUCKETS; i++) {
		near_to(m->rows[FAH_MEMORY_HEAP].timeline[i], i < 5    ? 0
							      : i < 10 ? MB(10)
							      : i < 56 ? MB(310)
								       : 0);
		near_to(m->rows[FAH_MEMORY_RESIDENT].timeline[i], i < 5	   ? 0
								  : i < 41 ? MB(20)
								  : i < 56 ? MB(320)
									   : 0);
	}
	near_to(m->rows[FAH_MEMORY_RESIDENT].last, MB(320)); /* the end is no figure */
	/* heights can be compared by eye */
	near_to(m->rows[FAH_MEMORY_HEAP].full, MB(330));
	near_to(m->rows[FAH_MEMORY_RESIDENT].full, MB(330));
	assert_false(m->rows[FAH_MEMORY_GROUP].known);
	assert_false(m->rows[FAH_MEMORY_AVAILABLE].known);
	assert_true(m->limit == FAH_MEMORY_UNKNOWN && !m->limited);
	assert_int_equal(m->n_processes, 1);
	fah_profile_free(p);
}

/* Together while both live; the first to go takes its part along. */
static void several_processes(void **state)
{
	struct fah_profile *p;
	const struct fah_memory_timeline *m;
	struct build b;
	uint32_t first, second;

	(void)state;
	build_begin(&b);
	first = build_process(&b, 10, 0);
	second = build_process(&b, 11, 1000);
	seen_process(&b, first, 100, 50, 1, 50);
	seen_process(&b, second, 2000, 70, 4, 75);
	seen_process(&b, first, 3000, 60, -1, -1);
	build_process_end(&b, second, 4000, 0);
	/* written late, as when it was found to be gone: the order of the file is not that of time
	 */
	seen_process(&b, second, 2500, 80, 4, 81);
	seen_process(&b, first, 5000, 40, 1, 60);
	build_process_end(&b, first, 6000, 60000000);
	p = build_load(&b, 6000, 100);
	m = timeline_of(p);
	assert_int_equal(m->n_processes, 2);
	check_row(m, FAH_MEMORY_RESIDENT, 140, 3);
	check_row(m, FAH_MEMORY_SWAPPED, 5, 2);
	check_row(m, FAH_MEMORY_HIGH, 81, 2.5);
	near_to(m->rows[FAH_MEMORY_RESIDENT].timeline[22], MB(120));
	near_to(m->rows[FAH_MEMORY_RESIDENT].timeline[35], MB(140));
	near_to(m->rows[FAH_MEMORY_RESIDENT].timeline[45], MB(60));
	near_to(m->rows[FAH_MEMORY_RESIDENT].timeline[55], MB(40));
	near_to(m->rows[FAH_MEMORY_RESIDENT].last, MB(40));
	fah_profile_free(p);
}

/* Who was killed has told nothing at its end: what was seen is its RSS. */
static void killed_process(void **state)
{
	struct fah_profile *p;
	struct build b;
	uint32_t first, second;
	size_t n;

	(void)state;
	build_begin(&b);
	first = build_process(&b, 10, 0);
	second = build_process(&b, 11, 0);
	seen_process(&b, first, 100, 50, 0, 55);
	seen_process(&b, second, 100, 70, 0, -1);
	seen_process(&b, second, 200, 90, -1, -1);
	build_process_end(&b, first, 1000, 52000000);
	build_process_end(&b, second, 0, 0);
	p = build_load(&b, 1000, 100);
	assert_int_equal(fah_profile_processes(p, &n)[0].max_rss_bytes, 52000000);
	assert_int_equal(fah_profile_processes(p, &n)[1].max_rss_bytes, 90000000);
	fah_profile_free(p);
}

/* Files that are dropped first do not count; their size is known now and then. */
static void near_a_limit(void **state)
{
	struct fah_profile *p;
	const struct fah_memory_timeline *m;
	struct build b;

	(void)state;
	build_begin(&b);
	build_process(&b, 10, 0);
	seen_machine(&b, 100, (struct seen){9000, 400, 300, 500, 0});
	seen_machine(&b, 200, (struct seen){8000, 490, -1, 500, 0}); /* 310 of 500 left */
	seen_machine(&b, 300, (struct seen){8500, 450, 10, 500, 0}); /* 60 left: nearest */
	seen_machine(&b, 400, (struct seen){8600, 480, 200, 500, 0});
	p = build_load(&b, 1000, 100);
	m = timeline_of(p);
	check_row(m, FAH_MEMORY_GROUP, 490, 0.2);
	check_row(m, FAH_MEMORY_AVAILABLE, 8000, 0.2);
	near_to(m->rows[FAH_MEMORY_AVAILABLE].last, MB(8600));
	near_to(m->rows[FAH_MEMORY_AVAILABLE].full, MB(16000));
	near_to(m->rows[FAH_MEMORY_AVAILABLE].timeline[12], MB(8000));
	near_to(m->rows[FAH_MEMORY_AVAILABLE].timeline[40], MB(8600));
	near_to(m->rows[FAH_MEMORY_GROUP].full, MB(500));
	assert_true(m->limited);
	near_to(m->left, MB(60));
	near_to(m->left_of, MB(500));
	near_to(m->left_at_s, 0.3);
	assert_int_equal(m->limit, 500000000);
	assert_false(m->kills || m->killed);
	fah_profile_free(p);
}

/* A group that moved under another limit: by share, not by bytes. */
static void limits_that_change(void **state)
{
	struct fah_profile *p;
	const struct fah_memory_timeline *m;
	struct build b;

	(void)state;
	build_begin(&b);
	build_process(&b, 10, 0);
	seen_machine(&b, 100, (struct seen){9000, 50, 0, 100, 0});    /* 50 % left */
	seen_machine(&b, 200, (struct seen){9000, 900, 0, 1000, 0});  /* 10 % */
	seen_machine(&b, 300, (struct seen){9000, 1200, 0, 1000, 0}); /* more than allowed: none */
	seen_machine(&b, 400, (struct seen){9000, 1200, 0, 0, 0});    /* no limit any more */
	p = build_load(&b, 1000, 100);
	m = timeline_of(p);
	assert_true(m->limited);
	near_to(m->left, 0);
	near_to(m->left_at_s, 0.3);
	assert_true(m->limit == FAH_MEMORY_NO_LIMIT);
	near_to(m->rows[FAH_MEMORY_GROUP].full, MB(1200));
	fah_profile_free(p);
}

static struct fah_profile *with_kills(const uint64_t *kills, size_t n, uint32_t status)
{
	struct build b;

	build_begin(&b);
	build_process(&b, 10, 0);
	for (size_t i = 0; i < n; i++)
		seen_machine(&b, 100.0 * (double)(i + 1),
			     (struct seen){9000, 140, 0, 150, kills[i]});
	return load_ended(&b, 1000, status);
}

static void check_kills(const uint64_t *kills, size_t n, uint32_t status, uint64_t wanted,
			bool killed)
{
	struct fah_profile *p = with_kills(kills, n, status);
	const struct fah_memory_timeline *m = timeline_of(p);

	assert_int_equal(m->kills, wanted);
	assert_int_equal(m->killed, killed);
	fah_profile_free(p);
}

static void kills(void **state)
{
	const uint64_t unknown = FAH_MEMORY_UNKNOWN;

	(void)state;
	/* of before the run: not ours */
	check_kills((const uint64_t[]){7, 7, 7}, 3, SIGKILL, 0, false);
	check_kills((const uint64_t[]){7, 7, 8}, 3, SIGKILL, 1, true);
	check_kills((const uint64_t[]){7, unknown, 8, unknown}, 4, SIGKILL, 1, true);
	/* somebody of the group, but not the program */
	check_kills((const uint64_t[]){0, 2}, 2, 0, 2, false);
	check_kills((const uint64_t[]){0, 2}, 2, SIGTERM, 2, false);
	check_kills((const uint64_t[]){unknown, unknown}, 2, SIGKILL, 0, false);
	/* it moved to another group, with a count of its own */
	check_kills((const uint64_t[]){9, 2, 3}, 3, SIGKILL, 1, true);
}

static void nothing_known(void **state)
{
	struct fah_profile *p;
	const struct fah_memory_timeline *m;
	struct build b;
	uint32_t process;

	(void)state;
	build_begin(&b);
	process = build_process(&b, 10, 0);
	seen_process(&b, process, 100, -1, -1, -1);
	fah_writer_memory(b.w, &(struct fah_rec_memory){.time_ns = MS(100),
							.total = FAH_MEMORY_UNKNOWN,
							.available = FAH_MEMORY_UNKNOWN,
							.used = FAH_MEMORY_UNKNOWN,
							.cache = FAH_MEMORY_UNKNOWN,
							.limit = FAH_MEMORY_UNKNOWN,
							.kills = FAH_MEMORY_UNKNOWN});
	p = build_load(&b, 1000, 100);
	m = timeline_of(p);
	for (int i = 0; i < FAH_MEMORY_ROWS; i++)
		assert_false(m->rows[i].known);
	assert_false(m->limited);
	fah_profile_free(p);

	build_begin(&b);
	build_process(&b, 10, 0);
	p = build_load(&b, 1000, 100);
	assert_int_equal(fah_profile_memory(p, &m), 0);
	assert_null(m);
	fah_profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_axis),	      cmocka_unit_test(several_processes),
		cmocka_unit_test(killed_process),     cmocka_unit_test(near_a_limit),
		cmocka_unit_test(limits_that_change), cmocka_unit_test(kills),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
