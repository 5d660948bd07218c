/*
 * ahead.h - loads of our own process for one thread, read ahead of the walk that wants them.
 *
 * A walk is a chain: each read says where the next one is, so each is a system call. But two
 * samples of a thread mostly meet the same memory. So what the last walk read is read again by one
 * call when the next one begins, and a read that finds its bytes there costs no call. This changes
 * only the number of calls: nothing is older than the walk's begin, and what cannot be read any
 * more is simply not there. A walk that foresees badly, over hundreds of frames on the heap in an
 * order that changes, goes on by whole pages. Runs in signal handlers; one for each thread.
 */
#ifndef FAH_CORE_AHEAD_H
#define FAH_CORE_AHEAD_H

#include "core/page_cache.h"

#define FAH_AHEAD_ROOM 12288
#define FAH_AHEAD_PIECE_MAX 4096 /* longer ones are deep stacks: other bytes each time */
#define FAH_AHEAD_MISSES 12	 /* of a walk: then by pages */

struct fah_ahead {
	struct fah_mem mem; /* for whoever walks; its ctx is this struct */
	/* private */
	struct fah_mem under;
	uint32_t n;		      /* pieces held */
	uint32_t at;		      /* where the next one wanted probably is */
	uint32_t n_next;	      /* pieces that this walk has wanted, in that order */
	uint32_t misses;	      /* loads of this walk that were not foreseen */
	struct fah_page_cache *pages; /* NULL: not needed yet, or no memory */
	struct fah_ahead_piece {
		uint64_t addr;
		uint32_t len, from; /* from: its place in held[] */
		uint32_t wanted;    /* by this walk */
	} pieces[FAH_PIECES_MAX], next[FAH_PIECES_MAX];
	uint8_t held[FAH_AHEAD_ROOM];
	uint8_t room[FAH_LOAD_ROOM];
};

/* Once, in zeroed memory; again after a fork is harmless. */
void fah_ahead_init(struct fah_ahead *a);

/* A walk begins: read what the last one read. */
void fah_ahead_begin(struct fah_ahead *a);

#endif
