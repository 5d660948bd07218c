/* task.c - see task.h. */
#include "target/task.h"

#include "core/err.h"
#include "core/time.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 64

static int open_file(uint32_t pid, uint32_t tid, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", pid, tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int fah_task_open(struct fah_task *t, uint32_t pid, uint32_t tid)
{
	*t = (struct fah_task){.pid = pid, .tid = tid, .call_fd = -1};
	t->sched_fd = open_file(pid, tid, "schedstat");
	return t->sched_fd < 0 ? FAH_ERR_SYS : 0;
}

void fah_task_close(struct fah_task *t)
{
	if (t->sched_fd >= 0)
		close(t->sched_fd);
	if (t->call_fd >= 0)
		close(t->call_fd);
	t->sched_fd = t->call_fd = -1;
}

int fah_task_sched(struct fah_task *t, struct fah_sched *ret)
{
	char text[80], *p = text, *end;
	uint64_t v[3];
	ssize_t n = pread(t->sched_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return FAH_ERR_SYS;
	text[n] = 0;
	for (int i = 0; i < 3; i++, p = end) {
		v[i] = strtoull(p, &end, 10);
		if (end == p)
			return FAH_ERR_FORMAT;
	}
	t->last = *ret = (struct fah_sched){v[0], v[1], v[2]};
	t->readings++;
	return 0;
}

/* "nr a0 a1 a2 a3 a4 a5 sp pc", or "-1 sp pc", or "running" */
static int parse_call(const char *text, struct fah_call *ret)
{
	struct fah_call call = {0};
	uint64_t v[8];
	char *end;
	int n = 0;

	call.nr = strtoll(text, &end, 10);
	if (end == text)
		return 0;
	for (const char *p = end; n < 8; n++, p = end) {
		v[n] = strtoull(p, &end, 16);
		if (end == p)
			break;
	}
	if (n != (call.nr < 0 ? 2 : 8))
		return FAH_ERR_SYS;
	if (n == 8)
		memcpy(call.args, v, sizeof(call.args));
	call.sp = v[n - 2];
	call.pc = v[n - 1];
	*ret = call;
	return 1;
}

int fah_task_call(struct fah_task *t, struct fah_call *ret)
{
	char text[256];
	ssize_t n;

	if (t->refused)
		return FAH_ERR_SYS;
	if (t->call_fd < 0)
		t->call_fd = open_file(t->pid, t->tid, "syscall");
	n = t->call_fd < 0 ? -1 : pread(t->call_fd, text, sizeof(text) - 1, 0);
	if (n <= 0) {
		t->refused = true; /* rights don't come back; nor does who is gone */
		return FAH_ERR_SYS;
	}
	text[n] = 0;
	return parse_call(text, ret);
}

/* Start times count from boot, with the time that the machine slept. */
static uint64_t boot_to_mono(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), ns = ticks * (1000000000u / (hz ? hz : 100));
	struct timespec boot, mono;
	int64_t asleep;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	asleep = (boot.tv_sec - mono.tv_sec) * 1000000000ll + (boot.tv_nsec - mono.tv_nsec);
	return asleep > 0 && (uint64_t)asleep < ns ? ns - (uint64_t)asleep : ns;
}

int fah_task_place(uint32_t pid, uint32_t tid, char ret[FAH_TASK_NAME])
{
	int fd = open_file(pid, tid, "wchan");
	ssize_t n = fd < 0 ? -1 : read(fd, ret, FAH_TASK_NAME - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return FAH_ERR_SYS;
	ret[n] = 0;
	return 0;
}

int fah_task_info(uint32_t pid, uint32_t tid, struct fah_task_info *ret)
{
	char text[1024], *name, *p;
	size_t len;
	int fd = open_file(pid, tid, "stat");
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return FAH_ERR_SYS;
	text[n] = 0;
	name = strchr(text, '(');
	p = strrchr(text, ')'); /* the name may hold any character */
	if (!name || !p || p < name || p[1] != ' ')
		return FAH_ERR_SYS;
	len = (size_t)(p - name - 1);
	if (len >= sizeof(ret->name))
		len = sizeof(ret->name) - 1;
	memcpy(ret->name, name + 1, len);
	ret->name[len] = 0;
	ret->state = p[2];
	/* the state is field 3, the start field 22 */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	ret->start_mono_ns = p ? boot_to_mono(strtoull(p, NULL, 10)) : 0;
	return 0;
}

int fah_tasks_open(uint32_t pid)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

uint32_t fah_tasks_count(int fd)
{
	struct stat st;

	/* . and .. and one for each thread */
	return fstat(fd, &st) == 0 && st.st_nlink > 2 ? (uint32_t)st.st_nlink - 2 : 0;
}

struct entry64 {
	uint64_t ino;
	int64_t off;
	uint16_t len;
	uint8_t type;
	char name[];
};

size_t fah_tasks_list(int fd, uint32_t *ret, size_t max)
{
	_Alignas(8) char buf[8192];
	size_t n = 0;
	long got;

	/* not opendir: it would need a new descriptor each time */
	if (lseek(fd, 0, SEEK_SET) < 0)
		return 0;
	while ((got = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < got;) {
			const struct entry64 *e = (const void *)(buf + at);
			unsigned long tid = strtoul(e->name, NULL, 10);

			if (tid && n < max)
				ret[n++] = (uint32_t)tid;
			at += e->len;
		}
	return n;
}

bool fah_process_cpu(uint32_t pid, uint64_t *ret_ns)
{
	/* the kernel's encoding of a process's CPU clock */
	clockid_t clock = (clockid_t)(~pid << 3 | 2u);
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		return false;
	*ret_ns = fah_timespec_ns(ts);
	return true;
}
