/* perf.c - see perf.h. */
#include "collect/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORTEST_NS 10000u /* the kernel's own limit */

int fah_perf_open(uint32_t tid, uint64_t period_ns, bool user_only)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns > SHORTEST_NS ? period_ns : SHORTEST_NS;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_kernel = user_only;
	/* the next program on this thread has not asked for signals */
	attr.remove_on_exec = 1;
	return (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int fah_perf_aim(int fd, uint32_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};

	if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0 ||
	    fcntl(fd, F_SETFL, O_ASYNC) < 0)
		return -1;
	return 0;
}

static int paranoia(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return atoi(text);
}

static void say_why(struct fah_clocks_leave *ret, int err)
{
	if ((err == EACCES || err == EPERM) && paranoia() > 2)
		snprintf(ret->why, sizeof(ret->why),
			 "the kernel keeps perf events for root (sysctl kernel.perf_event_paranoid "
			 "is %d; 2 lets every user watch his own programs)",
			 paranoia());
	else if (err == EACCES || err == EPERM || err == ENOSYS)
		snprintf(ret->why, sizeof(ret->why),
			 "perf events are refused here (%s), as in many containers", strerror(err));
	else if (err == EINVAL || err == E2BIG)
		snprintf(ret->why, sizeof(ret->why),
			 "perf events that end with the program need Linux 5.13");
	else
		snprintf(ret->why, sizeof(ret->why), "perf events: %s", strerror(err));
}

void fah_clocks_probe(bool user_only, struct fah_clocks_leave *ret)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid);
	int fd;

	memset(ret, 0, sizeof(*ret));
	ret->user_only = user_only;
	fd = fah_perf_open(self, 1000000000u, user_only);
	if (fd < 0 && !user_only && (errno == EACCES || errno == EPERM)) {
		ret->user_only = true;
		fd = fah_perf_open(self, 1000000000u, true);
	}
	if (fd >= 0 && fah_perf_aim(fd, self) == 0)
		ret->granted = true;
	else
		say_why(ret, errno);
	if (fd >= 0)
		close(fd);
}
