/*
 * live.c - see live.h: the process, when it is told, and how it ends.
 *
 * It is started before the program, so that it has none of the collector's memory and descriptors.
 * It must not write to anything but the summary and the terminal, nor outlive the collector: its
 * end of the socket tells when that is gone.
 */
#include "cli/live.h"

#include "base/term.h"
#include "cli/cli.h"
#include "cli/live_view.h"
#include "core/err.h"
#include "core/time.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOWEST 19 /* priority */
#define REST 9	  /* times as long as a report took: at most a tenth of a core */
#define EARLY 0.5 /* seconds: the collector comes by once in about one */

/* The newest thing that we were told, false where the collector is gone. */
static bool next_word(int fd, struct fah_run_progress *ret)
{
	ssize_t n;

	do
		n = recv(fd, ret, sizeof(*ret), 0);
	while (n < 0 && errno == EINTR);
	while (n == (ssize_t)sizeof(*ret) &&
	       recv(fd, ret, sizeof(*ret), MSG_DONTWAIT) == (ssize_t)sizeof(*ret))
		;
	return n == (ssize_t)sizeof(*ret);
}

/* The terminal's signals are for the program; ours to end by are SIGTERM and the socket's end. */
static void stay_out_of_the_way(bool draw)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTTOU, SIGPIPE};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	setpriority(PRIO_PROCESS, 0, LOWEST);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		if (fd != STDERR_FILENO || !draw)
			dup2(null, fd);
}

static void serve(int fd, struct fah_live_shared *shared, struct fah_live_view *view)
{
	struct fah_run_progress now;
	uint64_t rested = 0; /* when the next report may come */

	while (next_word(fd, &now)) {
		uint64_t before = fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID), after;

		if (fah_clock_ns(CLOCK_MONOTONIC) < rested)
			continue;
		fah_live_view_show(view, &now);
		after = fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		shared->cpu_ns = after;
		rested = fah_clock_ns(CLOCK_MONOTONIC) + REST * (after - before);
	}
}

int fah_live_begin(struct fah_live *l, const struct fah_runfolder *folder, double every, bool draw)
{
	struct fah_live_view view = {.folder = folder,
				     .draw = draw && fah_term_rewrites(STDERR_FILENO)};
	struct fah_live_shared *shared;
	int ends[2];

	*l = (struct fah_live){.every = every, .fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return fah_fail_err(FAH_ERR_SYS, "profile: --live");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	fflush(NULL);
	l->pid = shared == MAP_FAILED ? -1 : fork();
	if (l->pid < 0) {
		l->pid = 0;
		close(ends[0]);
		close(ends[1]);
		if (shared != MAP_FAILED)
			munmap(shared, sizeof(*shared));
		return fah_fail_err(FAH_ERR_SYS, "profile: --live");
	}
	if (l->pid == 0) {
		close(ends[0]);
		stay_out_of_the_way(view.draw);
		view.state = &shared->state;
		serve(ends[1], shared, &view);
		_exit(0);
	}
	close(ends[1]);
	l->fd = ends[0];
	l->shared = shared;
	return 0;
}

void fah_live_tick(void *ctx, const struct fah_run_progress *now)
{
	struct fah_live *l = ctx;

	if (now->ended || now->elapsed_s - l->last < l->every - EARLY)
		return;
	l->last = now->elapsed_s;
	/* one that is still busy finds it later; one that is gone is no reason to stop */
	(void)!send(l->fd, now, sizeof(*now), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * On a busy machine a process of the lowest priority may need half a second to end. It is waited
 * for only where it is at its file just now: else it can write no more, and ends whenever it does.
 */
void fah_live_end(struct fah_live *l)
{
	int reading = FAH_LIVE_READING;
	bool over;

	if (l->pid <= 0)
		return;
	over = atomic_compare_exchange_strong(&l->shared->state, &reading, FAH_LIVE_OVER);
	close(l->fd);
	kill(l->pid, over ? SIGKILL : SIGTERM);
	kill(l->pid, SIGCONT); /* whoever is stopped takes no other signal */
	while (waitpid(l->pid, NULL, over ? WNOHANG : 0) < 0 && errno == EINTR)
		;
	munmap(l->shared, sizeof(*l->shared));
	l->pid = 0;
}
