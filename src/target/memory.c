/* memory.c - see memory.h. */
#include "target/memory.h"

#include <sys/types.h>
#include <sys/uio.h>

static int read_pieces(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct iovec local[FAH_PIECES_MAX], remote[FAH_PIECES_MAX];
	int whole = 0, i = 0;
	ssize_t got;

	if (n <= 0 || n > FAH_PIECES_MAX)
		return 0;
	do {
		local[i] = (struct iovec){pieces[i].dst, pieces[i].len};
		remote[i] = (struct iovec){(void *)(uintptr_t)pieces[i].addr, pieces[i].len};
	} while (++i < n);
	/* the copy ends at the first piece that cannot be read, and says how far it came */
	got = process_vm_readv((pid_t)mem->ctx, local, (unsigned long)n, remote, (unsigned long)n,
			       0);
	for (; whole < n && got >= (ssize_t)pieces[whole].len; whole++)
		got -= (ssize_t)pieces[whole].len;
	return whole;
}

struct fah_mem fah_target_mem(uint32_t pid)
{
	return (struct fah_mem){read_pieces, pid};
}
