/*
 * test_budget.c - the budget against programs by construction: what they use per look is computed
 * from what they were granted, as an agent and a collector would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/budget.h"

#define SECOND 1000000000u

struct program {
	double cores;  /* that its threads use */
	double wanted; /* share of their CPU that handlers would take at the rate asked for */
	double tick;   /* share of a core that the collector takes when it does not stretch */
	double base;   /* and however much it does */
};

static struct fah_budget b;
static struct fah_budget_use use;

/* One second; what it cost, as a share of a core. */
static double run(const struct program *p)
{
	double granted = (double)fah_budget_ppm(&b) / 1e6;
	double used = p->cores * (p->wanted < granted || granted == 0 ? p->wanted : granted);
	double collector = p->base + p->tick / b.stretch;

	use.wall += SECOND;
	use.own += (uint64_t)(collector * SECOND);
	use.handler += (uint64_t)(used * SECOND);
	use.program += (uint64_t)(p->cores * SECOND);
	assert_true(fah_budget_look(&b, &use) || use.handler < b.free_ns);
	return used + collector;
}

static void begin(double percent)
{
	use = (struct fah_budget_use){.wall = 5 * (uint64_t)SECOND, .own = 3000000};
	fah_budget_init(&b, percent, &use);
}

static double after_ten(const struct program *p)
{
	double cost = 0;

	for (int i = 0; i < 10; i++)
		cost = run(p);
	return cost;
}

static void none(void **state)
{
	begin(0);
	assert_int_equal(fah_budget_ppm(&b), 0);
	use.wall += SECOND;
	use.own += SECOND;
	use.handler += SECOND;
	assert_false(fah_budget_look(&b, &use));
	assert_int_equal(fah_budget_ppm(&b), 0);
	assert_true(b.stretch == 1);
}

static void holds(void **state)
{
	const struct program programs[] = {
		{1, 0.08, 0.003, 0.0005},   {2, 0.08, 0.003, 0.0005}, {16, 0.08, 0.003, 0.0005},
		{0.1, 0.08, 0.003, 0.0005}, {1, 0.004, 0.002, 0},     {4, 1, 0.02, 0.001},
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		begin(1);
		assert_true(after_ten(&programs[i]) <= 0.0101);
	}
	/* and uses what it may: a core that computes gets most of it */
	begin(1);
	assert_true(after_ten(&programs[0]) > 0.009);
	begin(1);
	assert_true(after_ten(&programs[2]) > 0.009);
}

/* Where the rate asked for costs less than the budget, nothing is held back. */
static void not_needed(void **state)
{
	const struct program p = {1, 0.004, 0.002, 0};

	begin(1);
	after_ten(&p);
	assert_true((double)fah_budget_ppm(&b) / 1e6 > 0.004);
	assert_true(b.stretch == 1);
}

/* The tables of new code: once, then as before. Four cores that wake up: one second too much. */
static void recovers(void **state)
{
	const struct program quiet = {1, 0.08, 0.002, 0}, tables = {1, 0.08, 0.002, 0.05};
	const struct program idle = {0, 0, 0.002, 0}, busy = {4, 0.08, 0.002, 0};

	begin(1);
	after_ten(&quiet);
	run(&tables);
	assert_true(fah_budget_ppm(&b) >= 2500 / 2);
	assert_true(after_ten(&quiet) > 0.009);
	after_ten(&idle);
	assert_true(run(&busy) <= 4 * 0.0101);
	assert_true(run(&busy) <= 0.0101);
}

/* Nobody asked: all of the first samples, then 1 % of each core that is busy. */
static void by_default(void **state)
{
	const struct program one = {1, 0.018, 0.003, 0}, many = {8, 0.018, 0.003, 0};
	const struct program half = {0.5, 0.018, 0.003, 0}, cheap = {1, 0.004, 0.002, 0};
	double first;

	use = (struct fah_budget_use){.wall = SECOND};
	fah_budget_init_default(&b, &use);
	assert_int_equal(fah_budget_ppm(&b), 0);
	first = run(&one);
	assert_true(first > 0.0205 && first < 0.0215);
	assert_int_equal(fah_budget_ppm(&b), 0);
	assert_true(b.stretch == 1);
	run(&one);
	run(&one);
	assert_true(fah_budget_ppm(&b) > 0);
	assert_true(after_ten(&one) <= 0.0101);
	assert_true(after_ten(&one) > 0.009);
	assert_true(after_ten(&half) <= 0.0101);
	assert_true(after_ten(&many) <= 8 * 0.0101);
	assert_true(after_ten(&many) > 8 * 0.009);
	run(&one);
	assert_true(run(&one) <= 0.0101);
	/* what costs less anyway keeps its rate */
	after_ten(&cheap);
	assert_true((double)fah_budget_ppm(&b) / 1e6 > cheap.wanted);
}

/* Where a budget was asked for, samples get what counting calls leaves; else that is none of
 * theirs. */
static void counting(void **state)
{
	const struct program p = {1, 0.08, 0.003, 0};
	double samples = 0;

	begin(1);
	for (int i = 0; i < 10; i++) {
		use.told += SECOND / 1000 * 4;
		samples = run(&p);
	}
	assert_true(samples <= 0.0061 && samples > 0.0055);
	use = (struct fah_budget_use){.wall = SECOND};
	fah_budget_init_default(&b, &use);
	for (int i = 0; i < 20; i++) {
		use.told += SECOND / 1000 * 4;
		samples = run(&p);
	}
	assert_true(samples <= 0.0101 && samples > 0.009);
}

static void never_nothing(void **state)
{
	const struct program p = {64, 1, 1, 1};

	begin(0.01);
	for (int i = 0; i < 100; i++)
		run(&p);
	assert_true(fah_budget_ppm(&b) >= 1);
	assert_true(b.stretch <= 25);
}

/* Between two looks that are close together there is nothing to learn. */
static void too_soon(void **state)
{
	begin(1);
	use.wall += 1000;
	use.own += 900;
	use.handler += 900;
	assert_false(fah_budget_look(&b, &use));
	assert_int_equal(fah_budget_ppm(&b), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),	      cmocka_unit_test(holds),
		cmocka_unit_test(not_needed), cmocka_unit_test(recovers),
		cmocka_unit_test(by_default), cmocka_unit_test(never_nothing),
		cmocka_unit_test(too_soon),   cmocka_unit_test(counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
