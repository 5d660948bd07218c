/* run.c - see run.h. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/about.h"
#include "collect/living.h"
#include "collect/logs.h"
#include "collect/loop.h"
#include "collect/outlived.h"
#include "collect/program.h"
#include "collect/session.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	fah_about_silence(w, &r->stats);
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
	struct fah_loop_end end;
	struct fah_loop loop;
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
	loop = (struct fah_loop){.pid = r->pid,
				 .start_ns = start,
				 .opt = opt,
				 .signals = signals,
				 .budget = budget,
				 .d = d,
				 .waits = waits,
				 .clocks = clocks,
				 .memory = memory};
	end = fah_loop_run(&loop);
	r->ending = end.ending;
	r->wait_status = end.wait_status;
	r->end.wall_ns = end.time_ns - start;
	if (memory) {
		fah_memory_series_finish(memory, end.time_ns);
		looks = fah_memory_series_looks(memory);
		fah_about_looks(w, &looks);
	}
	take_usage(r, d, &end.usage);
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

/* The part between the session's making and its removal. */
static int run_in(struct fah_session *s, const struct fah_run_options *asked,
		  struct fah_run_result *r)
{
	struct fah_run_options with_clock = *asked, *opt = &with_clock;
	struct fah_clocks_leave perf;
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);
	struct fah_budget_use use = fah_loop_use(NULL);
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
	fah_program_signals(&signals);
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
	fah_program_signals(&signals);
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
			fah_program_forward(result->pid, &si);
	}
	result->ending = FAH_ENDED_PROGRAM;
	sigaction(SIGCHLD, &old_child, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
}
