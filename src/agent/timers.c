/*
 * timers.c - one CPU timer for each thread, in a table that every thread can reach.
 *
 * A thread's timer is off while the thread blocks our signal: one that came meanwhile would stay
 * pending, where sigwait(), a signalfd, sigpending() and an exec'ed program would find a signal
 * that nobody sent. The CPU of that time goes to the thread's next record.
 *
 * Where the collector has an event on the thread (perf's clock), the timer serves until the
 * event's first signal. It cannot be put off from here, so a thread that is about to block our
 * signal gives its event back, waits until it is gone, and keeps the timer for a while. From a
 * thread that gives its core away all the time the collector takes it, for each switch stops and
 * starts the event's timer: the thread's own timer then serves alone, from its next signal on.
 *
 * With FAH_CLOCK_BOTH the timer goes on beside the event. The event's signal comes at any time, not
 * at ticks only, so that work in step with the tick is seen; but it would end a system call that is
 * about to block (EINTR), so it comes outside of the kernel only. The timer's comes when a system
 * call is over: its samples are those of ticks that found the thread in the kernel. What CPU each
 * stands for: account.c.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MAX_TIMERS 16384
#define QUIET_STEP_NS 50000
#define QUIET_STEPS 2000 /* together a tenth of a second */
#define LEAVE_STEP_NS 50000
#define LEAVE_STEPS 20000 /* together a second: a collector so late is gone or stopped */
#define SHY 16		  /* signals of the timer before the event is asked for again, ... */
#define SHY_DOUBLED 10	  /* ... twice as many each time, so often */

/* What the kernel's timer_create takes; libc's struct hides the thread field in older headers. */
struct kernel_sigevent {
	union sigval value;
	int signo, notify, tid;
	int pad[11];
};

static struct fah_timer timers[MAX_TIMERS];
static _Atomic uint32_t n_timers;  /* none was ever used from here on */
static _Atomic uint32_t n_running; /* timers that the kernel holds */
static _Atomic uint32_t max_running;
static _Atomic uint32_t in_flight; /* threads that write records */

bool fah_timer_cpu(uint32_t tid, uint64_t *ret_ns)
{
	struct timespec ts = {0, 0};

	if (FAH_SYS2(SYS_clock_gettime, fah_thread_clock(tid, FAH_CPU_TIME), &ts) < 0)
		return false;
	*ret_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return true;
}

struct fah_clock_slot *fah_timer_slot(const struct fah_timer *t)
{
	struct fah_segment_head *head = fah_segment_head();
	size_t i = (size_t)(t - timers);

	return fah_clock_has_events(fah_agent.clock) && head && i < FAH_CLOCK_SLOTS
		       ? &head->clocks[i]
		       : NULL;
}

/* Asks the collector for an event on this thread, which it gives within a tick of its own. */
static void ask(const struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);
	uint32_t i = (uint32_t)(t - timers), n;

	if (!slot || t->barred || atomic_load(&t->off))
		return;
	atomic_store(&slot->wanted, atomic_load(&t->tid));
	n = atomic_load(&fah_segment_head()->n_clocks);
	while (n <= i && !atomic_compare_exchange_weak(&fah_segment_head()->n_clocks, &n, i + 1))
		;
}

static void ask_no_more(const struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);

	if (slot)
		atomic_store(&slot->wanted, 0);
}

void fah_timers_ask(void)
{
	uint32_t n = atomic_load(&n_timers);

	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&timers[i].tid))
			ask(&timers[i]);
}

/*
 * Beside an event the timer tells which ticks found the thread in the kernel, each by itself: of
 * two that came as one it cannot be known which it was. A timer for each tick is due long before
 * it. As long as a tick, it would at times be due just after one; and it runs on only when its
 * signal was delivered, so after long system calls the next tick would not find it due.
 */
static uint64_t period_of(const struct fah_timer *t)
{
	uint64_t ns = fah_cost_interval(), tick = fah_agent.tick_ns, before = tick / 8;
	bool each = fah_agent.clock != FAH_CLOCK_TEST && ns < tick + tick / 4;

	if (t->at_ticks && fah_timer_has_both(t))
		each = true;
	return each && before && ns > before ? before : ns;
}

/* first_ns 0: off. What was left of the interval, 0 where it was off. */
static uint64_t set_timer(struct fah_timer *t, int id, uint64_t first_ns)
{
	uint64_t period = first_ns ? period_of(t) : 0;
	struct itimerspec old, spec = {
				       .it_interval = {(time_t)(period / 1000000000u),
						       (long)(period % 1000000000u)},
				       .it_value = {(time_t)(first_ns / 1000000000u),
						    (long)(first_ns % 1000000000u)},
			       };

	t->interval_ns = first_ns ? fah_cost_interval() : 0;
	memset(&old, 0, sizeof(old));
	FAH_SYS4(SYS_timer_settime, id, 0, &spec, &old);
	return (uint64_t)old.it_value.tv_sec * 1000000000u + (uint64_t)old.it_value.tv_nsec;
}

/*
 * The first interval is random, or threads that live shorter than one would be missed or hit in
 * step: each moment of a thread's CPU has the same chance of a sample, from its beginning on. The
 * kernel looks at ticks only, which find a thread at any place: what is drawn is which of its
 * ticks. (Drawn as a time, and then late by up to a tick, the beginnings of threads of 3 ms had 26
 * % where 50 are true, and of three such threads two had no sample that a tick had found.)
 */
static uint64_t first_interval(void)
{
	uint64_t tick = fah_agent.clock == FAH_CLOCK_TEST ? 0 : fah_agent.tick_ns;
	uint64_t at = fah_random() % fah_cost_interval();

	return 1 + (tick ? at - at % tick : at);
}

/*
 * Each timer takes one of the user's pending signals (RLIMIT_SIGPENDING) for good; a program that
 * is short of them must not find them used up by us.
 */
static bool may_have_one_more(void)
{
	uint32_t max = atomic_load(&max_running);
	uint64_t limit[2];

	if (!max) {
		max = MAX_TIMERS;
		if (FAH_SYS4(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, limit) == 0 &&
		    limit[0] / 2 < max)
			max = (uint32_t)(limit[0] / 2);
		atomic_store(&max_running, max ? max : 1);
	}
	return atomic_load(&n_running) < atomic_load(&max_running);
}

/* The kernel's timer for an entry of the table; on: it runs. Where there is none to be had, the
 * thread goes unsampled. */
static void make_timer(struct fah_timer *t, bool on)
{
	uint32_t tid = atomic_load(&t->tid);
	struct kernel_sigevent ev = {
		.signo = FAH_SIGNAL, .notify = 4 /* SIGEV_THREAD_ID */, .tid = (int)tid};
	clockid_t clock = fah_agent.clock == FAH_CLOCK_TEST ? CLOCK_MONOTONIC
							    : fah_thread_clock(tid, FAH_CPU_TIME);
	int id = 0;

	ev.value.sival_ptr = &fah_agent;
	if (!may_have_one_more() || FAH_SYS3(SYS_timer_create, clock, &ev, &id) < 0)
		return;
	atomic_fetch_add(&n_running, 1);
	atomic_store(&t->id, id + 1);
	t->due_ns = 0;
	if (on)
		set_timer(t, id, first_interval());
}

struct fah_timer *fah_timer_new(uint32_t tid, bool on, uint64_t start_mono_ns, uint64_t cpu_ns)
{
	for (uint32_t i = 0; i < MAX_TIMERS; i++) {
		struct fah_timer *t = &timers[i];
		uint32_t n = atomic_load(&n_timers), none = 0;

		if (!atomic_compare_exchange_strong(&t->tid, &none, tid))
			continue;
		while (n <= i && !atomic_compare_exchange_weak(&n_timers, &n, i + 1))
			;
		t->start_mono_ns = start_mono_ns;
		t->cpu_ns = cpu_ns;
		atomic_store(&t->end_cpu_ns, 0);
		atomic_store(&t->off, !on);
		t->outer = t->barred = false;
		t->left = 0;
		make_timer(t, on);
		ask(t);
		return t;
	}
	return NULL;
}

struct fah_timer *fah_timer_of(uint32_t tid)
{
	uint32_t n = atomic_load(&n_timers);

	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&timers[i].tid) == tid)
			return &timers[i];
	return NULL;
}

void fah_timer_rest(struct fah_timer *t, uint64_t ns)
{
	int id = t ? atomic_load(&t->id) : 0;

	if (!id || atomic_load(&t->off))
		return;
	t->due_ns = ns;
	if (t->outer && (t->at_ticks || !fah_timer_has_both(t)))
		t->interval_ns = fah_cost_interval();
	else
		set_timer(t, id - 1, ns);
}

void fah_timer_at_ticks(struct fah_timer *t, bool yes)
{
	int id = atomic_load(&t->id);

	if (t->at_ticks == yes)
		return;
	t->at_ticks = yes;
	if (id && !atomic_load(&t->off))
		set_timer(t, id - 1, period_of(t));
}

bool fah_timer_has_both(const struct fah_timer *t)
{
	return t && t->outer && atomic_load(&t->id) && fah_agent.clock == FAH_CLOCK_BOTH;
}

/* The collector looks at its slots within 20 ms; woken, at once. False: it is gone, and so are its
 * events. */
static bool wake_collector(void)
{
	struct fah_segment_head *head = fah_segment_head();
	uint32_t pid = head ? atomic_load(&head->collector) : 0;

	return !pid || FAH_SYS2(SYS_kill, pid, FAH_SIGNAL) != -ESRCH;
}

static bool has_event(const struct fah_timer *t, const struct fah_clock_slot *slot)
{
	return atomic_load(&slot->given) == atomic_load(&t->tid);
}

/* Meanwhile signals are handled: none is left when the event is gone. */
void fah_timer_leave_event(struct fah_timer *t)
{
	const struct timespec step = {0, LEAVE_STEP_NS};
	struct fah_clock_slot *slot = fah_timer_slot(t);
	int id = atomic_load(&t->id);

	if (!slot || t->barred)
		return;
	t->barred = true;
	t->shy_for = SHY << (t->left < SHY_DOUBLED ? t->left : SHY_DOUBLED);
	t->left++;
	ask_no_more(t);
	if (has_event(t, slot) && wake_collector())
		for (int i = 0; i < LEAVE_STEPS && has_event(t, slot); i++)
			FAH_SYS2(SYS_nanosleep, &step, NULL);
	t->outer = false;
	if (id && !atomic_load(&t->off))
		set_timer(t, id - 1, first_interval());
}

void fah_timer_alone(struct fah_timer *t)
{
	t->outer = false;
	fah_timer_at_ticks(t, false);
}

void fah_timer_came(struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);

	if (fah_timer_has_both(t) && slot && !has_event(t, slot))
		fah_timer_alone(t);
	if (!t->barred || --t->shy_for)
		return;
	t->barred = false;
	ask(t);
}

void fah_timers_leave_events(void)
{
	uint32_t n = atomic_load(&n_timers);

	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&timers[i].tid))
			ask_no_more(&timers[i]);
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load(&timers[i].tid))
			fah_timer_leave_event(&timers[i]);
}

bool fah_timer_taken_over(struct fah_timer *t)
{
	struct fah_clock_slot *slot = fah_timer_slot(t);
	int id = atomic_load(&t->id);

	if (slot && !has_event(t, slot))
		return false;
	if (slot) /* its interval may be changed now: see collect/clocks.c */
		atomic_store_explicit(&slot->events, atomic_load(&slot->events) + 1,
				      memory_order_relaxed);
	if (t->outer || t->barred)
		return true;
	t->outer = true;
	t->due_ns = t->expires_ns = t->event_ns = t->event_own_ns = t->tick_own_ns = 0;
	t->kernel_part = 0;
	t->n_ticks = 0;
	t->at_ticks = true;
	if (id)
		set_timer(t, id - 1, fah_timer_has_both(t) ? period_of(t) : 0);
	t->interval_ns = fah_cost_interval();
	return true;
}

void fah_timer_off(struct fah_timer *t)
{
	int id = atomic_load(&t->id);

	if (atomic_load(&t->off))
		return;
	/* what the timer sent before is handled before this call returns, for it is not blocked */
	t->left_ns = id && !t->outer ? set_timer(t, id - 1, 0) : 0;
	atomic_store(&t->off, true);
}

void fah_timer_on(struct fah_timer *t)
{
	int id = atomic_load(&t->id);

	atomic_store(&t->off, false);
	if (id && !t->outer)
		set_timer(t, id - 1, t->left_ns ? t->left_ns : first_interval());
}

static void stop(struct fah_timer *t)
{
	int id = atomic_exchange(&t->id, 0);

	if (!id)
		return;
	FAH_SYS1(SYS_timer_delete, id - 1);
	atomic_fetch_sub(&n_running, 1);
}

void fah_timer_delete(struct fah_timer *t)
{
	stop(t);
	ask_no_more(t);
	atomic_store(&t->tid, 0);
}

void fah_timer_forked(void)
{
	uint32_t n = atomic_exchange(&n_timers, 0);

	for (uint32_t i = 0; i < n; i++) { /* a fork's child has none of its parent's */
		atomic_store(&timers[i].id, 0);
		atomic_store(&timers[i].tid, 0);
	}
	atomic_store(&n_running, 0);
	atomic_store(&in_flight, 0);
}

bool fah_writing_begin(void)
{
	atomic_fetch_add(&in_flight, 1); /* first: fah_quiet sees us, or we see that it is over */
	if (atomic_load(&fah_agent.active))
		return true;
	atomic_fetch_sub(&in_flight, 1);
	return false;
}

void fah_writing_end(void)
{
	atomic_fetch_sub(&in_flight, 1);
}

bool fah_quiet(void)
{
	const struct timespec step = {0, QUIET_STEP_NS};
	uint32_t n;

	atomic_store(&fah_agent.active, false);
	for (int i = 0; i < QUIET_STEPS && atomic_load(&in_flight); i++)
		FAH_SYS2(SYS_nanosleep, &step, NULL);
	n = atomic_load(&n_timers);
	for (uint32_t i = 0; i < n; i++)
		stop(&timers[i]);
	return !atomic_load(&in_flight);
}

void fah_loud(void)
{
	uint32_t n = atomic_load(&n_timers);

	atomic_store(&fah_agent.active, true);
	for (uint32_t i = 0; i < n; i++) {
		if (!atomic_load(&timers[i].tid))
			continue;
		timers[i].outer = timers[i].barred = false;
		make_timer(&timers[i], !atomic_load(&timers[i].off));
	}
	fah_timers_ask();
}

struct fah_timer *fah_timer_at(uint32_t i)
{
	return i < atomic_load(&n_timers) ? &timers[i] : NULL;
}
