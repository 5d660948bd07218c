/*
 * outside.h - the Python side of a blocked thread, read from another process's memory.
 *
 * The reader has no way to stop the thread: a stack counts only if the caller proves afterwards
 * that the thread did not run meanwhile (fah_outside_accept), else it is forgotten with all that
 * was learnt from it.
 */
#ifndef FAH_COLLECT_OUTSIDE_H
#define FAH_COLLECT_OUTSIDE_H

#include "capture/writer.h"
#include "core/load.h"
#include "core/segment.h"
#include "target/task.h"

#include <stdbool.h>
#include <stdint.h>

struct fah_outside; /* opaque; one for each process */

/* What is remembered of a thread, as long as it lives; zero it first. */
struct fah_outside_thread {
	uint64_t pthread_id; /* 0: not known, or it has nothing to do with Python */
	uint64_t tstate;     /* the one it runs in */
	uint64_t asked_ns;   /* when the lists were last searched for it in vain */
};

/* NULL: no memory, an interpreter that cannot be read, or a kernel that does not let us. */
struct fah_outside *fah_outside_new(const struct fah_segment_head *head);
void fah_outside_free(struct fah_outside *o); /* NULL is fine */

const struct fah_mem *fah_outside_mem(const struct fah_outside *o);

/* Walk the Python stack of thread tid, blocked in call. 0: it may have no frame. FAH_ERR_DOUBT: no
 * stack. */
int fah_outside_walk(struct fah_outside *o, uint32_t tid, const struct fah_call *call,
		     struct fah_outside_thread *t, uint64_t now_ns);

/* Whether a futex is part of the GIL that this thread takes. FAH_ERR_FAULT: it cannot be told. */
int fah_outside_is_gil(const struct fah_outside *o, const struct fah_outside_thread *t,
		       uint64_t futex);

/* The thread never ran since before the walk: the stack is true. A node of w, 0: no frame. */
uint32_t fah_outside_accept(struct fah_outside *o, struct fah_writer *w);
/* It did. */
void fah_outside_reject(struct fah_outside *o);

#endif
