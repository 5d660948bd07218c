/* task_files.c - see task_files.h. */
#include "target/task_files.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS 256u

struct held {
	struct fah_task task; /* first: its address is ours */
	uint32_t users;
	struct held *next;
};

static int open_task(struct fah_task *task, uint32_t pid, uint32_t tid)
{
	int err = fah_task_open(task, pid, tid);

	if (err == 0 || errno != EMFILE)
		return err;
	fah_files_more();
	return fah_task_open(task, pid, tid);
}

/* A number may be another thread's by now, while somebody still has the files of the one before. */
static bool is_alive(struct held *held)
{
	struct fah_sched sched;

	return fah_task_sched(&held->task, &sched) == 0;
}

static void free_unused(struct fah_task_files *files)
{
	if (files->n)
		return;
	free(files->buckets);
	files->buckets = NULL;
}

struct fah_task *fah_task_take(struct fah_task_files *files, uint32_t pid, uint32_t tid)
{
	struct held *held, **bucket;

	if (!files->buckets)
		files->buckets = calloc(BUCKETS, sizeof(struct held *));
	if (!files->buckets)
		return NULL;
	bucket = &files->buckets[tid % BUCKETS];
	for (held = *bucket; held; held = held->next) {
		if (held->task.tid != tid || !is_alive(held))
			continue;
		held->users++;
		return &held->task;
	}
	held = calloc(1, sizeof(*held));
	if (!held || open_task(&held->task, pid, tid) < 0) {
		free(held);
		free_unused(files);
		return NULL;
	}
	held->users = 1;
	held->next = *bucket;
	*bucket = held;
	files->n++;
	return &held->task;
}

void fah_task_give(struct fah_task_files *files, struct fah_task *task)
{
	struct held *held = (struct held *)task, **at;

	if (!held || --held->users)
		return;
	for (at = &files->buckets[task->tid % BUCKETS]; *at != held; at = &(*at)->next)
		;
	*at = held->next;
	fah_task_close(&held->task);
	free(held);
	files->n--;
	free_unused(files);
}
