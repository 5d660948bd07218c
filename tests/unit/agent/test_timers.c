/*
 * test_timers.c - two clocks, one account: a made-up program goes in and out of the kernel, events
 * come outside of it, ticks inside, and what each side and each place gets must be what it used.
 * The intervals are varied as the collector does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../src/agent/account.c"
#include "../../../src/agent/timers.c"
#include "collect/vary.h"

#include <math.h>
#include <stdio.h>

#define MS 1000000ull
#define TICK (4 * MS)
#define LENGTH (60000 * MS)

struct fah_agent fah_agent;
static struct fah_segment_head head;
static uint64_t random_state, now; /* now: its CPU */

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
uint64_t fah_cost_interval(void)
{
	return fah_agent.period_ns;
}

/* Uniform in [0, 1). */
static double chance(void)
{
	return (double)(fah_random() >> 11) / 9007199254740992.0;
}

/* A stretch of a program's time; of a made-up one, or of one that goes round. */
struct stretch {
	int place;
	uint64_t ns;
	double inside;	 /* the part in the kernel, in pieces too short to see */
	bool is_a_call;	 /* one system call: a signal waits until it is over */
	uint64_t own_ns; /* what a handler takes there, of a deep stack */
};

struct mix {
	uint64_t user_ns, kernel_ns; /* mean length of a stretch of each */
	uint64_t interval_ns;	     /* between samples, as the agent wants them */
	uint64_t turn_ns; /* it sleeps after so much CPU, and the collector looks; 0: never */
	const struct stretch *cycle; /* instead of user_ns and kernel_ns */
	int n_cycle;
	bool timer_alone;
};

#define PLACES 4
struct sums {
	double of[PLACES];
};

static struct fah_timer *the_timer(uint64_t interval_ns)
{
	memset(&head, 0, sizeof(head));
	head.clocks[0].given = 1;
	fah_agent.period_ns = interval_ns;
	timers[0] = (struct fah_timer){.tid = 1, .id = 1, .due_ns = interval_ns};
	return &timers[0];
}

static struct stretch next_stretch(const struct mix *mix, int i)
{
	struct stretch s = {i % 2, 0, i % 2, false, 0};

	if (mix->cycle) {
		s = mix->cycle[i % mix->n_cycle];
		if (!s.inside || s.inside == 1) /* no two turns are as long */
			return s;
		s.ns = (uint64_t)((double)s.ns * 2 * chance());
	} else {
		s.ns = (uint64_t)(-log(1 - chance()) *
				  (double)(i % 2 ? mix->kernel_ns : mix->user_ns));
	}
	return s;
}

/* One program: what each place used, and what its samples stand for. */
struct program {
	const struct mix *mix;
	struct fah_timer *t;
	struct stretch at;
	uint64_t last; /* up to where samples account */
	struct fah_ticks ticks;
	bool waiting;	  /* a tick's signal, for the end of a call */
	uint64_t handled; /* by handlers, which make the stretch longer */
	struct sums *is, *shown;
};

static void sample(struct program *p, uint64_t ticks_ns)
{
	uint64_t upto = fah_timer_account(p->t, p->last, now, ticks_ns);

	assert_true(upto >= p->last && upto <= now);
	now += p->at.own_ns;
	p->is->of[p->at.place] += (double)p->at.own_ns;
	upto += p->at.own_ns;
	fah_timer_handled(p->t, ticks_ns != 0, p->at.own_ns);
	p->shown->of[p->at.place] += (double)(upto - p->last);
	p->last = upto;
	p->handled += p->at.own_ns;
}

static void signal_of_tick(struct program *p)
{
	uint64_t ns,
		due = p->t->at_ticks || p->mix->interval_ns < TICK ? TICK : p->mix->interval_ns;

	if (p->ticks.all_ns < due)
		return;
	p->waiting = false;
	if (p->mix->timer_alone)
		sample(p, fah_timer_of_ticks(p->t, p->ticks.all_ns));
	else if (fah_timer_in_kernel(p->t, &p->ticks, &ns))
		sample(p, ns);
	p->ticks = (struct fah_ticks){0, 0};
}

static bool inside(const struct program *p)
{
	return p->at.inside > 0 && chance() < p->at.inside;
}

static void event_came(struct program *p)
{
	if (p->mix->timer_alone || inside(p))
		return;
	fah_timer_taken_over(p->t);
	if (!fah_timer_too_early(p->t, now - p->t->event_ns))
		sample(p, 0);
}

static void tick_came(struct program *p)
{
	p->ticks.all_ns += TICK;
	p->ticks.system_ns += inside(p) ? TICK : 0;
	if (p->at.is_a_call)
		p->waiting = true;
	else
		signal_of_tick(p);
}

static void run(const struct mix *mix, struct sums *is, struct sums *shown)
{
	struct program p = {.mix = mix, .t = the_timer(mix->interval_ns), .is = is, .shown = shown};
	uint64_t event = 1, tick = TICK, look = 0, set = 0, end = 0;
	uint64_t turn = mix->turn_ns ? mix->turn_ns : UINT64_MAX;
	struct fah_clock_slot *slot = &head.clocks[0];
	uint32_t events = UINT32_MAX;
	struct fah_vary v;
	int i = 0;

	fah_vary_init(&v, fah_random());
	for (now = 0; now < LENGTH;) {
		uint64_t next = event < tick ? event : tick;

		end += p.handled;
		p.handled = 0;
		next = next < turn ? next : turn;
		next = next < end ? next : end;
		next = next < look ? next : look;
		next = next > now ? next : now; /* due in a handler */
		is->of[p.at.place] += (double)(next - now);
		now = next;
		if (now >= look) { /* as collect/clocks.c does; a change begins the interval anew */
			look = now + 20 * MS;
			if (slot->events == events ||
			    (slot->interval_ns && now - set < fah_vary_after(mix->interval_ns)))
				continue;
			slot->interval_ns = fah_vary_next(&v, mix->interval_ns);
			slot->stands_for_ns =
				fah_vary_stands_for(slot->interval_ns, mix->interval_ns);
			event = now + slot->interval_ns;
			set = now;
			events = slot->events;
		} else if (now >= turn) {
			turn = now + mix->turn_ns;
			look = now;
		} else if (now >= end) {
			if (p.waiting)
				signal_of_tick(&p);
			p.at = next_stretch(mix, i++);
			end = now + 1 + p.at.ns;
		} else if (now >= event) {
			event += slot->interval_ns;
			event_came(&p);
		} else {
			tick += TICK;
			tick_came(&p);
		}
	}
	assert_true(p.last > LENGTH - 1000 * MS && p.last <= LENGTH);
}

static void expect_true(const char *name, const struct mix *mix, double points)
{
	struct sums is = {{0}}, shown = {{0}};
	double all = 0, all_shown = 0;

	for (int i = 0; i < 8; i++) {
		random_state = 88172645463325252ull + (uint64_t)i * 7919;
		fah_agent = (struct fah_agent){.clock = FAH_CLOCK_BOTH, .tick_ns = TICK};
		run(mix, &is, &shown);
	}
	for (int i = 0; i < PLACES; i++) {
		all += is.of[i];
		all_shown += shown.of[i];
	}
	for (int i = 0; i < PLACES; i++) {
		double true_part = 100 * is.of[i] / all, seen = 100 * shown.of[i] / all_shown;

		if (fabs(seen - true_part) > points)
			fail_msg("%s, place %d: shown %.2f %%, true %.2f %%", name, i, seen,
				 true_part);
	}
}

static void each_side_gets_its_own(void **state)
{
	static const struct mix mixes[] = {
		{MS, MS, 4 * MS, .turn_ns = 0},
		{MS / 100, MS / 100, 4 * MS, .turn_ns = 0},
		{10 * MS, MS, 4 * MS, .turn_ns = 0},
		{MS, 10 * MS, 4 * MS, .turn_ns = 0},
		{30 * MS, 30 * MS, 4 * MS, .turn_ns = 0},
		{MS, MS, 9 * MS, .turn_ns = 0},
		{MS / 100, MS / 50, 20 * MS, .turn_ns = 0},
		{100 * MS, MS, 9 * MS, .turn_ns = 0},
		/* of many threads that take turns: the collector looks in each sleep */
		{MS, MS / 5, 4 * MS, 5 * MS, .n_cycle = 0},
		{MS, MS / 5, 4 * MS, 3 * MS, .n_cycle = 0},
		{MS, MS, 4 * MS, MS, .n_cycle = 0},
	};
	char name[32];

	for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		snprintf(name, sizeof(name), "mix %zu", i);
		expect_true(name, &mixes[i], 1.0);
	}
}

static void places(const char *name, const struct stretch *cycle, int n, uint64_t interval_ns)
{
	struct mix mix = {0, 0, interval_ns, 0, cycle, n, false};

	expect_true(name, &mix, 0.8);
	mix.timer_alone = true;
	expect_true(name, &mix, 0.8);
}

/* As tests/targets/truth/faults.py: most is in the kernel, then a long call, work outside of it,
 * and a short stretch of system calls. At the rate that was asked for, and at a lower one. */
static void each_place_gets_its_own(void **state)
{
	static const struct stretch faults[] = {
		{0, 23 * MS, 0.95, false, 0},	 {0, 17 * MS / 10, 1, true, 0},
		{1, 8 * MS / 10, 0.9, false, 0}, {1, 5 * MS / 10, 0, false, 0},
		{1, 4 * MS / 10, 1, true, 0},	 {2, 29 * MS / 10, 0, false, 0},
		{3, 2 * MS, 0.8, false, 0},
	};
	static const struct stretch coarse[] = {
		{0, 10 * MS, 0, false, 0},
		{1, 10 * MS, 1, false, 0},
		{2, 2 * MS, 0.3, false, 0},
		{3, 3 * MS, 0.5, false, 0},
	};
	/* as depths.py on 3.8: what a handler takes there is the program's CPU too */
	static const struct stretch deep[] = {
		{0, 10 * MS, 0, false, MS / 4},
		{1, 10 * MS, 0, false, 0},
		{2, 2 * MS, 0.3, false, 0},
		{3, 3 * MS, 0.5, false, MS / 4},
	};
	static const struct stretch fine[] = {
		{0, 3 * MS, 0, false, 0},
		{1, MS, 1, false, 0},
		{2, MS / 2, 0.5, false, 0},
	};

	/* of two clocks also at 1,000 Hz */
	expect_true("faults", &(struct mix){0, 0, MS, 0, faults, 7, false}, 0.8);
	expect_true("fine", &(struct mix){0, 0, MS, 0, fine, 3, false}, 1.2);
	for (uint64_t interval = 4; interval <= 12; interval += 4) {
		places("faults", faults, 7, interval * MS);
		places("coarse", coarse, 4, interval * MS);
		places("deep", deep, 4, interval * MS);
		places("fine", fine, 3, interval * MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_side_gets_its_own),
		cmocka_unit_test(each_place_gets_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
