/*
 * apart.c - opens files without the program's other threads noticing.
 *
 * A descriptor of ours in the program's table, even for a moment, is seen: another thread that
 * closes 0 and opens a file expects to get 0; one that closes all there are closes ours. So what
 * needs a descriptor runs in a thread of its own that shares the memory but has a copy of the
 * table, and is gone when this returns. Usable in a signal handler. No libc, no TLS in there.
 */
#include "agent/apart.h"

#include "agent/agent.h"
#include "core/sys.h"

#include <sched.h>
#include <stdint.h>

#define GONE_TRIES 10000

/* A place for the thread's id, where the collector, which lists the threads, looks for those that
 * are none of the program's. */
static _Atomic uint32_t *own_place(void)
{
	static _Atomic uint32_t unseen;
	struct fah_segment_head *head = fah_segment_head();
	uint32_t none;

	for (uint32_t i = 0; head && i < FAH_OWN_THREADS; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&head->own_tids[i], &none, UINT32_MAX))
			return &head->own_tids[i];
	}
	return &unseen;
}

void fah_apart(void (*fn)(void *), void *arg, void *stack, size_t size)
{
	const long flags = FAH_OWN_CLONE | CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_SYSVSEM |
			   CLONE_PARENT_SETTID;
	uint64_t all = ~0ull, old = 0;
	_Atomic uint32_t *own = own_place();
	long tid;

	/* no handler of the program may run in there */
	FAH_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &old, sizeof(all));
	tid = fah_arch_clone_run(flags, (uint8_t *)stack + size, own, fn, arg);
	if (tid < 0)
		fn(arg); /* no more threads here, or a sandbox: then in the open, as it was */
	/* it has let go of the stack, but must not be counted among the threads any more either:
	 * unshare() and Python's fork() ask for their number */
	for (int i = 0; tid > 0 && i < GONE_TRIES; i++) {
		if (FAH_SYS3(SYS_tgkill, FAH_SYS0(SYS_getpid), tid, 0) < 0)
			break;
		FAH_SYS0(SYS_sched_yield);
	}
	atomic_store(own, 0);
	FAH_SYS4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, NULL, sizeof(old));
}
