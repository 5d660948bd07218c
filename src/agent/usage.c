/*
 * usage.c - what the kernel says of this thread since its last record. Runs in the signal handler.
 *
 * How much of its CPU was the kernel's cannot be seen from the interrupted instruction: a page
 * fault leaves no trace there (of a program that spent 92 % in page faults, the test for a system
 * call instruction saw 17 %). The kernel counts it, in ticks or better, so its count is shared out:
 * each sample gets what was added since the last one, never more than its own CPU, the rest goes to
 * the next. Of samples between ticks those that came in a system call are all the kernel's, and
 * what is left is for those since whose last one there were page faults: the sums are smoothed, so
 * most of it would stand beside.
 */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/time.h"

#include <string.h>
#include <sys/resource.h>

#define AHEAD_NS 50000000 /* of the sum, which comes late, that samples may have before */
#define SMALL 64	  /* a part below 1/64 of the sample is left to the next one */

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
	uint64_t system, blocked, owed, faults;
	bool faulted;

	memset(&ru, 0, sizeof(ru));
	*ret = (struct fah_usage){.known = FAH_SYS2(SYS_getrusage, RUSAGE_THREAD, &ru) == 0,
				  .blocked = true};
	if (!ret->known)
		return;
	blocked = (uint64_t)ru.ru_nvcsw;
	ret->blocked = blocked != t->last_blocked;
	t->last_blocked = blocked;
	ret->by_sum = true;
	system = fah_timeval_ns(ru.ru_stime);
	if (system > t->last_system_ns)
		t->owed_system_ns += (int64_t)(system - t->last_system_ns);
	t->last_system_ns = system;
	owed = t->owed_system_ns > 0 ? (uint64_t)t->owed_system_ns : 0;
	faults = (uint64_t)ru.ru_minflt + (uint64_t)ru.ru_majflt;
	faulted = faults != t->last_faults;
	t->last_faults = faults;
	if (!faulted || !owed || owed < cpu_ns / SMALL)
		return;
	ret->system_ns = owed < cpu_ns ? owed : cpu_ns;
	if (cpu_ns - ret->system_ns < cpu_ns / SMALL)
		ret->system_ns = cpu_ns;
	t->owed_system_ns = owed < ret->system_ns ? 0 : (int64_t)(owed - ret->system_ns);
}

void fah_usage_all_system(struct fah_thread_state *t, uint64_t cpu_ns, struct fah_usage *use)
{
	int64_t more = (int64_t)(cpu_ns - use->system_ns), room = t->owed_system_ns + AHEAD_NS;

	if (more > room)
		more = room > 0 ? room : 0;
	t->owed_system_ns -= more;
	use->system_ns += (uint64_t)more;
}
