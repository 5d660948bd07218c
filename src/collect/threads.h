/*
 * threads.h - the threads of one process, each one thread of the capture, whoever met it first: its
 * agent (which knows when it began) or the kernel's list (which knows it to 10 ms).
 */
#ifndef FAH_COLLECT_THREADS_H
#define FAH_COLLECT_THREADS_H

#include "capture/writer.h"

#include <stddef.h>
#include <stdint.h>

struct fah_thread_known {
	uint32_t tid, id;	 /* the kernel's, the capture's */
	uint64_t agent_start_ns; /* as its agent says, monotonic; 0: it has not spoken of it */
	uint64_t kernel_start_ns;
	uint64_t end_ns; /* when it was found gone; 0: it was not */
};

struct fah_threads {
	struct fah_thread_known *list;
	size_t n, cap;
};

/* Who it is and how it is to be defined, where it is new. Times are of the monotonic clock. */
struct fah_thread_seen {
	struct fah_writer *w;
	uint32_t process; /* the capture's */
	uint64_t run_start_ns;
	uint32_t tid;
	uint64_t start_ns;
	const char *name;
	size_t name_len;
};

/* The capture's id, 0: no memory. By its agent: start_ns is what the agent wrote, always the same.
 */
uint32_t fah_threads_of_agent(struct fah_threads *t, const struct fah_thread_seen *seen);
/* Of the kernel's list. kernel_start_ns may be 10 ms early; seen->start_ns is for the capture. */
uint32_t fah_threads_of_kernel(struct fah_threads *t, const struct fah_thread_seen *seen,
			       uint64_t kernel_start_ns);
/* One that the capture has from an earlier collector; start_ns as the capture has it. */
void fah_threads_known(struct fah_threads *t, uint32_t tid, uint32_t id, uint64_t start_ns);
/* It is gone: from now on its tid is somebody else's. */
void fah_threads_ended(struct fah_threads *t, uint32_t id, uint64_t now_ns);
void fah_threads_release(struct fah_threads *t);

#endif
