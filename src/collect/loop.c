/* loop.c - see loop.h. */
#include "collect/loop.h"

#include "collect/drainer.h"
#include "collect/living.h"
#include "collect/program.h"
#include "core/segment.h"
#include "core/time.h"

#include <sys/wait.h>
#include <time.h>

#define CYCLE_MS \
	1000 /* what a kill of both sides can lose; blocks of a second keep the capture small */
#define GRACE_NS 200000000 /* for a program that was interrupted to end by itself */

/* What is under way. */
struct state {
	struct fah_turns turns;
	struct fah_drainer drainer;
	uint64_t cycle_ns; /* when the last one began */
	bool in_cycle;
};

static void tell(const struct fah_loop *l)
{
	const struct fah_drain_stats *stats = fah_drain_stats(l->d);
	struct fah_run_progress now = {
		.elapsed_s = (double)(fah_clock_ns(CLOCK_MONOTONIC) - l->start_ns) / 1e9,
		.samples = stats->samples,
		.drops = stats->drops + stats->unresolved,
		.pid = l->pid,
	};
	struct fah_usage usage;

	if (!l->opt->progress)
		return;
	fah_living_usage(l->d, (uint32_t)l->pid, &usage);
	now.rss_bytes = usage.rss_bytes;
	l->opt->progress(l->opt->progress_ctx, &now);
}

static bool is_over(pid_t pid)
{
	siginfo_t ended = {0};

	return waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid;
}

static bool has_ended(const struct fah_loop *l, uint64_t within_ns, struct fah_loop_end *ret)
{
	const struct timespec pause = {0, 5000000};
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);

	while (!is_over(l->pid)) {
		if (fah_clock_ns(CLOCK_MONOTONIC) - start >= within_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	if (l->opt->progress)
		l->opt->progress(l->opt->progress_ctx,
				 &(struct fah_run_progress){.pid = l->pid, .ended = true});
	wait4(l->pid, &ret->wait_status, 0, &ret->usage);
	return true;
}

/* How long to sleep: until the next look at waiting threads, or the end of the recording. */
static uint64_t next_pause(const struct fah_loop *l, uint64_t left_ns)
{
	uint64_t ns = (uint64_t)((double)fah_waits_pause(l->waits) * l->budget->stretch);

	return ns < left_ns ? ns : left_ns;
}

/* Sleeps until then, or until a signal other than that of a thread which waits for its event to
 * end: that is done meanwhile. True: si is that signal. */
static bool next_signal(const struct fah_loop *l, struct state *s, uint64_t then_ns, siginfo_t *si)
{
	for (;;) {
		uint64_t now = fah_clock_ns(CLOCK_MONOTONIC);
		uint64_t left = now < then_ns ? then_ns - now : 0;
		const struct timespec pause = {(time_t)(left / 1000000000u),
					       (long)(left % 1000000000u)};

		if (sigtimedwait(l->signals, si, &pause) < 0)
			return false;
		if (si->si_signo != SIGURG)
			return true;
		if (!l->clocks)
			continue;
		fah_turn_begin(&s->turns);
		fah_clocks_tick(l->clocks, now);
		fah_turn_end(&s->turns);
	}
}

struct fah_budget_use fah_loop_use(const struct fah_drain *d)
{
	struct fah_drain_cost cost = d ? fah_drain_cost(d) : (struct fah_drain_cost){0};

	return (struct fah_budget_use){
		.wall = fah_clock_ns(CLOCK_MONOTONIC),
		.own = fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.handler = cost.handler_ns,
		.told = cost.told_ns,
		.program = d ? fah_drain_stats(d)->cpu_ns : 0,
	};
}

/* What every block of memory takes, no rate of samples makes less: not of the budget's. */
static void after_cycle(const struct fah_loop *l, struct state *s)
{
	struct fah_budget_use use = fah_loop_use(l->d);

	s->in_cycle = false;
	if (l->opt->heap && fah_heap_is_every(l->opt->heap_interval))
		use.own -= fah_drainer_cycles_ns(&s->drainer);
	if (fah_budget_look(l->budget, &use))
		fah_drain_allow(l->d, fah_budget_ppm(l->budget));
	tell(l);
}

/* The drainer has nothing to do: what is there for it? */
static void feed(const struct fah_loop *l, struct state *s)
{
	uint64_t now = fah_clock_ns(CLOCK_MONOTONIC);
	bool due;

	if (s->in_cycle)
		after_cycle(l, s);
	due = fah_drain_notice(l->d);
	if (now - s->cycle_ns >= CYCLE_MS * 1000000ull) {
		fah_waits_flush(l->waits);
		s->cycle_ns = now;
		s->in_cycle = true;
		fah_drainer_cycle(&s->drainer);
	} else if (due) {
		fah_drainer_look(&s->drainer);
	}
}

static void tick(const struct fah_loop *l, struct state *s)
{
	fah_turn_begin(&s->turns);
	fah_waits_tick(l->waits);
	if (l->clocks)
		fah_clocks_tick(l->clocks, fah_clock_ns(CLOCK_MONOTONIC));
	if (l->memory)
		fah_memory_series_tick(l->memory, fah_clock_ns(CLOCK_MONOTONIC));
	fah_turn_end(&s->turns);
}

static enum fah_ending run(const struct fah_loop *l, struct state *s, struct fah_loop_end *ret)
{
	const struct fah_run_options *opt = l->opt;
	uint64_t now = fah_clock_ns(CLOCK_MONOTONIC);
	uint64_t end =
		opt->duration > 0 ? l->start_ns + (uint64_t)(opt->duration * 1e9) : UINT64_MAX;
	siginfo_t si;

	s->cycle_ns = now;
	for (; now < end; now = fah_clock_ns(CLOCK_MONOTONIC)) {
		if (next_signal(l, s, now + next_pause(l, end - now), &si))
			fah_program_forward(l->pid, &si);
		if (has_ended(l, 0, ret))
			return FAH_ENDED_PROGRAM;
		if (opt->stop && *opt->stop)
			return has_ended(l, GRACE_NS, ret) ? FAH_ENDED_PROGRAM : FAH_ENDED_STOPPED;
		if (fah_drainer_is_idle(&s->drainer))
			feed(l, s);
		tick(l, s);
	}
	return FAH_ENDED_DURATION;
}

struct fah_loop_end fah_loop_run(const struct fah_loop *l)
{
	struct state s = {.turns = FAH_TURNS_INIT};
	struct fah_loop_end end = {0};

	fah_drainer_init(&s.drainer, l->d, &s.turns);
	end.ending = run(l, &s, &end);
	end.time_ns = fah_clock_ns(CLOCK_MONOTONIC);
	fah_drainer_end(&s.drainer);
	return end;
}
