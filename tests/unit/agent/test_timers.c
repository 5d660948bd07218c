/*
 * test_timers.c - two clocks, one account: a made-up program goes in and out of the kernel, events
 * come outside of it, ticks inside, and what each side gets must be what it used. The intervals are
 * varied as the collector does, so one that is reckoned wrongly shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/agent/timers.c"
#include "collect/vary.h"

#include <math.h>
#include <stdio.h>

#define MS 1000000ull
#define TICK (4 * MS)
#define LENGTH (60000 * MS)

struct fah_agent fah_agent;
static struct fah_segment_head head;
static uint64_t random_state, now, slept; /* now: its CPU */

struct fah_segment_head *fah_segment_head(void)
{
	return &head;
}
uint64_t fah_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}
uint64_t fah_now_mono(void)
{
	return now + slept;
}
uint64_t fah_cost_interval(void)
{
	return fah_agent.period_ns;
}

/* Uniform in [0, 1). */
static double chance(void)
{
	return (double)(fah_random() >> 11) / 9007199254740992.0;
}

struct mix {
	uint64_t user_ns, kernel_ns; /* mean length of a stretch of each */
	uint64_t interval_ns;	     /* between samples, as the agent wants them */
	uint64_t turn_ns, sleep_ns;  /* it sleeps so long after so much CPU; 0: never */
};

static struct fah_timer *the_timer(uint64_t interval_ns)
{
	memset(&head, 0, sizeof(head));
	timers[0] = (struct fah_timer){.outer = true, .id = 1, .due_ns = interval_ns};
	return &timers[0];
}

/* The share of the kernel: as it was, and as the samples have it. */
static double shown(const struct mix *mix, double *ret_true)
{
	uint64_t event = 1, tick = TICK, last = 0, change = 0, user = 0, kernel = 0;
	uint64_t in_kernel = 0, vary = 0, turn = mix->turn_ns ? mix->turn_ns : UINT64_MAX;
	struct fah_clock_slot *slot = &head.clocks[0];
	struct fah_timer *t = the_timer(mix->interval_ns);
	uint32_t events = UINT32_MAX;
	bool inside = false;
	struct fah_vary v;

	fah_vary_init(&v, true, fah_random());
	slept = 0;
	for (now = 0; now < LENGTH;) {
		uint64_t next = event < tick ? event : tick;

		next = next < turn ? next : turn;
		next = next < change ? next : change;
		in_kernel += inside ? next - now : 0;
		now = next;
		/* as collect/clocks.c does; a change begins the interval anew */
		if (now != event && now + slept >= vary && slot->events != events) {
			slot->interval_ns = fah_vary_next(&v, mix->interval_ns);
			slot->set_ns = now + slept;
			slot->set_cpu_ns = now;
			event = now + slot->interval_ns;
			vary = now + slept + fah_vary_after(&v, mix->interval_ns);
			events = slot->events;
			continue;
		}
		if (now == turn) {
			slept += mix->sleep_ns;
			turn = now + mix->turn_ns;
		} else if (now == change) {
			inside = !inside;
			change = now + 1 +
				 (uint64_t)(-log(1 - chance()) *
					    (double)(inside ? mix->kernel_ns : mix->user_ns));
		} else if (now == event) {
			event = now + slot->interval_ns;
			if (inside)
				continue;
			fah_timer_taken_over(t);
			if (!fah_timer_too_early(t, now - t->event_ns)) {
				uint64_t upto = fah_timer_account(t, last, now, true);

				user += upto - last;
				last = upto;
			}
		} else {
			tick = now + TICK;
			if (inside && fah_timer_owes_kernel(t, last, now)) {
				uint64_t upto = fah_timer_account(t, last, now, false);

				kernel += upto - last;
				last = upto;
			}
		}
	}
	assert_true(last > LENGTH - 2000 * MS && last <= LENGTH);
	*ret_true = (double)in_kernel / LENGTH;
	return (double)kernel / (double)(user + kernel);
}

static void each_side_gets_its_own(void **state)
{
	static const struct mix mixes[] = {
		{MS, MS, 4 * MS, 0, 0},
		{MS / 100, MS / 100, 4 * MS, 0, 0},
		{10 * MS, MS, 4 * MS, 0, 0},
		{MS, 10 * MS, 4 * MS, 0, 0},
		{30 * MS, 30 * MS, 4 * MS, 0, 0},
		{MS, MS, 9 * MS, 0, 0},
		{MS / 100, MS / 50, 20 * MS, 0, 0},
		{100 * MS, MS, 9 * MS, 0, 0},
		/* of many threads that take turns: the interval is due to be changed in each sleep
		 */
		{MS, MS / 5, 4 * MS, 5 * MS, 245 * MS},
		{MS, MS / 5, 4 * MS, 3 * MS, 20 * MS},
		{MS, MS, 4 * MS, MS, 100 * MS},
	};

	for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		double sum = 0, expected = 0, worst, n = 0;

		for (int run = 0; run < 8; run++) {
			double is;

			random_state = 88172645463325252ull + (uint64_t)run * 7919;
			fah_agent =
				(struct fah_agent){.clock = FAH_CLOCK_BOTH, .period_ns = 4 * MS};
			sum += shown(&mixes[i], &is);
			expected += is;
			n++;
		}
		/* of 8 runs of a minute, chance makes 0.3 points at most */
		worst = fabs(sum - expected) / n;
		/* where it slept, when it was that the interval changed is known from the time
		 * alone */
		if (worst > (mixes[i].turn_ns ? 0.02 : 0.01))
			fail_msg("mix %zu: shown %.2f %%, true %.2f %%", i, 100 * sum / n,
				 100 * expected / n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_side_gets_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
