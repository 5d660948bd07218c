/*
 * call.c - see call.h. The one table from system calls to reasons.
 *
 * A number that is not in it and a state that only the kernel knows are unknown: never guessed.
 */
#include "target/call.h"

#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>

#define MAX_POLLED 256u

/* How a call's arguments tell what it waits for. */
enum kind {
	K_NONE = 0,
	K_FUTEX, /* address first */
	K_SLEEP,
	K_CHILD,
	K_DISK,
	K_SOCKET,
	K_LOCK,
	K_FD,	   /* a descriptor first */
	K_TWO_FDS, /* sendfile: the first two */
	K_SPLICE,  /* the first and the third */
	K_POLL,	   /* array, count, timeout */
	K_SELECT,  /* count, three sets, timeout */
	K_EPOLL,   /* descriptor, …, timeout in ms fourth */
	K_FCNTL,   /* a lock on a file waits, other commands don't */
	K_OPEN,	   /* of a file, or of a FIFO that nobody has at its other end */
};

static const struct {
	uint16_t nr;
	uint8_t kind;
} table[] = {
	{SYS_futex, K_FUTEX},
#ifdef SYS_futex_wait
	{SYS_futex_wait, K_FUTEX},
#endif
#ifdef SYS_futex_waitv
	{SYS_futex_waitv, K_LOCK},
#endif
	{SYS_nanosleep, K_SLEEP},
	{SYS_clock_nanosleep, K_SLEEP},

	{SYS_wait4, K_CHILD},
	{SYS_waitid, K_CHILD},
#ifdef SYS_vfork
	{SYS_vfork, K_CHILD}, /* the parent stands still until the child has begun its program */
#endif
	{SYS_clone, K_CHILD},
#ifdef SYS_clone3
	{SYS_clone3, K_CHILD},
#endif

	{SYS_accept, K_SOCKET},
	{SYS_accept4, K_SOCKET},
	{SYS_connect, K_SOCKET},
	{SYS_recvfrom, K_SOCKET},
	{SYS_recvmsg, K_SOCKET},
	{SYS_recvmmsg, K_SOCKET},
	{SYS_sendto, K_SOCKET},
	{SYS_sendmsg, K_SOCKET},
	{SYS_sendmmsg, K_SOCKET},
	{SYS_shutdown, K_SOCKET},

	{SYS_read, K_FD},
	{SYS_write, K_FD},
	{SYS_readv, K_FD},
	{SYS_writev, K_FD},
	{SYS_pread64, K_FD},
	{SYS_pwrite64, K_FD},
	{SYS_preadv, K_FD},
	{SYS_pwritev, K_FD},
	{SYS_preadv2, K_FD},
	{SYS_pwritev2, K_FD},
	{SYS_ioctl, K_FD},
	{SYS_close, K_FD},
	{SYS_vmsplice, K_FD},
	{SYS_sendfile, K_TWO_FDS},
	{SYS_tee, K_TWO_FDS},
	{SYS_splice, K_SPLICE},
	{SYS_copy_file_range, K_DISK},

#ifdef SYS_poll
	{SYS_poll, K_POLL},
#endif
	{SYS_ppoll, K_POLL},
#ifdef SYS_select
	{SYS_select, K_SELECT},
#endif
	{SYS_pselect6, K_SELECT},
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, K_EPOLL},
#endif
	{SYS_epoll_pwait, K_EPOLL},
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, K_EPOLL},
#endif

	{SYS_flock, K_LOCK},
	{SYS_semop, K_LOCK},
	{SYS_semtimedop, K_LOCK},
	{SYS_fcntl, K_FCNTL},

	{SYS_fsync, K_DISK},
	{SYS_fdatasync, K_DISK},
	{SYS_sync, K_DISK},
	{SYS_syncfs, K_DISK},
	{SYS_sync_file_range, K_DISK},
	{SYS_msync, K_DISK},
	{SYS_fallocate, K_DISK},
	{SYS_ftruncate, K_DISK},
	{SYS_truncate, K_DISK},
	{SYS_getdents64, K_DISK},
	{SYS_openat, K_OPEN},
#ifdef SYS_openat2
	{SYS_openat2, K_OPEN},
#endif
	{SYS_newfstatat, K_DISK},
	{SYS_statx, K_DISK},
	{SYS_fstat, K_DISK},
	{SYS_unlinkat, K_DISK},
	{SYS_renameat, K_DISK},
	{SYS_renameat2, K_DISK},
	{SYS_mkdirat, K_DISK},
	{SYS_linkat, K_DISK},
	{SYS_symlinkat, K_DISK},
	{SYS_readlinkat, K_DISK},
	{SYS_faccessat, K_DISK},
	{SYS_execve, K_DISK},
#ifdef SYS_open
	{SYS_open, K_OPEN},
	{SYS_creat, K_OPEN},
	{SYS_stat, K_DISK},
	{SYS_lstat, K_DISK},
	{SYS_access, K_DISK},
	{SYS_unlink, K_DISK},
	{SYS_rename, K_DISK},
	{SYS_mkdir, K_DISK},
	{SYS_rmdir, K_DISK},
	{SYS_link, K_DISK},
	{SYS_symlink, K_DISK},
	{SYS_readlink, K_DISK},
#endif
};

static enum kind kind_of(int64_t nr)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].nr == nr)
			return (enum kind)table[i].kind;
	return K_NONE;
}

bool fah_call_futex(const struct fah_call *call, uint64_t *ret_addr)
{
	if (kind_of(call->nr) != K_FUTEX)
		return false;
	*ret_addr = call->args[0];
	return true;
}

bool fah_call_is_agents(const struct fah_call *call)
{
	return call->nr == SYS_clone && (call->args[0] & FAH_OWN_CLONE) == FAH_OWN_CLONE;
}

static enum fah_wait poll_reason(uint32_t pid, const struct fah_mem *mem,
				 const struct fah_call *call)
{
	struct pollfd fds[MAX_POLLED];
	uint64_t n = call->args[1];
	enum fah_wait found = FAH_WAIT_UNKNOWN;
	bool any = false;

	if (n > MAX_POLLED)
		n = MAX_POLLED;
	if (n && fah_load(mem, call->args[0], fds, n * sizeof(fds[0])) < 0)
		return FAH_WAIT_UNKNOWN;
	for (uint64_t i = 0; i < n; i++)
		if (fds[i].fd >= 0) { /* the kernel leaves out the others */
			found = fah_wait_stronger(found, fah_fd_reason(pid, fds[i].fd));
			any = true;
		}
	return any ? found : FAH_WAIT_SLEEP;
}

static enum fah_wait select_reason(uint32_t pid, const struct fah_mem *mem,
				   const struct fah_call *call)
{
	int64_t n = (int32_t)call->args[0];
	enum fah_wait found = FAH_WAIT_UNKNOWN;
	uint8_t set[FD_SETSIZE / 8];
	bool any = false;

	if (n > FD_SETSIZE)
		n = FD_SETSIZE;
	for (int s = 1; s <= 3 && n > 0; s++) {
		if (!call->args[s])
			continue;
		if (fah_load(mem, call->args[s], set, ((size_t)n + 7) / 8) < 0)
			return FAH_WAIT_UNKNOWN;
		for (int64_t fd = 0; fd < n; fd++)
			if (set[fd / 8] >> (fd % 8) & 1) {
				found = fah_wait_stronger(found, fah_fd_reason(pid, fd));
				any = true;
			}
	}
	return any ? found : FAH_WAIT_SLEEP;
}

static enum fah_wait epoll_reason(uint32_t pid, const struct fah_call *call)
{
	bool timed = (int32_t)call->args[3] >= 0;

#ifdef SYS_epoll_pwait2
	if (call->nr == SYS_epoll_pwait2) /* a pointer to a time, or none */
		timed = call->args[3] != 0;
#endif
	return fah_epoll_reason(pid, (int32_t)call->args[0], timed);
}

/* By the kernel's function: to look the path up ourselves could block as this thread is blocked. */
static enum fah_wait open_reason(uint32_t pid, uint32_t tid)
{
	char place[FAH_TASK_NAME];

	return fah_task_place(pid, tid, place) == 0 &&
			       (!strcmp(place, "wait_for_partner") || !strcmp(place, "fifo_open"))
		       ? FAH_WAIT_PIPE
		       : FAH_WAIT_DISK;
}

enum fah_wait fah_call_reason(uint32_t pid, uint32_t tid, const struct fah_mem *mem,
			      const struct fah_call *call)
{
	if (call->nr == -1)
		return FAH_WAIT_DISK; /* a page that is read in */
	switch (kind_of(call->nr)) {
	case K_FUTEX:
	case K_LOCK:
		return FAH_WAIT_LOCK;
	case K_SLEEP:
		return FAH_WAIT_SLEEP;
	case K_CHILD:
		return FAH_WAIT_CHILD;
	case K_DISK:
		return FAH_WAIT_DISK;
	case K_SOCKET:
		return FAH_WAIT_SOCKET;
	case K_FD:
		return fah_fd_reason(pid, (int32_t)call->args[0]);
	case K_TWO_FDS:
		return fah_wait_stronger(fah_fd_reason(pid, (int32_t)call->args[0]),
					 fah_fd_reason(pid, (int32_t)call->args[1]));
	case K_SPLICE:
		return fah_wait_stronger(fah_fd_reason(pid, (int32_t)call->args[0]),
					 fah_fd_reason(pid, (int32_t)call->args[2]));
	case K_POLL:
		return poll_reason(pid, mem, call);
	case K_SELECT:
		return select_reason(pid, mem, call);
	case K_EPOLL:
		return epoll_reason(pid, call);
	case K_FCNTL: /* F_SETLKW, F_OFD_SETLKW */
		return call->args[1] == 7 || call->args[1] == 38 ? FAH_WAIT_LOCK : FAH_WAIT_UNKNOWN;
	case K_OPEN:
		return open_reason(pid, tid);
	case K_NONE:
		break;
	}
	return FAH_WAIT_UNKNOWN;
}
