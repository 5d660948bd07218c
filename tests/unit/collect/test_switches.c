/* test_switches.c - which threads may have an event: made-up threads that switch, looked at every
 * 20 ms as the collector does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/switches.h"

#define MS 1000000ull
#define LOOK (20 * MS)
#define COST 12000u

struct thread {
	struct fah_switches s;
	struct fah_sched sched;
	uint64_t now;
};

/* So long with so many switches a second and this part of a core; ms in which it may have one. */
static uint64_t run(struct thread *t, uint64_t ms, double per_second, double core)
{
	double slices = 0;
	uint64_t may = 0;

	for (uint64_t i = 0; i < ms * MS / LOOK; i++) {
		t->now += LOOK;
		slices += per_second * (double)LOOK / 1e9;
		t->sched.slices += (uint64_t)slices;
		slices -= (double)(uint64_t)slices;
		t->sched.cpu_ns += (uint64_t)(core * (double)LOOK);
		may += fah_switches_look(&t->s, &t->sched, t->now, COST) ? LOOK / MS : 0;
	}
	return may;
}

static void who_runs_on_has_one(void **state)
{
	struct thread alone = {0}, in_step = {0}, of_two = {0}, asleep = {0};

	/* from the second look on */
	assert_int_equal(run(&alone, 1000, 10, 1), 980);
	assert_int_equal(run(&in_step, 1000, 250, 0.7), 980); /* as periodic.py */
	assert_int_equal(run(&of_two, 1000, 200, 0.5), 980);  /* threads that want the GIL */
	assert_int_equal(run(&asleep, 1000, 20, 0.0001), 980);
}

static void who_hands_over_has_none(void **state)
{
	struct thread pair = {0}, of_fifty = {0}, napping = {0};

	assert_int_equal(run(&pair, 1000, 20000, 0.5), 0);
	assert_int_equal(run(&napping, 1000, 1500, 0.1), 0);
	assert_true(run(&of_fifty, 2000, 200, 0.02) <= 300);
	assert_int_equal(run(&of_fifty, 2000, 200, 0.02), 0);
}

static void it_is_taken_at_once_and_given_later(void **state)
{
	struct thread t = {0};
	uint64_t may, before = UINT64_MAX;

	run(&t, 500, 10, 1);
	assert_int_equal(run(&t, 200, 20000, 0.5), 0); /* by the first look */
	may = run(&t, 3000, 10, 1);
	assert_in_range(may, 1900, 2100);
	/* ever later */
	for (int i = 0; i < 4; i++) {
		run(&t, 200, 20000, 0.5);
		may = run(&t, 10000, 10, 1);
		assert_true(may < before && may < 8200);
		before = may;
	}
	/* what was long ago is forgotten */
	run(&t, 300000, 10, 1);
	run(&t, 200, 20000, 0.5);
	assert_in_range(run(&t, 3000, 10, 1), 1900, 2100);
}

static void a_burst_is_let_go(void **state)
{
	struct thread t = {0};

	run(&t, 500, 10, 1);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(run(&t, 20, 1500, 1), 20); /* 30 of them */
		assert_int_equal(run(&t, 480, 10, 1), 480);
	}
}

/* Nobody had looked for long: what a switch costs decides, not how many there were. */
static void cheap_ones_do_not_matter(void **state)
{
	struct fah_switches s = {0};
	struct fah_sched sched = {0, 0, 0};

	fah_switches_look(&s, &sched, MS, COST);
	sched = (struct fah_sched){500 * MS, 0, 5000};
	assert_true(fah_switches_are_dear(&s, &sched, 1001 * MS, COST));
	assert_false(fah_switches_are_dear(&s, &sched, 1001 * MS, 100));
	assert_true(fah_switches_look(&s, &sched, 1001 * MS, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_runs_on_has_one),
		cmocka_unit_test(who_hands_over_has_none),
		cmocka_unit_test(it_is_taken_at_once_and_given_later),
		cmocka_unit_test(a_burst_is_let_go),
		cmocka_unit_test(cheap_ones_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
