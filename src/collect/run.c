/* run.c - see run.h. The collector's main loop; it may be slow, the target may not. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/budget.h"
#include "collect/clocks.h"
#include "collect/living.h"
#include "collect/outlived.h"
#include "collect/session.h"
#include "collect/waits.h"
#include "core/err.h"
#include "core/segment.h"
#include "core/time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CYCLE_MS \
	1000 /* what a kill of both sides can lose; blocks of a second keep the capture small */
#define GRACE_NS 200000000    /* for a program that was interrupted to end by itself */
#define SETTLE_NS 5000000     /* for handlers that are at work when recording ends */
#define KILL_NS 5000000000ull /* between SIGTERM and SIGKILL */

extern char **environ;

static double asked_hz(const struct fah_run_options *opt)
{
	if (opt->test_hz > 0)
		return opt->test_hz;
	return opt->rate > 0 ? opt->rate : FAH_RATE_DEFAULT;
}

/*
 * The clock to use. perf: what the kernel said, where that one was wanted. By itself it is used
 * only for what timers cannot do: its signal may come when a thread is about to block.
 */
static uint32_t choose_clock(const struct fah_run_options *opt, struct fah_clocks_leave *perf)
{
	double tick = fah_clocks_tick_hz();

	memset(perf, 0, sizeof(*perf));
	if (opt->test_hz > 0)
		return FAH_CLOCK_TEST;
	if (opt->clock == FAH_CLOCK_PERF || (!opt->clock && tick > 0 && asked_hz(opt) > tick))
		fah_clocks_probe(perf);
	return perf->granted ? FAH_CLOCK_PERF : FAH_CLOCK_THREAD_CPU;
}

/* The program's environment is ours and two variables, which the agent takes out again. */
static int set_environment(const struct fah_session *s, const struct fah_run_options *opt,
			   const struct fah_budget *budget)
{
	const char *preload = getenv("LD_PRELOAD");
	double hz = asked_hz(opt);
	size_t cap = 2 * FAH_SESSION_PATH_MAX + 128 + (preload ? strlen(preload) : 0);
	_cleanup_(fah_freep) char *text = malloc(cap);

	if (!text)
		return FAH_ERR_NOMEM;
	snprintf(text, cap, "%s%s%s", s->agent, preload && *preload ? ":" : "",
		 preload ? preload : "");
	if (setenv("LD_PRELOAD", text, 1) < 0)
		return FAH_ERR_SYS;
	snprintf(text, cap, "%u;%llu;%u;%zu;%s%s", opt->clock, (unsigned long long)(1e9 / hz),
		 fah_budget_ppm(budget), strlen(s->agent), s->agent, s->dir);
	return setenv("FIXINGAHOLE_AGENT", text, 1) < 0 ? FAH_ERR_SYS : 0;
}

/* What we were started with, which the program gets. */
struct inherited {
	sigset_t mask;
	struct sigaction child; /* of SIGCHLD: where it is ignored, nobody can be waited for */
};

#define GO 'g'
#define STAY 's' /* nothing can be recorded: the program is not run */

/* A handler of ours would swallow what comes before the exec. */
static void drop_handler(int sig)
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		signal(sig, SIG_DFL);
}

/* In the child: wait for the word to go, exec, or send errno to the parent. Never returns. */
static void exec_program(const struct fah_session *s, const struct fah_run_options *opt,
			 const struct fah_budget *budget, const struct inherited *in, int gate,
			 int fd)
{
	char word = GO;
	int err;

	/* without a word the profiler was killed: the program runs, as it does when that comes
	 * later */
	if (read(gate, &word, 1) == 1 && word != GO)
		_exit(127);
	sigaction(SIGCHLD, &in->child, NULL);
	drop_handler(SIGINT);
	sigprocmask(SIG_SETMASK, &in->mask, NULL);
	unsetenv("FIXINGAHOLE_TEST_HZ");
	unsetenv("FIXINGAHOLE_SESSION_DIR");
	errno = ENOMEM;
	if (set_environment(s, opt, budget) == 0)
		execv(opt->program ? opt->program : opt->argv[0],
		      opt->argv); /* not execvp: it runs any text file as a shell script */
	err = errno;
	if (write(fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* The program's process before it is the program, so that its pid is known. */
struct held {
	pid_t pid;
	int gate, report; /* a byte lets it go; then comes errno, or nothing where it runs */
};

static int hold_program(const struct fah_session *s, const struct fah_run_options *opt,
			const struct fah_budget *budget, const struct inherited *in,
			struct held *ret)
{
	int gate[2], report[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0)
		return FAH_ERR_SYS;
	if (pipe2(report, O_CLOEXEC) < 0) {
		close(gate[0]);
		close(gate[1]);
		return FAH_ERR_SYS;
	}
	*ret = (struct held){fork(), gate[1], report[0]};
	if (ret->pid == 0) {
		close(gate[1]); /* else it would wait for itself */
		exec_program(s, opt, budget, in, gate[0], report[1]);
	}
	close(gate[0]);
	close(report[1]);
	return ret->pid < 0 ? FAH_ERR_SYS : 0;
}

/* Let it go: 0, or the errno for which it could not be started. */
static int release_program(struct held *h)
{
	int err = 0;
	/* to one that somebody killed meanwhile it cannot be sent: then that is how it ended */
	ssize_t n = send(h->gate, &(char){GO}, 1, MSG_NOSIGNAL);

	do
		n = read(h->report, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	if (err)
		waitpid(h->pid, NULL, 0);
	h->pid = -1; /* from here on it is waited for as any program */
	return err;
}

/* One that was not let go never runs. */
static void forget_program(struct held *h)
{
	if (h->pid > 0) {
		send(h->gate, &(char){STAY}, 1, MSG_NOSIGNAL);
		waitpid(h->pid, NULL, 0);
	}
	close(h->gate);
	close(h->report);
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
static struct timespec next_pause(struct fah_waits *waits, const struct fah_budget *budget,
				  uint64_t left_ns)
{
	uint64_t ns = (uint64_t)((double)fah_waits_pause(waits) * budget->stretch);

	return (struct timespec){0, (long)(ns < left_ns ? ns : left_ns)};
}

static enum fah_ending wait_and_drain(pid_t pid, const struct fah_run_options *opt, uint64_t start,
				      struct fah_drain *d, struct fah_waits *waits,
				      struct fah_clocks *clocks, struct fah_budget *budget,
				      const sigset_t *signals, int *ret_status,
				      struct rusage *ret_usage)
{
	uint64_t now = fah_clock_ns(CLOCK_MONOTONIC), last = now;
	uint64_t end = opt->duration > 0 ? start + (uint64_t)(opt->duration * 1e9) : UINT64_MAX;
	siginfo_t si;

	for (; now < end; now = fah_clock_ns(CLOCK_MONOTONIC)) {
		const struct timespec pause = next_pause(waits, budget, end - now);

		if (sigtimedwait(signals, &si, &pause) > 0)
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
		if (fah_clock_ns(CLOCK_MONOTONIC) - last >= CYCLE_MS * 1000000ull) {
			fah_waits_flush(waits);
			fah_drain_cycle(d);
			last = fah_clock_ns(CLOCK_MONOTONIC);
			if (fah_budget_look(budget, last, fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
					    fah_drain_handler_ns(d)))
				fah_drain_allow(d, fah_budget_ppm(budget));
			tell(opt, d, pid, last - start);
		}
	}
	return FAH_ENDED_DURATION;
}

static void write_meta(struct fah_writer *w, const struct fah_session *s,
		       const struct fah_run_options *opt, const struct fah_clocks_leave *perf,
		       uint64_t start_mono, uint64_t start_real)
{
	double hz = asked_hz(opt);
	char text[64];

	fah_writer_meta(w, "tool", "fixingahole " FAH_VERSION);
	snprintf(text, sizeof(text), "%.9g", hz);
	fah_writer_meta(w, "rate_asked", text);
	fah_writer_meta(w, "clock",
			opt->clock == FAH_CLOCK_TEST   ? "test"
			: opt->clock == FAH_CLOCK_PERF ? "perf"
						       : "thread-cpu");
	if (perf->why[0])
		fah_writer_meta(w, "perf_refused", perf->why);
	if (perf->granted && perf->user_only)
		fah_writer_meta(w, "perf_user_only", "1");
	snprintf(text, sizeof(text), "%.9g", opt->budget);
	if (opt->budget > 0)
		fah_writer_meta(w, "budget", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)start_mono);
	fah_writer_meta(w, "start_mono_ns", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)start_real);
	fah_writer_meta(w, "start_real_ns", text);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	fah_writer_meta(w, "collector_pid", text);
	fah_writer_meta(w, "session", s->dir);
	for (const char *const *m = opt->meta; m && m[0] && m[1]; m += 2)
		fah_writer_meta(w, m[0], m[1]);
	fah_writer_flush(w);
}

/* How many native stacks were joined with the Python ones, and what all of it cost. */
static void write_costs(struct fah_writer *w, const struct fah_drain_stats *stats)
{
	char text[96];

	snprintf(text, sizeof(text), "%llu %llu %llu %llu",
		 (unsigned long long)stats->stacks.joined, (unsigned long long)stats->stacks.partly,
		 (unsigned long long)stats->stacks.unjoined,
		 (unsigned long long)stats->stacks.without);
	fah_writer_meta(w, "native_stacks", text);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	fah_writer_meta(w, "collector_cpu_ns", text);
}

/* Processes of which something is missing: outlived, what they do from here on; unrecorded, all. */
static void write_missing(struct fah_writer *w, const char *key, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	if (n)
		fah_writer_meta(w, key, text);
}

FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)
FAH_DEFINE_FREEP(struct fah_drain *, fah_drain_free)
FAH_DEFINE_FREEP(struct fah_waits *, fah_waits_free)
FAH_DEFINE_FREEP(struct fah_clocks *, fah_clocks_free)

/* How sure the waits are; for whoever asks later. */
static void write_waits_meta(struct fah_writer *w, const struct fah_waits_stats *s)
{
	const struct {
		const char *key;
		uint64_t value;
	} pairs[] = {
		{"waits_ticks", s->ticks},	 {"waits_readings", s->readings},
		{"waits_rejected", s->rejected}, {"waits_no_stack", s->no_stack},
		{"waits_refused", s->refused},	 {"waits_put_off", s->put_off},
		{"waits_cpu_ns", s->cpu_ns},
	};
	char text[32];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)pairs[i].value);
		fah_writer_meta(w, pairs[i].key, text);
	}
}

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
static void finish(struct fah_session *s, struct fah_run_result *r, struct fah_drain *d,
		   struct fah_waits *waits, struct fah_writer *w)
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
	write_waits_meta(w, fah_waits_stats(waits));
	r->stats = *fah_drain_stats(d);
	write_missing(w, "outlived", outlived);
	write_missing(w, "unrecorded", r->stats.unrecorded);
	write_costs(w, fah_drain_stats(d));
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

static void write_clocks_meta(struct fah_writer *w, const struct fah_clocks_stats *s)
{
	char text[48];

	snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)s->given,
		 (unsigned long long)s->refused);
	fah_writer_meta(w, "perf_threads", text);
}

/* With the process at hand that is to become the program. */
static int record(struct fah_session *s, const struct fah_run_options *opt,
		  const struct fah_clocks_leave *perf, uint64_t start, struct fah_budget *budget,
		  struct held *program, const sigset_t *signals, struct fah_run_result *r)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_drain_freep) struct fah_drain *d = NULL;
	_cleanup_(fah_waits_freep) struct fah_waits *waits = NULL;
	_cleanup_(fah_clocks_freep) struct fah_clocks *clocks = NULL;
	uint64_t start_real = fah_clock_ns(CLOCK_REALTIME);
	struct rusage usage;
	int err = fah_writer_new(r->capture, &w);

	if (err < 0)
		return err;
	write_meta(w, s, opt, perf, start, start_real);
	err = fah_drain_new(s->dir, w, start, &d);
	if (err == 0)
		err = fah_drain_watch(d);
	if (err == 0)
		err = fah_waits_new(d, w, start, &waits);
	if (err == 0 && perf->granted)
		err = fah_clocks_new(d, perf->user_only, &clocks);
	if (err == 0)
		r->start_errno = release_program(program);
	if (err < 0 || r->start_errno) {
		discard(r->capture);
		return err;
	}
	r->ending = wait_and_drain(r->pid, opt, start, d, waits, clocks, budget, signals,
				   &r->wait_status, &usage);
	r->end.wall_ns = fah_clock_ns(CLOCK_MONOTONIC) - start;
	take_usage(r, d, &usage);
	if (clocks)
		write_clocks_meta(w, fah_clocks_stats(clocks));
	finish(s, r, d, waits, w);
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
}

/* The part between the session's making and its removal. */
static int run_in(struct fah_session *s, const struct fah_run_options *asked,
		  struct fah_run_result *r)
{
	struct fah_run_options with_clock = *asked, *opt = &with_clock;
	struct fah_clocks_leave perf;
	uint64_t start = fah_clock_ns(CLOCK_MONOTONIC);
	struct fah_budget budget;
	struct inherited old;
	struct held program;
	sigset_t signals, interrupt;
	int err, saved;

	fah_budget_init(&budget, opt->budget, start, fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	with_clock.clock = choose_clock(asked, &perf);
	set_signals(&signals);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &old.child);
	sigprocmask(SIG_BLOCK, &signals, &old.mask);
	err = hold_program(s, opt, &budget, &old, &program);
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
		forget_program(&program);
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
	err = fah_session_init(&session);
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
