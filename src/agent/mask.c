/*
 * mask.c - a thread that blocks our signal, waits for it or sends it to itself has no timer
 * meanwhile.
 *
 * The program gets exactly what it asked for, and no signal that nobody sent: see timers.c. What
 * changes the mask past these functions (a handler's own mask, siglongjmp, a bare system call)
 * leaves the timer as it is.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef int (*mask_fn)(int, const sigset_t *, sigset_t *);

static bool has_ours(const sigset_t *set)
{
	uint64_t mask;

	memcpy(&mask, set, 8);
	return mask >> (FAH_SIGNAL - 1) & 1;
}

/* This thread's timer, where it has one that is ours to change: not in a vfork's child, which has
 * our memory and no timers. */
static struct fah_timer *own_timer(void)
{
	struct fah_timer *t;

	if (!atomic_load(&fah_agent.active))
		return NULL;
	t = fah_thread_timer();
	return t && atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid) ? t : NULL;
}

static int change(mask_fn real, int how, const sigset_t *set, sigset_t *old)
{
	struct fah_timer *t = set ? own_timer() : NULL;
	bool was_off, blocks, lets_in;
	sigset_t before;
	int ret;

	if (!t)
		return real(how, set, old);
	blocks = how != SIG_UNBLOCK && has_ours(set);
	lets_in = how == SIG_SETMASK ? !has_ours(set) : how == SIG_UNBLOCK && has_ours(set);
	was_off = atomic_load(&t->off);
	if (blocks) {
		fah_timer_leave_event(t);
		fah_timer_off(t);
	}
	memset(&before, 0, sizeof(before));
	ret = real(how, set, &before);
	if (old && !ret)
		memcpy(old, &before, 8); /* all that libc writes */
	/* already blocked by the mask of a handler that runs: it is let in when that returns */
	if (blocks && !was_off && (ret || has_ours(&before)))
		fah_timer_on(t);
	if (lets_in && !ret && was_off)
		fah_timer_on(t);
	return ret;
}

FAH_AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn real = (mask_fn)(uintptr_t)fah_real("pthread_sigmask");

	return real ? change(real, how, set, old) : ENOSYS;
}

FAH_AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_fn real = (mask_fn)(uintptr_t)fah_real("sigprocmask");

	if (real)
		return change(real, how, set, old);
	errno = ENOSYS;
	return -1;
}

/* For the time of one call; what to hand to put_on(). */
static struct fah_timer *put_off(void)
{
	struct fah_timer *t = own_timer();

	if (!t || atomic_load(&t->off))
		return NULL;
	fah_timer_leave_event(t);
	fah_timer_off(t);
	return t;
}

static void put_on(struct fah_timer *t)
{
	int saved = errno;

	if (t)
		fah_timer_on(t);
	errno = saved;
}

FAH_AGENT_EXPORT int sigwait(const sigset_t *set, int *ret_sig)
{
	int (*real)(const sigset_t *, int *) =
		(int (*)(const sigset_t *, int *))(uintptr_t)fah_real("sigwait");
	struct fah_timer *t;
	int ret;

	if (!real)
		return ENOSYS;
	t = has_ours(set) ? put_off() : NULL;
	ret = real(set, ret_sig);
	put_on(t);
	return ret;
}

FAH_AGENT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
				  const struct timespec *timeout)
{
	int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) =
		(int (*)(const sigset_t *, siginfo_t *, const struct timespec *))(
			uintptr_t)fah_real("sigtimedwait");
	struct fah_timer *t;
	int ret;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	t = has_ours(set) ? put_off() : NULL;
	ret = real(set, info, timeout);
	put_on(t);
	return ret;
}

FAH_AGENT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL); /* as C libraries have it */
}

/*
 * A signal that a thread sends to itself is lost where one of the timer's waits to be delivered:
 * the kernel keeps one of a number. (One that another thread sends to it alone can still be, in the
 * instant between the timer's interrupt and its end.)
 */
FAH_AGENT_EXPORT int raise(int sig)
{
	int (*real)(int) = (int (*)(int))(uintptr_t)fah_real("raise");
	struct fah_timer *t;
	int ret;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	t = sig == FAH_SIGNAL ? put_off() : NULL;
	ret = real(sig);
	put_on(t);
	return ret;
}

FAH_AGENT_EXPORT int pthread_kill(pthread_t thread, int sig)
{
	int (*real)(pthread_t, int) = (int (*)(pthread_t, int))(uintptr_t)fah_real("pthread_kill");
	struct fah_timer *t;
	int ret;

	if (!real)
		return ENOSYS;
	t = sig == FAH_SIGNAL && thread == pthread_self() ? put_off() : NULL;
	ret = real(thread, sig);
	put_on(t);
	return ret;
}
