/*
 * task_files.h - the open files of threads (task.h), each once, whoever reads it: of a program with
 * 1,000 threads they are most of the descriptors that we have. Tool side, one thread.
 */
#ifndef FAH_TARGET_TASK_FILES_H
#define FAH_TARGET_TASK_FILES_H

#include "target/task.h"

struct fah_task_files { /* of one process; {0}: none */
	struct held **buckets;
	size_t n;
};

/* To be given back. NULL: it is gone, or no memory; where descriptors are out, more are asked for.
 */
struct fah_task *fah_task_take(struct fah_task_files *files, uint32_t pid, uint32_t tid);
void fah_task_give(struct fah_task_files *files, struct fah_task *task); /* NULL is fine */

#endif
