/*
 * load.h - loads that cannot fault. Runs inside the target's signal handler.
 *
 * The kernel copies (process_vm_writev on ourselves): a bad address is an error code, never a
 * SIGSEGV, also when another thread unmaps the page at that moment. Where a sandbox refuses that
 * call, each page is probed with a system call that only looks at it, and then read.
 */
#ifndef FAH_CORE_LOAD_H
#define FAH_CORE_LOAD_H

#include <stddef.h>
#include <stdint.h>

/* One piece of a batch: len bytes from addr to dst. */
struct fah_piece {
	void *dst;
	uint64_t addr;
	size_t len;
};

#define FAH_PIECES_MAX 64 /* bounds the stack that a handler needs */

/*
 * How src/cpython reads memory: from our own process, from another, or from a test's image.
 * read() copies the pieces in order and returns how many were copied whole before the first that
 * could not be; n <= FAH_PIECES_MAX. ctx is the reader's own.
 */
struct fah_mem {
	int (*read)(const struct fah_mem *mem, const struct fah_piece *pieces, int n);
	uint64_t ctx;
};

/*
 * Reads this very process; safe in a signal handler, no allocation, errno untouched. A copy whose
 * ctx is the address of FAH_LOAD_ROOM bytes (one for each thread) reads batches several times
 * faster.
 */
extern const struct fah_mem fah_mem_self;
#define FAH_LOAD_ROOM 16384

/* Plain loads of this process: the caller knows that all of it is there, and stays. */
extern const struct fah_mem fah_mem_plain;

/* This process's pid, which saves a system call a load; 0: ask each time. Set it anew after a fork.
 */
void fah_mem_self_pid(uint32_t pid);

/*
 * All pieces of this process into `to`, one behind the other (their dst is not used; total is the
 * sum of their lengths), by one system call. How many are whole before the first that could not be
 * read; -1: a sandbox refuses the call.
 */
int fah_load_gather(const struct fah_piece *pieces, int n, void *to, size_t total);

/* 0 or FAH_ERR_FAULT. */
static inline int fah_load(const struct fah_mem *mem, uint64_t addr, void *dst, size_t len)
{
	struct fah_piece piece = {dst, addr, len};

	return mem->read(mem, &piece, 1) == 1 ? 0 : -7;
}

#endif
