/* program.c - see program.h. */
#include "collect/program.h"

#include "base/cleanup.h"
#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The program's environment is ours and two variables, which the agent takes out again. */
static int set_environment(const struct fah_session *s, const struct fah_run_options *opt,
			   const struct fah_budget *budget)
{
	const char *preload = getenv("LD_PRELOAD");
	double hz = fah_run_hz(opt);
	size_t cap = 2 * FAH_SESSION_PATH_MAX + 128 + (preload ? strlen(preload) : 0);
	_cleanup_(fah_freep) char *text = malloc(cap);

	if (!text)
		return FAH_ERR_NOMEM;
	snprintf(text, cap, "%s%s%s", s->agent, preload && *preload ? ":" : "",
		 preload ? preload : "");
	if (setenv("LD_PRELOAD", text, 1) < 0)
		return FAH_ERR_SYS;
	snprintf(text, cap, "%u;%llu;%u;%u;%u;%zu;%s%s", opt->clock, (unsigned long long)(1e9 / hz),
		 fah_budget_ppm(budget), opt->log_level, opt->plots, strlen(s->agent), s->agent,
		 s->dir);
	return setenv("FIXINGAHOLE_AGENT", text, 1) < 0 ? FAH_ERR_SYS : 0;
}

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
			 const struct fah_budget *budget, const struct fah_inherited *in, int gate,
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

int fah_program_hold(const struct fah_session *s, const struct fah_run_options *opt,
		     const struct fah_budget *budget, const struct fah_inherited *in,
		     struct fah_held *ret)
{
	int gate[2], report[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0)
		return FAH_ERR_SYS;
	if (pipe2(report, O_CLOEXEC) < 0) {
		close(gate[0]);
		close(gate[1]);
		return FAH_ERR_SYS;
	}
	*ret = (struct fah_held){fork(), gate[1], report[0]};
	if (ret->pid == 0) {
		close(gate[1]); /* else it would wait for itself */
		exec_program(s, opt, budget, in, gate[0], report[1]);
	}
	close(gate[0]);
	close(report[1]);
	return ret->pid < 0 ? FAH_ERR_SYS : 0;
}

int fah_program_release(struct fah_held *h)
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

void fah_program_forget(struct fah_held *h)
{
	if (h->pid > 0) {
		send(h->gate, &(char){STAY}, 1, MSG_NOSIGNAL);
		waitpid(h->pid, NULL, 0);
	}
	close(h->gate);
	close(h->report);
}

void fah_program_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGQUIT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGURG);
}

/*
 * A signal to the whole group (the terminal's ^C, a shell's kill %1, killpg) reaches the program by
 * itself, and cannot be told from one that was sent to us alone. A second SIGINT would cut the
 * program's own clean-up short, so it is never handed on; SIGTERM and SIGHUP are, to a program that
 * did not end by itself meanwhile.
 */
void fah_program_forward(pid_t pid, const siginfo_t *si)
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
