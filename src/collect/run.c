/* run.c - see run.h. The collector's main loop; it may be slow, the target may not. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/about.h"
#include "collect/budget.h"
#include "collect/clocks.h"
#include "collect/living.h"
#include "collect/logs.h"
#include "collect/memory_series.h"
#include "collect/outlived.h"
#include "collect/program.h"
#include "collect/session.h"
#include "collect/waits.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CYCLE_MS \
	1000 /* what a kill of both sides can lose; blocks of a second keep the capture small */
#define GRACE_NS 200000000    /* for a program that was interrupted to end by itself */
#define SETTLE_NS 5000000     /* for handlers that are at work when recording ends */
#define KILL_NS 5000000000ull /* between SIGTERM and SIGKILL */

/* More often than the kernel's tick. */
static bool is_fast(const struct fah_run_options *opt)
{
	return fah_run_hz(opt) * (double)fah_tick_ns() > 1e9;
}

/*
 * The clock to use. perf: what the kernel said of its own. Inside the kernel that one may end a
 * call that is about to block, so it is used there only for what timers cannot do, rates above the
 * tick's, or where it was asked for.
 */
static uint32_t choose_clock(const struct fah_run_options *opt, struct fah_clocks_leave *perf)
{
	bool fast = is_fast(opt);

	memset(perf, 0, sizeof(*perf));
	if (opt->test_hz > 0)
		return FAH_CLOCK_TEST;
	if (opt->clock == FAH_CLOCK_THREAD_CPU)
		return opt->clock;
	fah_clocks_probe(!fast && opt->clock != FAH_CLOCK_PERF, perf);
	if (!fast && opt->clock != FAH_CLOCK_PERF)
		perf->why[0] = 0; /* nothing was asked for that there is not */
	if (!perf->granted)
		return FAH_CLOCK_THREAD_CPU;
	return perf->user_only ? FAH_CLOCK_BOTH : FAH_CLOCK_PERF;
}

/*
 * A signal to the whole group (the terminal's ^C, a shell's kill %1, killpg) reaches the program by
 * itself, and cannot be told from one that was sent to us alone. A second SIGINT would cut the
 * program's own clean-up short, so it is never handed on; SIGTERM and SIGHUP are, to a program that
 * did not end by itself meanwhile.
 */
static void forward(pid_t pid, const siginfo_t *si)
{
	const struct timespec meanwhile = {0, 100000000};
	siginfo_t ended = {0};

	if ((si->si_signo != SIGTERM && si->si_signo != SIGHUP) || si->si_code > 0 ||
	    si->si_pid == pid)
		return;
	nanosleep(&meanwhile, NULL);
	if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0)
		kill(pid, si->si_signo);
}

static void tell(const struct fah_run_options *opt, struct fah_drain *d, pid_t pid,
		 uint64_t elapsed_ns)
{
	const struct fah_drain_stats *stats = fah_drain_stats(d);
	struct fah_run_progress now = {
		.elapsed_s = (double)elapsed_ns / 1e9,
		.samples = stats->samples,
		.drops = stats->drops + stats->unresolved,
		.pid = pid,
	};
	struct fah_usage usage;

	if (!opt->progress)
		return;
	fah_living_usage(d, (uint32_t)pid, &usage);
	now.rss_bytes = usage.rss_bytes;
	opt->progress(opt->progress_ctx, &now);
}

static bool has_ended(pid_t pid, uint64_t within_ns, int *ret_status, struct rusage *ret_usage)
{
	const struct timespec pause = {0, 5000000};
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);

	while (wait4(pid, ret_status, WNOHANG, ret_usage) != pid) {
		if (fah_clock_ns(CLOCK_MONOTONIC) - start >= within_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* How long to sleep: until the next look at waiting threads, or the end of the recording. */
static uint64_t next_pause(struct fah_waits *waits, const struct fah_budget *budget,
			   uint64_t left_ns)
{
	uint64_t ns = (uint64_t)((double)fah_waits_pause(waits) * budget->stretch);

	return ns < left_ns ? ns : left_ns;
}

/* Sleeps until then, or until a signal other than that of a thread which waits for its event to
 * end: that is done meanwhile. True: si is that signal. */
static bool next_signal(const sigset_t *signals, uint64_t then_ns, struct fah_clocks *clocks,
			siginfo_t *si)
{
	for (;;) {
		uint64_t now = fah_clock_ns(CLOCK_MONOTONIC);
		uint64_t left = now < then_ns ? then_ns - now : 0;
		const struct timespec pause = {(time_t)(left / 1000000000u),
					       (long)(left % 1000000000u)};

		if (sigtimedwait(signals, si, &pause) < 0)
			return false;
		if (si->si_signo != SIGURG)
			return true;
		if (clocks)
			fah_clocks_tick(clocks, now);
	}
}

/* d NULL: before anything was recorded. */
static struct fah_budget_use use_so_far(const struct fah_drain *d)
{
	return (struct fah_budget_use){
		.wall = fah_clock_ns(CLOCK_MONOTONIC),
		.own = fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.handler = d ? fah_drain_handler_ns(d) : 0,
		.program = d ? fah_drain_stats(d)->cpu_ns : 0,
	};
}

/* The CPU of ours that the budget is not to count: what every block of memory takes, no rate of
 * samples makes less. */
static uint64_t drain(const struct fah_run_options *opt, struct fah_drain *d)
{
	uint64_t before = fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	fah_drain_cycle(d);
	return opt->heap && fah_heap_is_every(opt->heap_interval)
		       ? fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before
		       : 0;
}

static enum fah_ending wait_and_drain(pid_t pid, const struct fah_run_options *opt, uint64_t start,
				      struct fah_drain *d, struct fah_waits *waits,
				      struct fah_clocks *clocks, struct fah_memory_series *memory,
				      struct fah_budget *budget, const sigset_t *signals,
				      int *ret_status, struct rusage *ret_usage)
{
	uint64_t now = fah_clock_ns(CLOCK_MONOTONIC), last = now;
	uint64_t end = opt->duration > 0 ? start + (uint64_t)(opt->duration * 1e9) : UINT64_MAX;
	struct fah_budget_use use;
	uint64_t apart = 0;
	siginfo_t si;

	for (; now < end; now = fah_clock_ns(CLOCK_MONOTONIC)) {
		uint64_t next = now + next_pause(waits, budget, end - now);

		if (next_signal(signals, next, clocks, &si))
			forward(pid, &si);
		if (wait4(pid, ret_status, WNOHANG, ret_usage) == pid)
			return FAH_ENDED_PROGRAM;
		if (opt->stop && *opt->stop)
			return has_ended(pid, GRACE_NS, ret_status, ret_usage) ? FAH_ENDED_PROGRAM
									       : FAH_ENDED_STOPPED;
		fah_drain_notice(d);
		fah_waits_tick(waits);
		if (clocks)
			fah_clocks_tick(clocks, fah_clock_ns(CLOCK_MONOTONIC));
		if (memory)
			fah_memory_series_tick(memory, fah_clock_ns(CLOCK_MONOTONIC));
		if (fah_clock_ns(CLOCK_MONOTONIC) - last >= CYCLE_MS * 1000000ull) {
			fah_waits_flush(waits);
			apart += drain(opt, d);
			last = fah_clock_ns(CLOCK_MONOTONIC);
			use = use_so_far(d);
			use.own -= apart;
			if (fah_budget_look(budget, &use))
				fah_drain_allow(d, fah_budget_ppm(budget));
			tell(opt, d, pid, last - start);
		}
	}
	return FAH_ENDED_DURATION;
}

FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)
FAH_DEFINE_FREEP(struct fah_drain *, fah_drain_free)
FAH_DEFINE_FREEP(struct fah_waits *, fah_waits_free)
FAH_DEFINE_FREEP(struct fah_clocks *, fah_clocks_free)
FAH_DEFINE_FREEP(struct fah_logs *, fah_logs_free)
FAH_DEFINE_FREEP(struct fah_memory_series *, fah_memory_series_free)

/* Of a program that has ended the kernel says what it took; of one that goes on, /proc does. */
static void take_usage(struct fah_run_result *r, struct fah_drain *d, const struct rusage *usage)
{
	struct fah_usage living;

	if (r->ending == FAH_ENDED_PROGRAM) {
		r->end.user_ns = fah_timeval_ns(usage->ru_utime);
		r->end.system_ns = fah_timeval_ns(usage->ru_stime);
		r->end.max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
		r->end.wait_status = (uint32_t)r->wait_status;
		return;
	}
	fah_living_usage(d, (uint32_t)r->pid, &living);
	r->end.user_ns = living.user_ns;
	r->end.system_ns = living.system_ns;
	r->end.max_rss_bytes = living.max_rss_bytes;
}

/* The recording is over: what there is goes into the capture, and that gets its name. */
static void finish(struct fah_session *s, const struct fah_run_options *opt,
		   struct fah_run_result *r, struct fah_drain *d, struct fah_waits *waits,
		   struct fah_logs *logs, struct fah_writer *w)
{
	const struct timespec settle = {0, SETTLE_NS};
	unsigned outlived = 0;

	if (r->ending != FAH_ENDED_PROGRAM) {
		fah_drain_close(d);
		nanosleep(&settle, NULL);
		fah_writer_meta(w, "stopped_by",
				r->ending == FAH_ENDED_DURATION ? "duration" : "interrupt");
	}
	if (r->ending == FAH_ENDED_PROGRAM)
		outlived = fah_outlived(s->dir);
	fah_session_end(s);
	fah_drain_moved(d, s->dir);
	fah_drain_finish(d);
	fah_waits_finish(waits);
	fah_about_waits(w, fah_waits_stats(waits));
	r->stats = *fah_drain_stats(d);
	fah_about_missing(w, "outlived", outlived);
	fah_about_missing(w, "unrecorded", r->stats.unrecorded);
	fah_about_costs(w, fah_drain_stats(d), opt->view_cpu_ns ? *opt->view_cpu_ns : 0);
	if (logs)
		fah_logs_finish(logs, w);
	r->capture_err = fah_writer_finish(w, &r->end, &r->loss);
	r->capture_errno = errno;
}

/* Nothing ran: nothing stays. */
static void discard(const char *capture)
{
	char partial[FAH_CAPTURE_PATH_MAX + 16];
	int saved = errno;

	snprintf(partial, sizeof(partial), "%s.partial", capture);
	unlink(partial);
	errno = saved;
}

/* With the process at hand that is to become the program. */
static int record(struct fah_session *s, const struct fah_run_options *opt,
		  const struct fah_clocks_leave *perf, uint64_t start, struct fah_budget *budget,
		  struct fah_held *program, const sigset_t *signals, struct fah_run_result *r)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_logs_freep) struct fah_logs *logs = NULL;
	_cleanup_(fah_drain_freep) struct fah_drain *d = NULL;
	_cleanup_(fah_waits_freep) struct fah_waits *waits = NULL;
	_cleanup_(fah_clocks_freep) struct fah_clocks *clocks = NULL;
	_cleanup_(fah_memory_series_freep) struct fah_memory_series *memory = NULL;
	uint64_t start_real = fah_clock_ns(CLOCK_REALTIME);
	struct fah_memory_looks looks;
	struct rusage usage;
	int err = fah_writer_new(r->capture, &w);

	if (err < 0)
		return err;
	fah_about_run(w, s, opt, perf, start, start_real);
	err = fah_drain_new(s->dir, w, start, &d);
	if (err == 0)
		err = fah_drain_watch(d);
	if (err == 0 && opt->log_level && opt->log_path) {
		err = fah_logs_new(opt->log_path, start, start_real, (uint32_t)r->pid, &logs);
		fah_drain_log_to(d, logs);
		fah_about_missing(w, "log_level", opt->log_level);
	}
	if (err == 0)
		err = fah_waits_new(d, w, start, &waits);
	if (err == 0 && perf->granted)
		err = fah_clocks_new(d, perf->user_only, is_fast(opt) || opt->budget > 0, &clocks);
	if (err == 0 && opt->heap)
		err = fah_memory_series_new(d, w, start, (uint32_t)r->pid, &memory);
	if (err == 0)
		r->start_errno = fah_program_release(program);
	if (err < 0 || r->start_errno) {
		discard(r->capture);
		return err;
	}
	r->ending = wait_and_drain(r->pid, opt, start, d, waits, clocks, memory, budget, signals,
				   &r->wait_status, &usage);
	r->end.wall_ns = fah_clock_ns(CLOCK_MONOTONIC) - start;
	if (memory) {
		fah_memory_series_finish(memory, start + r->end.wall_ns);
		looks = fah_memory_series_looks(memory);
		fah_about_looks(w, &looks);
	}
	take_usage(r, d, &usage);
	if (clocks)
		fah_about_clocks(w, fah_clocks_stats(clocks));
	finish(s, opt, r, d, waits, logs, w);
	return 0;
}

static int name_capture(const struct fah_run_options *opt, pid_t pid, struct fah_run_result *r)
{
	int n = opt->add_pid ? snprintf(r->capture, sizeof(r->capture), "%s-%d.fah",
					opt->capture_path, (int)pid)
			     : snprintf(r->capture, sizeof(r->capture), "%s", opt->capture_path);

	errno = ENAMETOOLONG;
	return n < (int)sizeof(r->capture) ? 0 : FAH_ERR_SYS;
}

static void set_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGQUIT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGURG);
}

/* The part between the session's making and its removal. */
/* The program is our child; what it starts is not. */
static void tell_exact(const struct fah_session *s, const struct fah_run_options *opt)
{
	char text[64];

	snprintf(text, sizeof(text), "parent %d\n%s%s", (int)getpid(),
		 opt->exact & FAH_EXACT_CHILDREN ? "children\n" : "",
		 opt->exact & FAH_EXACT_RAW ? "raw\n" : "");
	fah_session_tell(s, FAH_SESSION_EXACT, text);
}

static void tell_heap(const struct fah_session *s, const struct fah_run_options *opt)
{
	char text[64];

	snprintf(text, sizeof(text), "interval %llu\n", (unsigned long long)opt->heap_interval);
	fah_session_tell(s, FAH_SESSION_HEAP, text);
}

static int run_in(struct fah_session *s, const struct fah_run_options *asked,
		  struct fah_run_result *r)
{
	struct fah_run_options with_clock = *asked, *opt = &with_clock;
	struct fah_clocks_leave perf;
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);
	struct fah_budget_use use = use_so_far(NULL);
	struct fah_budget budget;
	struct fah_inherited old;
	struct fah_held program;
	sigset_t signals, interrupt;
	int err, saved;

	if (fah_run_has_default_budget(opt))
		fah_budget_init_default(&budget, &use);
	else
		fah_budget_init(&budget, opt->budget, &use);
	with_clock.clock = choose_clock(asked, &perf);
	set_signals(&signals);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &old.child);
	sigprocmask(SIG_BLOCK, &signals, &old.mask);
	if (opt->lines)
		fah_session_tell(s, FAH_SESSION_LINES, opt->lines);
	if (opt->count)
		fah_session_tell(s, FAH_SESSION_COUNT, opt->count);
	if (opt->exact)
		tell_exact(s, opt);
	if (opt->heap)
		tell_heap(s, opt);
	err = fah_program_hold(s, opt, &budget, &old, &program);
	if (err == 0) {
		if (opt->stop) { /* the caller's handler takes it, now that the child is there */
			sigemptyset(&interrupt);
			sigaddset(&interrupt, SIGINT);
			sigdelset(&signals, SIGINT);
			sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
		}
		r->pid = program.pid;
		err = name_capture(opt, program.pid, r);
		if (err == 0)
			err = record(s, opt, &perf, start, &budget, &program, &signals, r);
		saved = errno;
		fah_program_forget(&program);
		errno = saved;
	}
	saved = errno;
	sigaction(SIGCHLD, &old.child, NULL);
	sigprocmask(SIG_SETMASK, &old.mask, NULL);
	errno = saved;
	return err;
}

int fah_run(const struct fah_run_options *opt, struct fah_run_result *result)
{
	struct fah_session session;
	int err, saved;

	memset(result, 0, sizeof(*result));
	err = fah_session_init(&session, opt->heap);
	if (err < 0)
		return err;
	err = run_in(&session, opt, result);
	saved = errno;
	fah_session_remove(&session);
	errno = saved;
	return err;
}

void fah_run_wait(struct fah_run_result *result, bool end_it)
{
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);
	const struct timespec pause = {0, 100000000};
	struct sigaction old_child;
	sigset_t signals, old;
	bool killed = !end_it;
	siginfo_t si;

	if (result->ending == FAH_ENDED_PROGRAM)
		return;
	set_signals(&signals);
	sigdelset(&signals, SIGINT);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &old_child);
	sigprocmask(SIG_BLOCK, &signals, &old);
	if (end_it)
		kill(result->pid, SIGTERM);
	while (wait4(result->pid, &result->wait_status, WNOHANG, NULL) == 0) {
		if (!killed && fah_clock_ns(CLOCK_MONOTONIC) - start >= KILL_NS) {
			kill(result->pid, SIGKILL);
			killed = true;
		}
		if (sigtimedwait(&signals, &si, &pause) > 0)
			forward(result->pid, &si);
	}
	result->ending = FAH_ENDED_PROGRAM;
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}
