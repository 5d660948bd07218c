/*
 * sandbox.c - a program that puts itself under a seccomp filter is recorded up to there.
 *
 * A filter may kill whoever makes a system call that it does not name, and ours are not in the
 * program's list. So recording stops for good before the filter comes into force: timers, handler
 * and preload of children; the collector is told why. What the filter forbids cannot be known, so
 * nothing of ours makes a system call afterwards.
 */
#include "agent/heap.h"
#include "core/sys.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

#define NEW_LISTENER 8u /* SECCOMP_FILTER_FLAG_NEW_LISTENER: what is returned is an fd */

static const char reason[] = "the program put itself under a seccomp filter";

static _Atomic bool on;
static char first; /* of the preload's path, which is empty meanwhile: no child takes it */

bool fah_sandbox_is_on(void)
{
	return atomic_load(&on);
}

/* Before the filter. What to hand to entered(). */
static bool enter(void)
{
	bool was_active = atomic_load(&fah_agent.active);

	/* a vfork's child has our memory, which is not for it to change */
	if (!fah_agent.preload[0] || atomic_load(&fah_agent.pid) != (uint32_t)FAH_SYS0(SYS_getpid))
		return false;
	fah_heap_pause();
	if (was_active) {
		fah_timers_leave_events();
		fah_quiet();
		fah_signal_remove();
	}
	atomic_store(&on, true);
	first = fah_agent.preload[0];
	fah_agent.preload[0] = 0;
	return was_active;
}

/* After it: only stores where it is in force. */
static void entered(bool was_active, bool in_force)
{
	struct fah_segment_head *head = fah_segment_head();

	if (in_force && was_active && head) {
		memcpy(head->reason, reason, sizeof(reason));
		atomic_store(&head->status, FAH_AGENT_STOPPED);
	}
	if (in_force || !atomic_load(&on))
		return;
	fah_agent.preload[0] = first;
	atomic_store(&on, false);
	if (was_active && fah_signal_install() == 0)
		fah_loud();
	fah_heap_resume();
}

/* With no filter given the kernel only says what it knows: libseccomp asks so. */
static bool makes_filter(unsigned long mode, unsigned long filter)
{
	return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter);
}

FAH_AGENT_EXPORT int prctl(int option, ...)
{
	int (*real)(int, ...) = (int (*)(int, ...))(uintptr_t)fah_real("prctl");
	unsigned long a[4];
	bool was_active;
	va_list args;
	int ret;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	if (option != PR_SET_SECCOMP || !makes_filter(a[0], a[1]))
		return real(option, a[0], a[1], a[2], a[3]);
	was_active = enter();
	ret = real(option, a[0], a[1], a[2], a[3]);
	entered(was_active, ret == 0);
	return ret;
}

static long result(long ret)
{
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

FAH_AGENT_EXPORT long syscall(long n, ...)
{
	bool filters, was_active;
	va_list args;
	long a[6], ret;

	va_start(args, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	filters = (n == SYS_seccomp && (a[0] == SECCOMP_SET_MODE_STRICT ||
					(a[0] == SECCOMP_SET_MODE_FILTER && a[2]))) ||
		  (n == SYS_prctl && a[0] == PR_SET_SECCOMP &&
		   makes_filter((unsigned long)a[1], (unsigned long)a[2]));
	if (!filters)
		return result(FAH_SYS6(n, a[0], a[1], a[2], a[3], a[4], a[5]));
	was_active = enter();
	ret = FAH_SYS6(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	/* a thread that could not be brought along is named by its number */
	entered(was_active, ret == 0 || (ret > 0 && n == SYS_seccomp && a[1] & NEW_LISTENER));
	return result(ret);
}
