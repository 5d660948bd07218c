/*
 * usage.c - what the kernel says of this thread since its last record. Runs in the signal handler.
 *
 * How much of its CPU was the kernel's cannot be seen from the interrupted instruction: a page
 * fault leaves no trace there (of a program that spent 92 % in page faults, the test for a system
 * call instruction saw 17 %). The kernel counts it, in ticks or better, so its count is shared out:
 * each sample gets what was added since the last one, never more than its own CPU, the rest goes to
 * the next.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/time.h"

#include <string.h>
#include <sys/resource.h>

#define SMALL 64 /* a part below 1/64 of the sample is left to the next one */

/* What the kernel counts at its ticks, before it makes getrusage's figures of it, which are
 * smoothed: a line of pure Python had 25 % system. */
static bool read_ticks(uint64_t *ret_all, uint64_t *ret_user)
{
	struct timespec all = {0, 0}, user = {0, 0};

	if (FAH_SYS2(SYS_clock_gettime, fah_thread_clock(0, FAH_ALL_TICKS), &all) < 0 ||
	    FAH_SYS2(SYS_clock_gettime, fah_thread_clock(0, FAH_USER_TICKS), &user) < 0)
		return false;
	*ret_all = fah_timespec_ns(all);
	*ret_user = fah_timespec_ns(user);
	return true;
}

void fah_usage_tick(struct fah_thread_state *t, struct fah_ticks *ret)
{
	uint64_t all, user;

	*ret = (struct fah_ticks){0, 0};
	if (!read_ticks(&all, &user))
		return;
	ret->all_ns = all - t->ticks_ns;
	ret->system_ns = ret->all_ns - (user - t->user_ticks_ns);
	t->ticks_ns = all;
	t->user_ticks_ns = user;
}

void fah_usage_since(struct fah_thread_state *t, uint64_t cpu_ns, struct fah_usage *ret)
{
	struct rusage ru;
	uint64_t system, blocked;

	memset(&ru, 0, sizeof(ru));
	*ret = (struct fah_usage){.known = FAH_SYS2(SYS_getrusage, RUSAGE_THREAD, &ru) == 0,
				  .blocked = true};
	if (!ret->known)
		return;
	blocked = (uint64_t)ru.ru_nvcsw;
	ret->blocked = blocked != t->last_blocked;
	t->last_blocked = blocked;
	system = fah_timeval_ns(ru.ru_stime);
	if (system > t->last_system_ns)
		t->owed_system_ns += system - t->last_system_ns;
	t->last_system_ns = system;
	if (t->owed_system_ns < cpu_ns / SMALL)
		return;
	ret->system_ns = t->owed_system_ns < cpu_ns ? t->owed_system_ns : cpu_ns;
	if (cpu_ns - ret->system_ns < cpu_ns / SMALL)
		ret->system_ns = cpu_ns;
	t->owed_system_ns -=
		t->owed_system_ns < ret->system_ns ? t->owed_system_ns : ret->system_ns;
}
