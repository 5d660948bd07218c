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

/* Bytes copied to `to` before the first that could not be, or a negative errno. */
static long copy_pieces(const struct fah_piece *pieces, int n, void *to, size_t total)
{
	struct iovec from[FAH_PIECES_MAX], target = {to, total};
	long got;

	for (int i = 0; i < n; i++) {
		from[i].iov_base = (void *)(uintptr_t)pieces[i].addr;
		from[i].iov_len = pieces[i].len;
	}
	got = FAH_SYS6(SYS_process_vm_writev, own_pid(), from, n, &target, 1, 0);
	if (got == -ESRCH) /* the first thread, whose number the pid is, has ended before us */
		got = FAH_SYS6(SYS_process_vm_writev, FAH_SYS0(SYS_gettid), from, n, &target, 1, 0);
	return got;
}

/* One piece, straight to where it is wanted. */
static int read_one(const struct fah_piece *piece)
{
	long got = copy_pieces(piece, 1, piece->dst, piece->len);

	if (got == -ENOSYS || got == -EPERM || got == -EACCES) /* a sandbox */
		return probed_copy(piece);
	return got == (long)piece->len;
}

int fah_load_gather(const struct fah_piece *pieces, int n, void *to, size_t total)
{
	long got = copy_pieces(pieces, n, to, total);
	int i;

	if (got == -ENOSYS || got == -EPERM || got == -EACCES)
		return -1;
	for (i = 0; i < n && got >= (long)pieces[i].len; i++)
		got -= (long)pieces[i].len;
	return i;
}

/* All by one system call, through room; what cannot be read that way is left to read_one. */
static int gather(uint8_t *room, const struct fah_piece *pieces, int n)
{
	size_t total = 0;
	int i, got;

	for (i = 0; i < n; i++)
		total += pieces[i].len;
	if (total > FAH_LOAD_ROOM)
		return 0;
	got = fah_load_gather(pieces, n, room, total);
	for (i = 0; i < got; i++) {
		memcpy(pieces[i].dst, room, pieces[i].len);
		room += pieces[i].len;
	}
	return i;
}

static int read_self(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	int done = 0;

	if (n > FAH_PIECES_MAX)
		n = FAH_PIECES_MAX;
	if (n > 1 && mem->ctx)
		done = gather((uint8_t *)(uintptr_t)mem->ctx, pieces, n);
	while (done < n && read_one(&pieces[done]))
		done++;
	return done;
}

const struct fah_mem fah_mem_self = {.read = read_self};

static int read_plain(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	(void)mem;
	for (int i = 0; i < n; i++)
		memcpy(pieces[i].dst, (const void *)(uintptr_t)pieces[i].addr, pieces[i].len);
	return n;
}

const struct fah_mem fah_mem_plain = {.read = read_plain};
