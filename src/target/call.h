/*
 * call.h - what a blocked thread waits for, by the system call that it is in.
 */
#ifndef FAH_TARGET_CALL_H
#define FAH_TARGET_CALL_H

#include "core/load.h"
#include "core/segment.h"
#include "target/task.h"

#include <stdbool.h>

/* Whether the call waits for a futex, and at which address: a lock, the interpreter's own too. */
bool fah_call_futex(const struct fah_call *call, uint64_t *ret_addr);

/* Whether it stands still for a thread of the agent's own (agent/apart.c), not for anything that
 * the program waits for. */
bool fah_call_is_agents(const struct fah_call *call);

/*
 * The reason; futexes are FAH_WAIT_LOCK. mem reads the process (sets of descriptors); what it
 * cannot read, and what no table knows, is FAH_WAIT_UNKNOWN. tid is in that call now.
 */
enum fah_wait fah_call_reason(uint32_t pid, uint32_t tid, const struct fah_mem *mem,
			      const struct fah_call *call);

/* fds.c: by what an open descriptor of pid is. */
enum fah_wait fah_fd_reason(uint32_t pid, int64_t fd);
/* The same of an epoll's targets; timed: the wait ends by itself. */
enum fah_wait fah_epoll_reason(uint32_t pid, int64_t fd, bool timed);
/* Of two descriptors that are waited for at once: the one to be named. */
enum fah_wait fah_wait_stronger(enum fah_wait a, enum fah_wait b);

#endif
