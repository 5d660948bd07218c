/*
 * watching.h - the threads of one process as they come and go, each with its account of time. What
 * they wait for is waits.c's to find out; only that uses this. One thread.
 */
#ifndef FAH_COLLECT_WATCHING_H
#define FAH_COLLECT_WATCHING_H

#include "capture/writer.h"
#include "collect/account.h"
#include "collect/drain.h"
#include "collect/outside.h"
#include "collect/process.h"
#include "target/memory.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_watched {
	struct fah_task *task; /* the process's */
	struct fah_account account;
	struct fah_outside_thread python;
	uint64_t look_ns;  /* not before this */
	uint64_t again_ns; /* blocked without a stack: try again then */
	uint32_t tries;	   /* left */
	bool gone, listed;
	bool told;   /* the thread has told of its end itself: nothing is left to find out */
	bool unread; /* it has moved */
};

struct fah_watching {
	struct fah_watching *next;
	struct fah_collected *p; /* borrowed from the drain */
	struct fah_writer *w;	 /* borrowed */
	uint64_t run_start_ns;
	uint32_t pid;
	bool over; /* its end is written */
	int tasks_fd;
	uint32_t n_tasks, n_young; /* those known; of the list, too young to be */
	uint64_t cpu_ns, listed_ns;
	struct fah_mem mem;
	struct fah_outside *outside; /* NULL: no stacks from this one */
	struct fah_watched *threads;
	size_t n;
	struct fah_account *ended; /* gone, and their own word of it is not here yet */
	size_t n_ended, cap_ended;
};

/* p and w are borrowed. NULL: no memory. The caller owns it. */
struct fah_watching *fah_watching_new(struct fah_collected *p, struct fah_writer *w,
				      uint64_t run_start_ns);
void fah_watching_free(struct fah_watching *g);

/* New threads are met, and those that the kernel has no more have ended. */
void fah_watching_list(struct fah_watching *g, uint64_t now);
/* Its own word is to come with the next cycle, or with its process's end. */
void fah_watching_end_thread(struct fah_watching *g, struct fah_watched *t, uint64_t now);
/* A thread's own word of its end. */
void fah_watching_told(struct fah_watching *g, const struct fah_thread_word *word);
/* The process has ended; */
void fah_watching_end_all(struct fah_watching *g, uint64_t now);
/* and the accounts of those whose own word will not come are written. */
void fah_watching_write_ended(struct fah_watching *g);

#endif
