/*
 * load.c - see load.h. Signal-handler safe: raw system calls only.
 *
 * process_vm_writev on ourselves, not readv: the side that the kernel calls local is copied with
 * its plain fault-tolerant copy, the remote side has its pages looked up and pinned. With what we
 * don't trust as the local side and our own room as the remote one, 24 pieces cost 3.4 us instead
 * of 15.
 */
#include "core/load.h"

#include "core/sys.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE 4096ul

static _Atomic uint32_t self_pid;

/* rt_sigprocmask with an impossible `how` reads the new mask first: EFAULT or EINVAL, no effect. */
static int readable(uint64_t addr)
{
	return FAH_SYS4(SYS_rt_sigprocmask, ~0l, addr, 0, 8) != -EFAULT;
}

static int probed_copy(const struct fah_piece *piece)
{
	uint64_t page, last = (piece->addr + piece->len - 1) & ~(PAGE - 1);

	if (piece->addr < PAGE || piece->addr + piece->len < piece->addr)
		return 0; /* the probe takes address 0 for "no mask given" */
	for (page = piece->addr & ~(PAGE - 1); page <= last; page += PAGE)
		if (page > UINT64_MAX - PAGE || !readable(page))
			return 0;
	memcpy(piece->dst, (const void *)(uintptr_t)piece->addr, piece->len);
	return 1;
}

/* Remembered where the caller vouches for it: a system call for each load would double the cost of
 * small ones. */
static long own_pid(void)
{
	uint32_t pid = atomic_load_explicit(&self_pid, memory_order_relaxed);

	return pid ? (long)pid : FAH_SYS0(SYS_getpid);
}

void fah_mem_self_pid(uint32_t pid)
{
	atomic_store(&self_pid, pid);
}

/* Bytes copied before the first that could not be, or a negative errno. */
static long copy_pieces(const struct fah_piece *pieces, int n, struct iovec *to, int n_to)
{
	struct iovec from[FAH_PIECES_MAX];

	for (int i = 0; i < n; i++) {
		from[i].iov_base = (void *)(uintptr_t)pieces[i].addr;
		from[i].iov_len = pieces[i].len;
	}
	return FAH_SYS6(SYS_process_vm_writev, own_pid(), from, n, to, n_to, 0);
}

static int whole_pieces(const struct fah_piece *pieces, int n, long got)
{
	int i;

	for (i = 0; i < n && got >= (long)pieces[i].len; i++)
		got -= (long)pieces[i].len;
	return i;
}

static int read_self(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct iovec to[FAH_PIECES_MAX];
	uint8_t *room = (uint8_t *)(uintptr_t)mem->ctx;
	size_t total = 0;
	bool gather;
	long got;
	int i, done;

	if (n > FAH_PIECES_MAX)
		n = FAH_PIECES_MAX;
	for (i = 0; i < n; i++) {
		to[i].iov_base = pieces[i].dst;
		to[i].iov_len = pieces[i].len;
		total += pieces[i].len;
	}
	gather = n > 1 && room && total <= FAH_LOAD_ROOM;
	if (gather)
		to[0] = (struct iovec){room, total};
	got = copy_pieces(pieces, n, to, gather ? 1 : n);
	if (got == -ENOSYS || got == -EPERM || got == -EACCES) { /* a sandbox */
		for (i = 0; i < n && probed_copy(&pieces[i]); i++)
			;
		return i;
	}
	done = whole_pieces(pieces, n, got);
	for (i = 0; gather && i < done; room += pieces[i].len, i++)
		memcpy(pieces[i].dst, room, pieces[i].len);
	return done;
}

const struct fah_mem fah_mem_self = {.read = read_self};
