/*
 * test_mark.c - iterations that a program marks, as records: the first ones and long ones alone,
 * short ones together, none lost. The clock is made up; records go to a list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/agent/mark.c"

struct fah_agent fah_agent;
static uint64_t now, cpu;
static bool closed, room = true;
static struct fah_thread_state thread;
static uint8_t buf[RECORD_MAX];

static struct record {
	uint64_t time, loop, first, count, wall, cpu, squares;
	char label[LABEL_MAX + 1];
} records[1000];
static unsigned n_records;

uint64_t fah_now_mono(void)
{
	return now;
}
uint64_t fah_now_thread_cpu(void)
{
	return cpu;
}
struct fah_thread_state *fah_thread_write_begin(void)
{
	return closed || atomic_exchange(&thread.busy, true) ? NULL : &thread;
}
void fah_thread_write_end(struct fah_thread_state *t)
{
	atomic_store(&t->busy, false);
}
uint8_t *fah_record_begin(struct fah_thread_state *t, size_t max)
{
	assert_true(max <= sizeof(buf) && atomic_load(&t->busy));
	return room ? buf : NULL;
}
void fah_record_commit(struct fah_thread_state *t, enum fah_seg_record type, uint8_t *end_at)
{
	struct fah_cursor c = {buf, end_at, false};
	struct record *r = &records[n_records++];
	uint64_t len;

	assert_int_equal(type, FAH_SEG_ITERATIONS);
	assert_true(n_records < sizeof(records) / sizeof(records[0]));
	r->time = fah_get_varint(&c);
	r->loop = fah_get_varint(&c);
	r->first = fah_get_varint(&c);
	r->count = fah_get_varint(&c);
	r->wall = fah_get_varint(&c);
	r->cpu = fah_get_varint(&c);
	r->squares = fah_get_varint(&c);
	len = fah_get_varint(&c);
	memcpy(r->label, fah_get_bytes(&c, len), len);
	r->label[len] = 0;
	assert_true(!c.bad && c.p == c.end);
	assert_true(r->count > 1 || !r->squares);
}

static int begin(void **state)
{
	memset(loops, 0, sizeof(loops));
	memset(records, 0, sizeof(records));
	atomic_store(&fah_agent.active, true);
	n_records = 0;
	closed = false;
	room = true;
	now = 1000000000;
	thread.chunk_time_ns = 0;
	return 0;
}

/* One iteration that takes ns, and half of that in CPU. */
static void iterate(unsigned long loop, unsigned long number, uint64_t ns)
{
	fixingahole_mark(BEGIN, loop, number, "x.py:1");
	now += ns;
	cpu += ns / 2;
	fixingahole_mark(END, loop, number, "x.py:1");
}

static void first_and_long_ones_alone(void **state)
{
	for (unsigned i = 0; i < 20; i++)
		iterate(1, i, i == 15 ? 60000000000 : 1000);
	fixingahole_mark(OVER, 1, 0, "x.py:1");
	/* 10 first ones, 5 short, the long one, 4 short */
	assert_int_equal(n_records, 13);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(records[i].first, i);
		assert_int_equal(records[i].count, 1);
		assert_int_equal(records[i].wall, 1000);
		assert_int_equal(records[i].cpu, 500);
		assert_int_equal(records[i].squares, 0);
	}
	assert_int_equal(records[10].first, 10);
	assert_int_equal(records[10].count, 5);
	assert_int_equal(records[10].squares, 5 * 1000 * 1000);
	assert_int_equal(records[11].first, 15);
	assert_int_equal(records[11].count, 1);
	assert_int_equal(records[11].wall, 60000000000);
	assert_int_equal(records[11].squares, 0);
	assert_int_equal(records[12].first, 16);
	assert_int_equal(records[12].count, 4);
	assert_string_equal(records[12].label, "x.py:1");
}

/* A million of a microsecond: at most 200 records a second, and nothing is lost. */
static void short_ones_together(void **state)
{
	uint64_t count = 0, wall = 0, squares = 0, next = 0, time = 0;

	for (unsigned i = 0; i < 1000000; i++)
		iterate(1, i, 1000 + i % 7);
	fixingahole_mark(OVER, 1, 0, "x.py:1");
	assert_true(n_records < 10 + 210);
	for (unsigned i = 0; i < n_records; i++) {
		assert_int_equal(records[i].first, next);
		next += records[i].count;
		count += records[i].count;
		wall += records[i].wall;
		squares += records[i].count > 1 ? records[i].squares
						: records[i].wall * records[i].wall;
		time += records[i].time; /* each since the last */
	}
	assert_int_equal(count, 1000000);
	assert_int_equal(wall, now - 1000000000);
	assert_int_equal(time, now);
	for (unsigned i = 0; i < 1000000; i++)
		squares -= (1000 + i % 7) * (1000 + i % 7);
	assert_int_equal(squares, 0);
}

static void nested(void **state)
{
	fixingahole_mark(BEGIN, 1, 0, "outer");
	for (unsigned k = 0; k < 3; k++)
		iterate(2, k, 1000);
	fixingahole_mark(OVER, 2, 0, "x.py:1");
	fixingahole_mark(END, 1, 0, "outer");
	assert_int_equal(n_records, 4);
	assert_int_equal(records[3].loop, 1);
	assert_int_equal(records[3].wall, 3000);
	assert_string_equal(records[3].label, "outer");
}

/* Ends without a beginning, loops without a number, and times when nothing can be written. */
static void what_makes_no_sense(void **state)
{
	char longer[LABEL_MAX + 100];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	fixingahole_mark(END, 1, 0, "a");
	fixingahole_mark(BEGIN, 0, 0, "a");
	fixingahole_mark(END, 0, 0, "a");
	fixingahole_mark(BEGIN, 1, 0, NULL);
	fixingahole_mark(99, 1, 0, "a");
	fixingahole_mark(OVER, 5, 0, "a");
	closed = true;
	iterate(1, 0, 1000);
	closed = false;
	room = false;
	iterate(1, 1, 1000);
	room = true;
	atomic_store(&thread.busy, true);
	iterate(1, 2, 1000);
	assert_true(atomic_load(&thread.busy)); /* it is somebody else's */
	atomic_store(&thread.busy, false);
	atomic_store(&fah_agent.active, false);
	iterate(1, 3, 1000);
	atomic_store(&fah_agent.active, true);
	assert_int_equal(n_records, 0);
	fixingahole_mark(BEGIN, 1, 5, longer);
	fixingahole_mark(END, 1, 5, longer);
	assert_int_equal(n_records, 1);
	assert_int_equal(strlen(records[0].label), LABEL_MAX);
	assert_false(atomic_load(&thread.busy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(first_and_long_ones_alone, begin),
		cmocka_unit_test_setup(short_ones_together, begin),
		cmocka_unit_test_setup(nested, begin),
		cmocka_unit_test_setup(what_makes_no_sense, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
