/*
 * test_cost.c - how often samples are taken for what they cost. Handlers and the CPU between them
 * are made up; the timer is one that only counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/agent/cost.c"

#include <string.h>

#define PERIOD 200000u /* 5 kHz */

struct fah_agent fah_agent;
static struct fah_segment_head head;
static struct fah_timer timer;
static unsigned settings; /* how often the timer was set */

struct fah_segment_head *fah_segment_head(void)
{
	return &head;
}

void fah_timer_rest(struct fah_timer *t, uint64_t ns)
{
	settings++;
	t->interval_ns = fah_cost_interval();
	t->due_ns = ns;
}

static void begin(uint32_t ppm)
{
	memset(&head, 0, sizeof(head));
	memset(&timer, 0, sizeof(timer));
	fah_agent.period_ns = PERIOD;
	timer.interval_ns = PERIOD;
	atomic_store(&usual_ns, GUESS_NS);
	atomic_store(&interval_ns, 0);
	atomic_store(&head.budget_ppm, ppm);
	settings = 0;
}

/* n handlers that take ns each: the CPU that passed. */
static uint64_t handle(unsigned n, uint64_t ns)
{
	uint64_t cpu = 0;

	for (unsigned i = 0; i < n; i++) {
		fah_cost_note(&timer, ns);
		cpu += timer.due_ns;
		fah_cost_gap(&timer, timer.due_ns);
	}
	return cpu;
}

static void counts(void **state)
{
	begin(0);
	assert_int_equal(handle(10, 15000), 10 * PERIOD);
	fah_cost_note(&timer, 1000);
	fah_cost_gap(&timer, PERIOD + 5000);
	fah_cost_gap(NULL, 7000); /* a thread without a timer was not due */
	assert_int_equal(atomic_load(&head.handler_ns), 151000);
	assert_int_equal(atomic_load(&head.handler_max_ns), 15000);
	assert_int_equal(atomic_load(&head.handlers[fah_hist_bucket(15000)]), 10);
	assert_int_equal(atomic_load(&head.handlers[fah_hist_bucket(1000)]), 1);
	assert_int_equal(atomic_load(&head.gap_ns), 5000);
	assert_int_equal(atomic_load(&head.gap_max_ns), 5000);
	assert_int_equal(atomic_load(&head.gaps[0]), 10);
	assert_int_equal(atomic_load(&head.interval_sum_ns), 11 * PERIOD);
	assert_int_equal(settings, 0);
}

/* The first one must not keep the program from running; soon they get their part, and dear places
 * are looked at in the same rhythm as cheap ones. */
static void long_ones_rest(void **state)
{
	uint64_t cpu = 0, after_dear, after_cheap;

	begin(0);
	assert_int_equal(handle(1, 5000000), 10000000);
	assert_int_equal(settings, 1);
	handle(60, 5000000);
	cpu = handle(100, 5000000);
	assert_true(cpu >= 100 * 5000000ull * (REST - 1));
	assert_true(cpu <= 100 * 5000000ull * (REST + 3));

	begin(0);
	for (int i = 0; i < 200; i++)
		handle(1, i % 2 ? 20000 : 180000);
	after_dear = handle(1, 180000);
	after_cheap = handle(1, 20000);
	assert_true(after_dear <= after_cheap + after_cheap / 4);
	assert_true(after_cheap <= after_dear + after_dear / 4);
}

static void keeps_its_share(void **state)
{
	const uint64_t costs[] = {5000, 30000, 80000};
	const uint32_t shares[] = {200, 1000, 10000};

	for (size_t c = 0; c < 3; c++)
		for (size_t s = 0; s < 3; s++) {
			uint64_t cpu;

			begin(shares[s]);
			handle(100, costs[c]); /* until it knows what they take */
			settings = 0;
			cpu = handle(1000, costs[c]);
			assert_true(1000 * costs[c] * MILLION <= cpu * shares[s]);
			/* and uses it, where the rate asked for would */
			if (costs[c] * MILLION / shares[s] > PERIOD)
				assert_true(1000 * costs[c] * MILLION * 2 > cpu * shares[s]);
			assert_true(settings < 10);
		}
}

/* One handler that describes a hundred code objects does not slow the rest down for long. */
static void an_outlier(void **state)
{
	uint64_t before, after;

	begin(1000);
	handle(100, 20000);
	before = fah_cost_interval();
	handle(1, 2000000);
	after = fah_cost_interval();
	assert_true(after < 2 * before);
	handle(50, 20000);
	assert_true(fah_cost_interval() < before + before / 2);
}

/* What the collector says that an event costs beside its handler. */
static void an_event(void **state)
{
	begin(0);
	assert_int_equal(fah_cost_of_event(), 0);
	atomic_store(&head.event_cost_ns, 35000);
	assert_int_equal(fah_cost_of_event(), 35000);
	handle(100, 15000 + fah_cost_of_event());
	assert_true(fah_cost_interval() >= REST * 50000);
}

/* More is granted: the rate comes back up to what was asked for, and not beyond. */
static void back_again(void **state)
{
	begin(1000);
	handle(100, 20000);
	assert_true(fah_cost_interval() > 20 * PERIOD);
	atomic_store(&head.budget_ppm, 500000);
	handle(10, 15000);
	assert_int_equal(fah_cost_interval(), PERIOD);
	assert_int_equal(timer.interval_ns, PERIOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),	   cmocka_unit_test(long_ones_rest),
		cmocka_unit_test(keeps_its_share), cmocka_unit_test(an_outlier),
		cmocka_unit_test(an_event),	   cmocka_unit_test(back_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
