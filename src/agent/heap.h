/*
 * heap.h - blocks of memory: the files of `--memory`. Only the second of the two agents has them
 * (meson.build); the first has heap_none.c.
 *
 * Whoever allocates comes through here, in any thread, in handlers, before main: nothing waits,
 * nothing allocates. All blocks are counted; which are recorded, with their stack, chance decides,
 * byte by byte (heap_sample.c).
 */
#ifndef FAH_AGENT_HEAP_H
#define FAH_AGENT_HEAP_H

#include "agent/agent.h"
#include "agent/heap_shadow.h"

/* The calling thread's. */
struct fah_heap_thread {
	int64_t left;	   /* bytes until one that is recorded */
	int64_t delta[2];  /* not in the sums yet: Python's, others' */
	int64_t copy_left; /* bytes until a copy that is recorded */
	uint64_t copy_due; /* what copy_left was when it was drawn */
	uint32_t inside;   /* an allocator is at work for it: what that asks for is no block */
	bool begun;	   /* left was drawn */
	bool copy_begun;   /* and copy_left */
};
#define FAH_HEAP_TLS _Thread_local __attribute__((tls_model("initial-exec")))
extern FAH_HEAP_TLS struct fah_heap_thread fah_heap_thread;

/* Blocks are counted: from the start of a process that may be Python's to its end. */
extern _Atomic bool fah_heap_on;

/* Whether a call of an allocator's is to be counted: else it is one allocator's of another. */
static inline bool fah_heap_counts(void)
{
	return atomic_load_explicit(&fah_heap_on, memory_order_relaxed) && !fah_heap_thread.inside;
}

/* heap_sample.c. The block is there; before it is given back. kind: enum fah_memory. */
void fah_heap_take(void *block, size_t bytes, uint32_t kind);
void fah_heap_give(void *block, uint32_t kind);
/* What is rare of both: see fah_heap_take_small. */
void fah_heap_took(void *block, size_t bytes, uint16_t *entry);
void fah_heap_join(void);

#define FAH_HEAP_BATCH 4096 /* bytes that a thread holds back from the sums, either way */

/*
 * The same for the many small blocks of Python's, inline: entry is theirs and was 0, or is and was
 * not.
 */
static inline void fah_heap_take_small(void *block, size_t bytes, uint16_t *entry)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	*entry = (uint16_t)(bytes + 1);
	h->delta[0] += (int64_t)bytes;
	h->left -= (int64_t)bytes;
	if (__builtin_expect(h->left < 0 || h->delta[0] > FAH_HEAP_BATCH, 0))
		fah_heap_took(block, bytes, entry);
}

static inline void fah_heap_give_small(uint16_t *entry)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	h->delta[0] -= *entry - 1;
	*entry = 0;
	if (__builtin_expect(h->delta[0] < -FAH_HEAP_BATCH, 0))
		fah_heap_join();
}
/*
 * A block that is to become another, maybe elsewhere: fah_heap_move before it, then one of the two
 * others. What moves is not counted meanwhile, and another thread may get its place.
 */
struct fah_heap_moved {
	uint64_t bytes; /* 0, and not known: it was not counted */
	bool known, recorded;
	uint32_t number; /* with --exact: as in the shadow */
};
struct fah_heap_moved fah_heap_move(void *block);
/* block NULL: it is gone */
void fah_heap_moved_to(struct fah_heap_moved was, void *from, void *block, size_t bytes,
		       uint32_t kind);
void fah_heap_not_moved(struct fah_heap_moved was, void *block);

/* A mapping, whose size the shadow does not have; bytes of one that are no more, number: it was
 * recorded by that and all of it is gone, 0: some is left. */
void fah_heap_mapped(void *at, uint64_t bytes);
void fah_heap_unmapped(uint64_t bytes, uint64_t number);

/* heap_map.c: in a fork's child. */
void fah_heap_maps_forked(void);

/* A copy of so many bytes is the one that is picked. */
void fah_heap_copied(size_t bytes);

/* heap_python.c: the interpreter's allocators are watched from now on; GIL held. small: also what
 * it has in pools; else their arenas are mappings like others. */
void fah_heap_watch_python(bool small);

/* heap_sample.c: what the rest of the agent tells us. */
void fah_heap_load(void);			/* in the constructor, where Python may run */
void fah_heap_start(void);			/* recording begins; GIL held */
void fah_heap_tick(struct fah_thread_state *t); /* in a handler, after its sample */
void fah_heap_thread_end(void);
void fah_heap_forked(void); /* in a fork's child */
void fah_heap_end(void);    /* what is counted; not in a handler */
/* What the calling thread has not written yet: it may go on as another program. */
void fah_heap_flush(void);
/* What other threads have not written yet; nobody else writes any more. */
void fah_heap_end_all(void);
/* No system call of ours may come for a while, or ever; and again they may. */
void fah_heap_pause(void);
void fah_heap_resume(void);

/* heap_copy.c: in the constructor, of any program. */
void fah_heap_setup(void);

/* heap_table.c: the blocks that are recorded, by address. */
bool fah_heap_table_put(const void *block, uint64_t number); /* false: no room */
uint64_t fah_heap_table_take(const void *block);	     /* 0: it is not there */
void fah_heap_table_forget(void);			     /* in a fork's child */

#endif
