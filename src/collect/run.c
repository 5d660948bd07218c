/* run.c - see run.h. The collector's main loop; it may be slow, the target may not. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/budget.h"
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CYCLE_MS \
	1000 /* what a kill of both sides can lose; blocks of a second keep the capture small */

extern char **environ;

static double asked_hz(const struct fah_run_options *opt)
{
	if (opt->test_hz > 0)
		return opt->test_hz;
	return opt->rate > 0 ? opt->rate : FAH_RATE_DEFAULT;
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
	snprintf(text, cap, "%d;%llu;%u;%zu;%s%s",
		 opt->test_hz > 0 ? FAH_CLOCK_TEST : FAH_CLOCK_THREAD_CPU,
		 (unsigned long long)(1e9 / hz), fah_budget_ppm(budget), strlen(s->agent), s->agent,
		 s->dir);
	return setenv("FIXINGAHOLE_AGENT", text, 1) < 0 ? FAH_ERR_SYS : 0;
}

/* What we were started with, which the program gets. */
struct inherited {
	sigset_t mask;
	struct sigaction child; /* of SIGCHLD: where it is ignored, nobody can be waited for */
};

/* In the child: exec, or send errno to the parent. Never returns. */
static void exec_program(const struct fah_session *s, const struct fah_run_options *opt,
			 const struct fah_budget *budget, const struct inherited *in, int fd)
{
	int err;

	sigaction(SIGCHLD, &in->child, NULL);
	sigprocmask(SIG_SETMASK, &in->mask, NULL);
	unsetenv("FIXINGAHOLE_TEST_HZ");
	unsetenv("FIXINGAHOLE_SESSION_DIR");
	errno = ENOMEM;
	if (set_environment(s, opt, budget) == 0)
		execv(opt->argv[0],
		      opt->argv); /* not execvp: it runs any text file as a shell script */
	err = errno;
	if (write(fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static pid_t start_program(const struct fah_session *s, const struct fah_run_options *opt,
			   const struct fah_budget *budget, const struct inherited *in,
			   int *ret_errno)
{
	int fds[2], err = 0;
	pid_t pid;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		*ret_errno = errno;
		return -1;
	}
	pid = fork();
	if (pid == 0)
		exec_program(s, opt, budget, in, fds[1]);
	close(fds[1]);
	do
		n = pid > 0 ? read(fds[0], &err, sizeof(err)) : -1;
	while (n < 0 && errno == EINTR && pid > 0);
	*ret_errno = pid < 0 ? errno : n == (ssize_t)sizeof(err) ? err : 0;
	close(fds[0]);
	if (pid > 0 && *ret_errno) {
		waitpid(pid, NULL, 0);
		return -1;
	}
	return pid;
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

static void wait_and_drain(pid_t pid, struct fah_drain *d, struct fah_waits *waits,
			   struct fah_budget *budget, const sigset_t *signals, int *ret_status,
			   struct rusage *ret_usage)
{
	uint64_t last = fah_clock_ns(CLOCK_MONOTONIC);
	siginfo_t si;

	for (;;) {
		const struct timespec pause = {
			0, (long)((double)fah_waits_pause(waits) * budget->stretch)};

		if (sigtimedwait(signals, &si, &pause) > 0)
			forward(pid, &si);
		if (wait4(pid, ret_status, WNOHANG, ret_usage) == pid)
			return;
		fah_drain_notice(d);
		fah_waits_tick(waits);
		if (fah_clock_ns(CLOCK_MONOTONIC) - last >= CYCLE_MS * 1000000ull) {
			fah_waits_flush(waits);
			fah_drain_cycle(d);
			last = fah_clock_ns(CLOCK_MONOTONIC);
			if (fah_budget_look(budget, last, fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
					    fah_drain_handler_ns(d)))
				fah_drain_allow(d, fah_budget_ppm(budget));
		}
	}
}

static void write_meta(struct fah_writer *w, const struct fah_session *s,
		       const struct fah_run_options *opt, uint64_t start_mono, uint64_t start_real)
{
	double hz = asked_hz(opt);
	char text[64];

	fah_writer_meta(w, "tool", "fixingahole " FAH_VERSION);
	snprintf(text, sizeof(text), "%.9g", hz);
	fah_writer_meta(w, "rate_asked", text);
	fah_writer_meta(w, "clock", opt->test_hz > 0 ? "test" : "thread-cpu");
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

/* They are not waited for: what they do from here on is nobody's to see. */
static void write_outlived(struct fah_writer *w, unsigned n)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (n)
		fah_writer_meta(w, "outlived", text);
}

FAH_DEFINE_FREEP(struct fah_writer *, fah_writer_free)
FAH_DEFINE_FREEP(struct fah_drain *, fah_drain_free)
FAH_DEFINE_FREEP(struct fah_waits *, fah_waits_free)

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

/* The part between the session's making and its removal. */
static int run_in(struct fah_session *s, const struct fah_run_options *opt,
		  struct fah_run_result *r)
{
	_cleanup_(fah_writer_freep) struct fah_writer *w = NULL;
	_cleanup_(fah_drain_freep) struct fah_drain *d = NULL;
	_cleanup_(fah_waits_freep) struct fah_waits *waits = NULL;
	uint64_t start, start_real = fah_clock_ns(CLOCK_REALTIME);
	struct fah_budget budget;
	struct inherited old;
	sigset_t signals;
	struct rusage usage;
	unsigned outlived;
	pid_t pid;
	int err = fah_writer_new(opt->capture_path, &w);

	if (err < 0)
		return err;
	start = fah_clock_ns(CLOCK_MONOTONIC);
	fah_budget_init(&budget, opt->budget, start, fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	write_meta(w, s, opt, start, start_real);
	err = fah_drain_new(s->dir, w, start, &d);
	if (err == 0)
		err = fah_drain_watch(d);
	if (err == 0)
		err = fah_waits_new(d, w, start, &waits);
	if (err < 0)
		return err;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &old.child);
	sigprocmask(SIG_BLOCK, &signals, &old.mask);
	pid = start_program(s, opt, &budget, &old, &r->start_errno);
	if (pid > 0) {
		wait_and_drain(pid, d, waits, &budget, &signals, &r->wait_status, &usage);
		r->end.wall_ns = fah_clock_ns(CLOCK_MONOTONIC) - start;
		r->end.user_ns = fah_timeval_ns(usage.ru_utime);
		r->end.system_ns = fah_timeval_ns(usage.ru_stime);
		r->end.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
		r->end.wait_status = (uint32_t)r->wait_status;
		fah_waits_finish(waits);
		write_waits_meta(w, fah_waits_stats(waits));
		outlived = fah_outlived(s->dir);
		fah_session_end(s);
		fah_drain_moved(d, s->dir);
		fah_drain_finish(d);
		r->stats = *fah_drain_stats(d);
		write_outlived(w, outlived);
		write_costs(w, fah_drain_stats(d));
		r->capture_err = fah_writer_finish(w, &r->end, &r->loss);
		r->capture_errno = errno;
	}
	sigaction(SIGCHLD, &old.child, NULL);
	sigprocmask(SIG_SETMASK, &old.mask, NULL);
	return 0;
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
