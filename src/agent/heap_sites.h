/*
 * heap_sites.h - where a thread is, as a number: a node of its own tree of stacks. For every block
 * (--exact), so without a walk where the last one was near by.
 *
 * The thread's last chain of frames is kept with the node of each; a new chain is compared with it
 * from its root on, and only what differs is looked up. One tree for each thread: no locks, and
 * nothing to wait for. A tree that is full begins anew.
 *
 * Code objects are known by address. One that is in the cache is marked in the shadow
 * (heap_shadow.h), so that whoever frees it is heard; then every thread looks at its codes again.
 */
#ifndef FAH_AGENT_HEAP_SITES_H
#define FAH_AGENT_HEAP_SITES_H

#include "agent/agent.h"
#include "cpython/chain.h"

#define FAH_SITES_NODES 24576u
#define FAH_SITES_SLOTS 32768u /* a power of two */
#define FAH_SITES_FAR 60u      /* frames */
#define FAH_SITES_FAR_ROOM 4096u
#define FAH_SITES_CODES 2048u /* likewise */

struct fah_site {
	uint32_t parent; /* 0: none */
	uint32_t code, instr;
	uint32_t batch,
		index;	     /* the batch that has it, or something below it, and its place there */
	uint32_t gen, local; /* the part of a chunk in which it is defined, and its number there */
};

struct fah_sites {
	uint64_t epoch; /* of the codes that chain[] and codes[] were looked up by */
	uint32_t n_chain;
	struct fah_sites_frame {
		struct fah_py_link link;
		uint32_t node, code; /* code 0: no frame of the program's */
	} chain[FAH_PY_MAX_FRAMES];  /* root first */
	struct fah_py_link now[FAH_PY_MAX_FRAMES];
	struct fah_sites_code {
		uint64_t addr;
		uint64_t epoch;	 /* it was the same then */
		uint32_t number; /* the block that it is */
		uint32_t id;	 /* 0: skip */
		uint32_t firsttraceable;
	} codes[FAH_SITES_CODES];
	/* Without the GIL: the frames of the last walk, as they stood in memory. While they do, by
	 * one load that cannot fault, the thread is where it was. */
	struct fah_sites_far {
		uint64_t tstate; /* 0: nothing is known */
		uint64_t epoch;
		uint32_t node;
		uint32_t n;
		struct fah_piece pieces[FAH_SITES_FAR + 2]; /* those of tstate and C frame first */
		uint8_t seen[FAH_SITES_FAR_ROOM], now[FAH_SITES_FAR_ROOM];
	} far;
	uint32_t n_nodes;
	struct fah_site nodes[FAH_SITES_NODES + 1]; /* from 1 on */
	uint32_t slots[FAH_SITES_SLOTS];
};

/* Counts up when a code object that somebody has in its cache is freed. */
extern _Atomic uint64_t fah_sites_epoch;

/* Also of memory that another thread used. */
void fah_sites_reset(struct fah_sites *s);

enum fah_sites_answer {
	FAH_SITES_FOUND = 0,
	FAH_SITES_WALK = 1, /* only a proved walk can tell: fah_sites_walked */
	FAH_SITES_FULL = 2, /* fah_sites_reset it, when nothing names its nodes any more */
};
/* *ret_node 0: outside of any Python frame. Inside of an allocator; not in a handler. */
enum fah_sites_answer fah_sites_here(struct fah_sites *s, uint32_t *ret_node);
/* The same by what t->walk has found; has_gil: its code objects are known from now on. Signals are
 * blocked. FOUND or FULL; WALK: one could not be described. */
enum fah_sites_answer fah_sites_walked(struct fah_sites *s, struct fah_thread_state *t,
				       bool has_gil, uint32_t *ret_node);

#endif
