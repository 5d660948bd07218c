/*
 * account.c - what CPU of its thread a sample stands for. Runs in the signal handler.
 *
 * Two clocks. Events come each interval of CPU where that ends outside of the kernel, ticks where
 * they find the thread inside. So each event stands for its interval, each such tick for a tick:
 * every place gets what it used, on average, wherever the events were due that never came. The sum
 * of these is the thread's CPU on average only. The account is kept a little behind, so that what
 * chance brings too much of is there to be given, and samples stand for a little more the farther
 * behind it is, those of both clocks alike. (Giving a tick all that events had left since the last
 * such tick made the sum exact, but a short stretch in the kernel after one outside of it found
 * little left: of 6.2 % it had 2.3. So had whoever was there after the interval had been changed.)
 *
 * The timer alone. Its signal comes with a tick, but after the system call that the tick found.
 * What was used until then is not that call's alone: a tick's sample stands for the ticks since the
 * last.
 */
#include "agent/agent.h"

#define BEHIND_MAX 64  /* intervals; more than chance makes of work in the kernel */
#define EVENED_OVER 16 /* such samples over which what the account is off is given back */
#define KEPT_MAX 3.0   /* such samples that it is kept behind by */
#define KEPT 32.0      /* of them, by the parts inside the kernel and outside */
#define MEAN_OF 64     /* ticks that the kernel's part is the mean of */
#define SOME 0.01      /* of the ticks are in the kernel: each is to be heard of */
#define NONE 0.0025

static uint64_t given_interval(const struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);

	return slot ? atomic_load(&slot->interval_ns) : 0;
}

/* Events come more often than samples are to be taken, and than they vary by: the collector does
 * not know yet. */
static bool puts_off(const struct fah_timer *t, uint64_t given)
{
	return given && (double)given * (1 + 1.25 * FAH_CLOCK_VARIES) < (double)t->due_ns;
}

bool fah_timer_too_early(const struct fah_timer *t, uint64_t since_ns)
{
	return t && t->outer && t->due_ns > fah_agent.period_ns && puts_off(t, given_interval(t)) &&
	       since_ns < t->due_ns - t->due_ns / 8;
}

bool fah_timer_in_kernel(struct fah_timer *t, const struct fah_ticks *ticks, uint64_t *ret_ns)
{
	uint64_t interval = fah_cost_interval();

	if (!ticks->all_ns)
		return false;
	t->n_ticks += t->n_ticks < MEAN_OF;
	t->kernel_part += ((double)ticks->system_ns / (double)ticks->all_ns - t->kernel_part) /
			  (double)t->n_ticks;
	if (t->kernel_part > SOME || (t->n_ticks == MEAN_OF && t->kernel_part < NONE))
		fah_timer_at_ticks(t, t->kernel_part > SOME);
	interval = interval > t->due_ns ? interval : t->due_ns;
	interval = interval > ticks->all_ns ? interval : ticks->all_ns;
	*ret_ns = (uint64_t)((double)interval * (double)fah_timer_of_ticks(t, ticks->all_ns) /
			     (double)ticks->all_ns);
	/* as many as samples are to be taken; of ticks that came as one, as many as were inside */
	return fah_random() % interval < ticks->system_ns;
}

/*
 * One clock: up to the instant at which the signal was due, not when it came. A call of the
 * kernel's that lasts keeps a signal until it returns, and what follows would never get its share.
 */
static uint64_t account_due(struct fah_timer *t, uint64_t cpu_ns, uint64_t interval)
{
	uint64_t upto = cpu_ns;

	/* earlier than was thought: the rhythm is another one, and begins here */
	if (t->expires_ns && cpu_ns > t->expires_ns)
		upto -= (cpu_ns - t->expires_ns) % interval;
	t->expires_ns = upto + interval;
	return upto;
}

/*
 * What an event stands for. The handler of the one before is at the start of its interval, and that
 * one's sample has got it already: left in, a function would get some of what the handlers take of
 * a deeper one that runs before it.
 */
static uint64_t of_event(const struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);
	uint64_t ns = slot ? atomic_load(&slot->stands_for_ns) : 0;

	if (puts_off(t, given_interval(t)))
		ns = t->due_ns;
	ns = ns ? ns : fah_cost_interval();
	return ns > t->event_own_ns ? ns - t->event_own_ns : ns;
}

uint64_t fah_timer_of_ticks(struct fah_timer *t, uint64_t ticks_ns)
{
	uint64_t own = t ? t->tick_own_ns : 0; /* likewise */

	if (t)
		t->tick_own_ns = 0;
	return ticks_ns > own ? ticks_ns - own : ticks_ns;
}

/* What the samples of the slower clock stand for, about. */
static double usual_ns(void)
{
	uint64_t ns = fah_cost_interval();

	return (double)(ns > fah_agent.tick_ns ? ns : fah_agent.tick_ns);
}

/* kept_ns: how far the account is to be behind. */
static uint64_t account(uint64_t from_ns, uint64_t cpu_ns, uint64_t stands_for, double kept_ns)
{
	double behind = cpu_ns > from_ns ? (double)(cpu_ns - from_ns) : 0, own = (double)stands_for;
	double w = own * (1 + (behind - own - kept_ns) / (EVENED_OVER * usual_ns()));

	w = w < own / 4 ? own / 4 : w;
	return from_ns + (uint64_t)(w < behind ? w : behind);
}

/* Twice the deviation of what chance makes of such a mix, about; none where all is one. */
static double kept_of(const struct fah_timer *t)
{
	double kept = KEPT * t->kernel_part * (1 - t->kernel_part);

	return (kept < KEPT_MAX ? kept : KEPT_MAX) * usual_ns();
}

void fah_timer_beside(struct fah_timer *t, uint64_t cpu_ns)
{
	if (!t->event_ns || cpu_ns <= t->event_ns + BEHIND_MAX * fah_cost_interval())
		return;
	fah_timer_alone(t);
}

uint64_t fah_timer_account(struct fah_timer *t, uint64_t from_ns, uint64_t cpu_ns,
			   uint64_t ticks_ns)
{
	uint64_t given, before;

	if (!t || (!t->outer && !ticks_ns))
		return cpu_ns;
	if (t->outer && !fah_timer_has_both(t)) {
		given = given_interval(t);
		return given ? account_due(t, cpu_ns, given) : cpu_ns;
	}
	before = t->event_ns;
	if (!ticks_ns)
		t->event_ns = cpu_ns;
	if (t->outer && !before)
		return cpu_ns;
	return account(from_ns, cpu_ns, ticks_ns ? ticks_ns : of_event(t),
		       t->outer ? kept_of(t) : 0);
}

void fah_timer_handled(struct fah_timer *t, bool by_tick, uint64_t ns)
{
	if (t)
		*(by_tick ? &t->tick_own_ns : &t->event_own_ns) = ns;
}
