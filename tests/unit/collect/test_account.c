/*
 * test_account.c - what is waited, and where, from points in time: the items add up to what the
 * kernel's account leaves, whatever the looks find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/account.h"
#include "core/segment.h"

#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS) /* the run began at 900 ms */

/* The writer's part: what came. */
struct fah_writer {
	int unused;
};
static struct {
	uint64_t end, length, waited;
	uint32_t reason, node;
} items[4096];
static unsigned n_items;
static uint64_t states_time, states_cpu, states_ready;

void fah_writer_wait(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t length_ns,
		     uint64_t waited_ns, uint32_t reason, uint32_t node)
{
	assert_true(n_items < 4096 && waited_ns <= length_ns);
	assert_true(!n_items || time_ns >= items[n_items - 1].end);
	items[n_items].end = time_ns;
	items[n_items].length = length_ns;
	items[n_items].waited = waited_ns;
	items[n_items].reason = reason;
	items[n_items++].node = node;
}

void fah_writer_states(struct fah_writer *w, uint32_t thread, uint64_t time_ns, uint64_t cpu_ns,
		       uint64_t ready_ns)
{
	states_time = time_ns;
	states_cpu = cpu_ns;
	states_ready = ready_ns;
}

static struct fah_account begin(void)
{
	struct fah_account a = {.thread = 1, .run_start_ns = START - 100 * MS};
	const struct fah_sched base = {7 * MS, 3 * MS, 10};

	n_items = 0;
	fah_account_begin(&a, START, &base);
	return a;
}

static bool point(struct fah_account *a, uint64_t at_ms, uint64_t cpu_ms, uint64_t ready_ms,
		  uint64_t slices)
{
	const struct fah_sched s = {(7 + cpu_ms) * MS, (3 + ready_ms) * MS, 10 + slices};

	return fah_account_point(a, &s, START + at_ms * MS);
}

static const struct fah_place sleep_at = {FAH_WAIT_SLEEP, 5}, lock_at = {FAH_WAIT_LOCK, 6};

static void a_long_wait_is_one_place(void **state)
{
	struct fah_account a = begin();

	(void)state;
	assert_false(point(&a, 20, 1, 2, 1));
	fah_account_blocked(&a, sleep_at);
	for (uint64_t ms = 40; ms <= 1000; ms += 20)
		assert_true(point(&a, ms, 1, 2, 1));
	fah_account_flush(&a, true);
	assert_int_equal(n_items, 2);
	assert_int_equal(items[0].length, 20 * MS); /* since the thread's start */
	assert_int_equal(items[0].waited, 17 * MS);
	assert_int_equal(items[1].end, 1100 * MS);
	assert_int_equal(items[1].waited, 980 * MS);
	assert_int_equal(items[1].reason, FAH_WAIT_SLEEP);
	assert_int_equal(items[1].node, 5);
	assert_int_equal(states_time, 1100 * MS);
	assert_int_equal(states_cpu, MS);
	assert_int_equal(states_ready, 2 * MS);
}

/* Blocked here, then there: what nobody saw is halved. */
static void between_two_places(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 20, 0, 0, 1);
	fah_account_blocked(&a, sleep_at);
	assert_false(point(&a, 40, 4, 0, 2));
	fah_account_blocked(&a, lock_at);
	assert_int_equal(n_items, 3);
	assert_int_equal(items[1].node, 5);
	assert_int_equal(items[1].waited, 8 * MS);
	assert_int_equal(items[2].node, 6);
	assert_int_equal(items[2].waited, 8 * MS);
	assert_int_equal(items[2].length, 12 * MS);
}

/* Found running: no new wait, so the old one has all. */
static void after_a_wait_it_runs(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 20, 0, 0, 1);
	fah_account_blocked(&a, sleep_at);
	assert_false(point(&a, 40, 4, 6, 2));
	fah_account_running(&a);
	assert_int_equal(n_items, 2);
	assert_int_equal(items[1].node, 5);
	assert_int_equal(items[1].waited, 10 * MS);
}

/* The kernel adds want of a core late: what was counted as waiting is taken from the next item. */
static void late_figures_do_not_add_up_to_more(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 20, 0, 0, 1);
	fah_account_blocked(&a, sleep_at);
	point(&a, 40, 0, 0, 1);
	fah_account_flush(&a, false);
	point(&a, 60, 1, 15, 2); /* it was ready since 30 */
	fah_account_blocked(&a, lock_at);
	assert_int_equal(items[0].waited + items[1].waited, 40 * MS);
	assert_int_equal(items[2].waited + items[3].waited, 4 * MS);
}

static uint64_t sum_of_items(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n_items; i++)
		sum += items[i].waited;
	return sum;
}

/* Blocked at the last look: what it waited after it, it waited there. */
static void its_own_end_of_a_blocked_one(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 20, 1, 2, 1);
	fah_account_blocked(&a, sleep_at);
	assert_true(point(&a, 40, 1, 2, 1));
	fah_account_end(&a, START, START + 100 * MS, (7 + 11) * MS);
	assert_int_equal(sum_of_items(), 87 * MS);
	assert_int_equal(items[n_items - 1].node, 5);
	assert_int_equal(items[n_items - 1].end, 200 * MS); /* since the run began */
	assert_int_equal(states_time, 200 * MS);
	assert_int_equal(states_cpu, 11 * MS);
	assert_int_equal(states_ready, 2 * MS);
}

/* It ran: what is left is divided as its time was before, here 1 to 3. */
static void its_own_end_of_a_running_one(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 40, 0, 10, 1);
	fah_account_blocked(&a, sleep_at); /* 30 ms */
	point(&a, 60, 20, 10, 2);
	fah_account_running(&a);
	fah_account_end(&a, START, START + 100 * MS, (7 + 40) * MS);
	assert_int_equal(states_ready, 15 * MS);
	assert_int_equal(sum_of_items(), 45 * MS);
	assert_int_equal(states_cpu + states_ready + sum_of_items(), 100 * MS);
}

/* Nothing was ever seen of it but that it ran: a little is want of a core, much is not known. */
static void its_own_end_unseen(void **state)
{
	struct fah_account a = begin();

	(void)state;
	point(&a, 20, 20, 0, 1);
	fah_account_running(&a);
	fah_account_end(&a, START, START + 40 * MS, (7 + 25) * MS);
	assert_int_equal(n_items, 0);
	assert_int_equal(states_ready, 15 * MS);

	a = begin();
	point(&a, 20, 20, 0, 1);
	fah_account_running(&a);
	fah_account_end(&a, START, START + 100 * MS, (7 + 25) * MS);
	assert_int_equal(states_ready, 0);
	assert_int_equal(n_items, 1);
	assert_int_equal(items[0].reason, FAH_WAIT_UNKNOWN);
	assert_int_equal(items[0].waited, 75 * MS);
}

/* The kernel knows its start to 10 ms; it knows better. */
static void its_own_start(void **state)
{
	struct fah_account a = {.thread = 1, .run_start_ns = START - 100 * MS};
	const struct fah_sched none = {0, 0, 0}, s = {2 * MS, 0, 1};

	(void)state;
	n_items = 0;
	fah_account_begin(&a, START, &none);
	assert_false(fah_account_point(&a, &s, START + 18 * MS));
	fah_account_running(&a);
	fah_account_end(&a, START + 9 * MS, START + 50 * MS, 6 * MS);
	assert_int_equal(states_cpu + states_ready + sum_of_items(), 41 * MS);
}

/* Anything may come: never more than the account leaves, and all of it where it ends blocked. */
static void whatever_comes_it_adds_up(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct fah_account a = begin();
		uint64_t ms = 0, cpu = 0, ready = 0, slices = 0, sum = 0;

		srand(round + 1);
		for (unsigned i = 0; i < 500; i++) {
			uint64_t step = 1 + (uint64_t)rand() % 50,
				 part = (uint64_t)rand() % (step + 1);
			int kind = rand() % 4;

			ms += step;
			if (kind) {
				slices += 1 + (uint64_t)rand() % 3;
				cpu += part;
				ready += ((uint64_t)rand() % (step - part + 1)) / 2;
			}
			if (point(&a, ms, cpu, ready, slices))
				continue;
			if (kind == 1)
				fah_account_blocked(&a, i & 1 ? sleep_at : lock_at);
			else if (kind == 2)
				fah_account_running(&a);
			else
				fah_account_unknown(&a);
			if (n_items > 4000)
				break;
		}
		point(&a, ms + 1, cpu, ready, slices + 1);
		fah_account_blocked(&a, sleep_at);
		fah_account_flush(&a, true);
		for (unsigned i = 0; i < n_items; i++)
			sum += items[i].waited;
		assert_true(sum <= (ms + 1 - cpu - ready) * MS);
		assert_true(sum + 1000 * n_items >= (ms + 1 - cpu - ready) * MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_wait_is_one_place),
		cmocka_unit_test(between_two_places),
		cmocka_unit_test(after_a_wait_it_runs),
		cmocka_unit_test(late_figures_do_not_add_up_to_more),
		cmocka_unit_test(its_own_end_of_a_blocked_one),
		cmocka_unit_test(its_own_end_of_a_running_one),
		cmocka_unit_test(its_own_end_unseen),
		cmocka_unit_test(its_own_start),
		cmocka_unit_test(whatever_comes_it_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
