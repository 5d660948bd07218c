/*
 * program.h - the program's process: made, held until the recording can begin, and let go with the
 * agent in its environment.
 */
#ifndef FAH_COLLECT_PROGRAM_H
#define FAH_COLLECT_PROGRAM_H

#include "collect/budget.h"
#include "collect/run.h"
#include "collect/session.h"

#include <signal.h>
#include <sys/types.h>

/* What we were started with, which the program gets. */
struct fah_inherited {
	sigset_t mask;
	struct sigaction child; /* of SIGCHLD: where it is ignored, nobody can be waited for */
};

/* The program's process before it is the program, so that its pid is known. */
struct fah_held {
	pid_t pid;
	int gate, report; /* a byte lets it go; then comes errno, or nothing where it runs */
};

/* FAH_ERR_SYS: there is none. Else the caller ends it by one of the next two, and then forgets it.
 */
int fah_program_hold(const struct fah_session *s, const struct fah_run_options *opt,
		     const struct fah_budget *budget, const struct fah_inherited *in,
		     struct fah_held *ret);
/* Let it go: 0, or the errno for which it could not be started. */
int fah_program_release(struct fah_held *h);
/* One that was not let go never runs. */
void fah_program_forget(struct fah_held *h);

/* What we wait for while it runs: its end, what is meant for it, and its agents' calls. */
void fah_program_signals(sigset_t *ret);
/* One of them that came to us, to the program, where it is not there anyway. */
void fah_program_forward(pid_t pid, const siginfo_t *si);

#endif
