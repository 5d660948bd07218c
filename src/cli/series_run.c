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

static volatile sig_atomic_t child, came;

/* What ends us is for the run: it ends its program, and the series with it. */
static void hand_on(int sig)
{
	came = sig;
	if (child > 0)
		kill((pid_t)child, sig);
}

/* Ctrl-C reaches the program and its collector from the terminal itself. */
static const struct {
	int sig;
	void (*by)(int);
} signals[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, hand_on}, {SIGHUP, hand_on}};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void stay_out_of_the_way(struct sigaction *old)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].sig, &(struct sigaction){.sa_handler = signals[i].by},
			  &old[i]);
}

static void as_before(const struct sigaction *old)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].sig, &old[i], NULL);
}

static int run_apart(int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx,
		     struct fah_runfolder *folder)
{
	struct sigaction old[N_SIGNALS];
	int status;
	pid_t pid;

	fflush(NULL);
	/* set before the fork, so that no signal finds neither: the child gives them back */
	child = came = 0;
	stay_out_of_the_way(old);
	pid = fork();
	if (pid <= 0)
		as_before(old);
	if (pid == 0)
		exit(once(ctx, folder));
	if (pid < 0)
		return fah_fail_err(FAH_ERR_SYS, "profile: cannot start a run");
	child = pid;
	if (came)
		kill(pid, came);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return fah_fail_err(FAH_ERR_SYS, "profile: a run is lost");
	child = 0;
	as_before(old);
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

int fah_series_run(uint32_t n, const struct fah_runfolder *folder, bool quiet,
		   int (*once)(void *ctx, struct fah_runfolder *folder), void *ctx)
{
	struct fah_report_options o = {0};
	struct fah_series_view view = {.report = quiet ? NULL : &o};
	_cleanup_(fah_strbuf_release) struct fah_strbuf path = FAH_STRBUF_INIT;
	struct fah_runfolder run;
	uint32_t i, whole = 0;
	int status = 0;

	fah_outlive(SIGPIPE);
	fah_shown_on_stdout(&o);
	for (i = 1; i <= n && !status; i++) {
		status = make_folder(&run, folder, i, n);
		if (status)
			break;
		if (!quiet && isatty(STDERR_FILENO))
			fprintf(stderr, "fixingahole: run %u of %u\n", i, n);
		status = run_apart(once, ctx, &run);
		whole += !status;
		if (status && !quiet)
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
	return status;
}
