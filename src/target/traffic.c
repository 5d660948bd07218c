/* traffic.c - see traffic.h. A child that was waited for is in its parent's account. */
#include "target/traffic.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "target/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 10)
#define PROCESSES_MAX 256 /* more is not worth the time */
#define THREADS_MAX 1024

/* Processes that are still to be asked. */
struct queue {
	uint32_t pids[PROCESSES_MAX];
	size_t n;
};

static bool number_behind(const char *text, const char *label, uint64_t *ret)
{
	const char *at = strstr(text, label);

	if (at)
		*ret = strtoull(at + strlen(label), NULL, 10);
	return at != NULL;
}

static bool add_bytes(uint32_t pid, struct fah_traffic *sum)
{
	_cleanup_(fah_freep) char *text = NULL;
	uint64_t in, out;
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/io", pid);
	if (fah_file_read(path, FILE_MAX, &text, &len) < 0 ||
	    !number_behind(text, "rchar: ", &in) || !number_behind(text, "wchar: ", &out))
		return false;
	sum->in += in;
	sum->out += out;
	return true;
}

static bool add_children(struct queue *q, uint32_t pid, uint32_t tid)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[64], *p, *end;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/children", pid, tid);
	if (fah_file_read(path, FILE_MAX, &text, &len) < 0)
		return false; /* a kernel without this list, or a thread that has just ended */
	for (p = text;; p = end) {
		uint32_t child = (uint32_t)strtoul(p, &end, 10);

		if (end == p)
			return true;
		if (q->n == PROCESSES_MAX)
			return false;
		q->pids[q->n++] = child;
	}
}

static bool add_descendants(struct queue *q, uint32_t pid)
{
	uint32_t tids[THREADS_MAX];
	_cleanup_(fah_closep) int fd = fah_tasks_open(pid);
	size_t n = fd < 0 ? 0 : fah_tasks_list(fd, tids, THREADS_MAX);

	if (!n || n == THREADS_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!add_children(q, pid, tids[i]))
			return false;
	return true;
}

bool fah_traffic(uint32_t pid, struct fah_traffic *ret)
{
	struct queue q = {.pids = {pid}, .n = 1};

	*ret = (struct fah_traffic){0};
	for (size_t i = 0; i < q.n; i++)
		if (!add_bytes(q.pids[i], ret) || !add_descendants(&q, q.pids[i]))
			return false;
	return true;
}
