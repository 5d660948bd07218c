/*
 * signal.c - our handler on SIGURG, and the program's own SIGURG handler behind it.
 *
 * sigaction() and signal() for that one signal are answered from a copy, so the program sees and
 * gets what it would without us; all else passes through.
 */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);
typedef void (*handler_fn)(int);
typedef handler_fn (*signal_fn)(int, handler_fn);

/* Two copies and the index of the current one: a handler never reads a half-written action. */
static struct sigaction theirs[2];
static _Atomic int current;
static _Atomic bool installed;

static sigaction_fn real_sigaction(void)
{
	return (sigaction_fn)(uintptr_t)fah_real("sigaction");
}

static void chain(int sig, siginfo_t *si, void *uc)
{
	const struct sigaction *a = &theirs[atomic_load(&current)];

	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, si, uc);
	else if (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN)
		a->sa_handler(sig);
}

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_TIMER && si->si_value.sival_ptr == &fah_agent)
		fah_sample_take(uc);
	else
		chain(sig, si, uc);
}

static int set_ours(void)
{
	struct sigaction ours;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_signal;
	/* ONSTACK: a thread with an alternate stack (Go, deep recursion) gets it used. All signals
	 * blocked meanwhile: a handler that jumps away must not leave ours half done. */
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&ours.sa_mask);
	return real_sigaction()(FAH_SIGNAL, &ours, NULL) < 0 ? FAH_ERR_SYS : 0;
}

int fah_signal_install(void)
{
	struct sigaction old;

	if (!real_sigaction() || real_sigaction()(FAH_SIGNAL, NULL, &old) < 0)
		return FAH_ERR_SYS;
	theirs[0] = old;
	atomic_store(&current, 0);
	atomic_store(&installed, true);
	return set_ours();
}

/*
 * A program that ignores SIGURG hands that on to its children; our handler would become the default
 * in them. So it is ignored in earnest while a child is made, and samples with it.
 */
bool fah_signal_ignore_for_child(void)
{
	struct sigaction ignore;

	if (!atomic_load(&installed) || theirs[atomic_load(&current)].sa_handler != SIG_IGN)
		return false;
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	real_sigaction()(FAH_SIGNAL, &ignore, NULL);
	return true;
}

void fah_signal_back(bool ignored)
{
	if (ignored)
		set_ours();
}

FAH_AGENT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int now, next;

	if (sig != FAH_SIGNAL || !atomic_load(&installed)) {
		if (!real_sigaction()) {
			errno = ENOSYS;
			return -1;
		}
		return real_sigaction()(sig, act, old);
	}
	now = atomic_load(&current);
	next = !now;
	if (act)
		theirs[next] = *act; /* before *old: they may be the same object */
	if (old)
		*old = theirs[now];
	if (act)
		atomic_store(&current, next);
	return 0;
}

FAH_AGENT_EXPORT handler_fn signal(int sig, handler_fn handler)
{
	signal_fn real = (signal_fn)(uintptr_t)fah_real("signal");
	struct sigaction act, old;

	if (sig == FAH_SIGNAL && atomic_load(&installed)) {
		memset(&act, 0, sizeof(act));
		act.sa_handler = handler;
		act.sa_flags = SA_RESTART;
		sigaction(sig, &act, &old);
		return old.sa_handler;
	}
	if (!real) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	return real(sig, handler);
}
