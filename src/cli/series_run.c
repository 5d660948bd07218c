/*
 * series_run.c - see series.h: runs one after the other.
 *
 * Each has a process of ours of its own, which does what `profile` does once: what a recording
 * raises for itself (limits on open files) or counts of itself (its CPU) is gone with it, and the
 * next program starts as the first did.
 */
#include "cli/series.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/invoke.h"
#include "cli/shown.h"
#include "core/err.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child, came, interrupted;

/* What ends us is for the run: it ends its program, and the series with it. */
static void hand_on(int sig)
{
	came = sig;
	if (child > 0)
		kill((pid_t)child, sig);
}

/* Ctrl-C reaches the program and its collector from the terminal itself. */
static void note(int sig)
{
	(void)sig;
	interrupted = 1;
}

static const struct {
	int sig;
	void (*by)(int);
} signals[] = {{SIGINT, note}, {SIGQUIT, SIG_IGN}, {SIGTERM, hand_on}, {SIGHUP, hand_on}};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void stay_out_of_the_way(struct sigaction *old)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].sig,
			  &(struct sigaction){.sa_handler = signals[i].by, .sa_flags = SA_RESTART},
			  &old[i]);
}

static void as_before(const struct sigaction *old)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].sig, &old[i], NULL);
}

/*
 * In a process of its own. While the program runs, an interrupt is the program's; one that comes
 * when that has ended waits until its reports are written, and then ends this process: no exit of
 * a program's looks like that.
 */
static void run_here(int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx,
		     struct fah_runfolder *folder, const struct sigaction *old)
{
	int status;

	as_before(old);
	interrupted = 0;
	if (old[0].sa_handler != SIG_IGN)
		sigaction(SIGINT, &(struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART},
			  NULL);
	status = once(ctx, folder);
	fflush(NULL);
	sigaction(SIGINT, &old[0], NULL);
	if (interrupted && !status)
		raise(SIGINT);
	exit(status);
}

/* The status of the run, or 128 + n where signal n ended the series; *ret_whole: that is all that
 * ended. */
static int run_apart(int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx,
		     struct fah_runfolder *folder, const struct sigaction *old, bool *ret_whole)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run_here(once, ctx, folder, old);
	if (pid < 0)
		return fah_fail_err(FAH_ERR_SYS, "profile: cannot start a run");
	child = pid;
	if (came)
		kill(pid, came);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fah_fail_err(FAH_ERR_SYS, "profile: a run is lost");
	child = interrupted = 0;
	*ret_whole = !status || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	return came && !status ? 128 + came : fah_invoke_status(status);
}

static int make_folder(struct fah_runfolder *run, const struct fah_runfolder *all, uint32_t i,
		       uint32_t n)
{
	int digits = snprintf(NULL, 0, "%u", n);

	*run = *all;
	run->existed = strlen(run->output); /* the series keeps it */
	if (snprintf(run->path, sizeof(run->path), "%.4000s/run_%0*u", all->path, digits, i) >=
		    (int)sizeof(run->path) ||
	    mkdir(run->path, 0777) < 0)
		return fah_fail_err(FAH_ERR_SYS, "cannot make the folder %s", run->path);
	return 0;
}

int fah_series_run(uint32_t n, const struct fah_runfolder *folder,
		   const struct fah_profile_shown *how,
		   int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx)
{
	struct fah_report_options o = {0};
	bool quiet = how->quiet;
	struct fah_series_view view = {.report = quiet ? NULL : &o};
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT;
	struct fah_runfolder run;
	struct sigaction old[N_SIGNALS];
	uint32_t i, whole = 0;
	bool is_whole = false;
	int status = 0;

	fah_outlive(SIGPIPE);
	fah_shown_on_stdout(&o);
	if (how->output_file && strcmp(how->output_file, "-") != 0)
		view.output_file = how->output_file;
	came = interrupted = 0;
	stay_out_of_the_way(old);
	for (i = 1; i <= n && !status; i++) {
		/* since the last run: there was no program for it */
		if (interrupted && old[0].sa_handler != SIG_IGN)
			status = 128 + SIGINT;
		if (status && !quiet)
			fah_fail("interrupted after run %u of %u: the series ends here", i - 1, n);
		if (!status)
			status = make_folder(&run, folder, i, n);
		if (status)
			break;
		if (!quiet && isatty(STDERR_FILENO))
			fprintf(stderr, "fixingahole: run %u of %u\n", i, n);
		is_whole = false;
		status = run_apart(once, ctx, &run, old, &is_whole);
		whole += is_whole;
		if (status && !quiet && is_whole)
			fah_fail("interrupted after run %u of %u: the series ends here", i, n);
		else if (status && !quiet)
			fah_fail("run %u of %u ended with status %d: the series ends here (%s)", i,
				 n, status, run.path);
	}
	if (whole) {
		int err = fah_series_stats("profile", folder->path, &view);

		if (!err && !quiet) {
			fah_strbuf_add_printable(&path, folder->path, strlen(folder->path));
			printf("Results: %s\n", fah_strbuf_str(&path));
		}
		fflush(stdout);
	}
	as_before(old);
	return status;
}
