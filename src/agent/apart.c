/*
 * apart.c - opens files without the program's other threads noticing.
 *
 * A descriptor of ours in the program's table, even for a moment, is seen: another thread that
 * closes 0 and opens a file expects to get 0; one that closes all there are closes ours. So what
 * needs a descriptor runs in a thread of its own that shares the memory but has a copy of the
 * table, and is gone when this returns. Usable in a signal handler. No libc, no TLS in there.
 */
#include "agent/apart.h"

#include "core/segment.h"
#include "core/sys.h"

#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>

#define GONE_TRIES 10000

struct work {
	void (*fn)(void *);
	void *arg;
};

/* The name first: the collector, which lists the threads, must not take this one for the program's.
 */
static void in_thread(void *arg)
{
	const struct work *w = arg;

	FAH_SYS2(SYS_prctl, PR_SET_NAME, FAH_OWN_THREAD);
	w->fn(w->arg);
}

void fah_apart(void (*fn)(void *), void *arg, void *stack, size_t size)
{
	const long flags =
		CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK;
	uint64_t all = ~0ull, old = 0;
	struct work w = {fn, arg};
	long tid;

	/* no handler of the program may run in there */
	FAH_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, sizeof(all));
	tid = fah_arch_clone_run(flags, (uint8_t *)stack + size, in_thread, &w);
	if (tid < 0)
		fn(arg); /* no more threads here, or a sandbox: then in the open, as it was */
	/* it has let go of the stack, but must not be counted among the threads any more either:
	 * unshare() and Python's fork() ask for their number */
	for (int i = 0; tid > 0 && i < GONE_TRIES; i++) {
		if (FAH_SYS3(SYS_tgkill, FAH_SYS0(SYS_getpid), tid, 0) < 0)
			break;
		FAH_SYS0(SYS_sched_yield);
	}
	FAH_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, NULL, sizeof(old));
}
