/*
 * heap_batch.h - a batch of blocks that have come and gone (--exact): one thread's, written as one
 * record (FAH_SEG_BLOCKS). By its own thread, which lets no handler in; no system call, no lock and
 * no atomic operation on the way of most events.
 */
#ifndef FAH_AGENT_HEAP_BATCH_H
#define FAH_AGENT_HEAP_BATCH_H

#include "agent/heap_sites.h"

#define FAH_BATCH_ROOM 6144u /* bytes of events */
#define FAH_BATCH_SITES 256u

struct fah_batch {
	uint32_t next; /* the number that the next block gets; the caller's while it is closed */
	bool open, due;
	uint32_t len, n_events, first;
	uint32_t number; /* of the batch: counts up */
	uint32_t n_sites, n_defs;
	uint64_t begin_ns, time_ns, held;
	uint64_t ticks;
	uint32_t looks;
	/* the part of a chunk that nodes are defined in */
	uint32_t gen, n_local, order;
	const struct fah_chunk *chunk;
	/* What is asked for where: most blocks are like one of before. */
	struct fah_batch_shape {
		uint64_t bytes;
		uint32_t node, kind;
	} shapes[FAH_BLOCKS_SHAPES];
	uint8_t events[FAH_BATCH_ROOM];
	uint32_t sites[FAH_BATCH_SITES];
	uint32_t stack[FAH_PY_MAX_FRAMES];
	struct fah_sites tree; /* whose nodes it names */
};

/* Before its first use, also of memory that another thread used. */
void fah_batch_reset(struct fah_batch *b);

/* A block of node's, which gets the number `next`. False: it is lost. */
bool fah_batch_take(struct fah_batch *b, uint32_t node, uint64_t bytes, uint32_t kind);
/* A block goes; number 0: one that was never told. */
void fah_batch_give(struct fah_batch *b, uint32_t number, uint64_t bytes);

/* Written where it is large enough; one that cannot be written is lost when it is full. */
void fah_batch_relieve(struct fah_batch *b);
/* Written, and closed, where it has anything. False: it is as before. */
bool fah_batch_flush(struct fah_batch *b);
/* Likewise; what cannot be written is lost, and counted. Numbers and nodes may change now. */
void fah_batch_finish(struct fah_batch *b);
/* An empty one, which says that the program has ended. */
void fah_batch_end(struct fah_batch *b);
/* Written by t, whose chunk is ours to write to; the batch is as before. False: no room. */
bool fah_batch_write(struct fah_batch *b, struct fah_thread_state *t);
bool fah_batch_has_waited(const struct fah_batch *b);
void fah_batch_close(struct fah_batch *b); /* nothing that was in it stays */

#endif
