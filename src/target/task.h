/*
 * task.h - one thread of another process, as /proc shows it: what it used, and the system call in
 * which it is blocked. Files stay open, so that a reading costs one system call. The thread may
 * vanish at any moment.
 */
#ifndef FAH_TARGET_TASK_H
#define FAH_TARGET_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The scheduler's account of a thread since its start. */
struct fah_sched {
	uint64_t cpu_ns, ready_ns; /* on a core; waiting for one */
	uint64_t slices; /* how often it was given a core: equal means it never ran meanwhile */
};

/* The system call of a blocked thread. nr is -1 outside of any: a page fault. */
struct fah_call {
	int64_t nr;
	uint64_t args[6];
	uint64_t sp, pc;
};

struct fah_task {
	uint32_t pid, tid;
	int sched_fd, call_fd; /* call_fd -1: not opened yet, or refused */
	bool refused;	       /* the kernel does not show us its system call */
	/* the last account that anybody read, and how many were */
	struct fah_sched last;
	uint32_t readings;
};

/* 0 or FAH_ERR_SYS. */
int fah_task_open(struct fah_task *t, uint32_t pid, uint32_t tid);
void fah_task_close(struct fah_task *t);

/* 0; FAH_ERR_SYS: it is gone; FAH_ERR_FORMAT: a kernel without this account. */
int fah_task_sched(struct fah_task *t, struct fah_sched *ret);

/* 1: *ret is where it is blocked. 0: it runs, or wants to. FAH_ERR_SYS: refused or gone. */
int fah_task_call(struct fah_task *t, struct fah_call *ret);

#define FAH_TASK_NAME 64

/* What changes seldom. state is the kernel's letter: R, S, D, Z … */
struct fah_task_info {
	char state;
	char name[FAH_TASK_NAME];
	uint64_t start_mono_ns; /* rounded down to the kernel's 10 ms */
};
int fah_task_info(uint32_t pid, uint32_t tid, struct fah_task_info *ret); /* 0 or FAH_ERR_SYS */

/* The kernel's function in which it is blocked. FAH_ERR_SYS: not shown to us, or gone. */
int fah_task_place(uint32_t pid, uint32_t tid, char ret[FAH_TASK_NAME]);

/* The threads of a process: an open folder. -1 where it is gone. */
int fah_tasks_open(uint32_t pid);
/* How many there are: cheap. 0: gone. */
uint32_t fah_tasks_count(int fd);
/* Their tids into ret, at most max; how many. */
size_t fah_tasks_list(int fd, uint32_t *ret, size_t max);

/* The CPU of all threads of a process, ns, to the nanosecond; false: gone. */
bool fah_process_cpu(uint32_t pid, uint64_t *ret_ns);

#endif
