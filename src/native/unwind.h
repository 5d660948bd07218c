/*
 * unwind.h - the native stack of a thread, by tables that were made before. Runs in the target's
 * signal handler (or in the tool, over another process's memory): no allocation, no locks, no libc
 * beyond memcpy, and no load that could fault.
 *
 * A step is taken only where a rule says how; nothing is guessed. Where the rules end, so does the
 * stack, and the result says why.
 */
#ifndef FAH_NATIVE_UNWIND_H
#define FAH_NATIVE_UNWIND_H

#include "core/load.h"
#include "native/regs.h"
#include "native/table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The executable part of one module in this process's memory. */
struct fah_unwind_module {
	uint64_t start, end; /* [start, end) */
	uint64_t base;	     /* where the table's pc 0 is; fah_elf_base finds it */
	uint32_t id;	     /* the caller's own */
	struct fah_table table;
};

/* Every module of a process at one time, sorted. Immutable once published. */
struct fah_unwind_modules {
	uint32_t n;
	struct fah_unwind_module modules[];
};

/* Bytes of a block for n modules. */
static inline size_t fah_unwind_modules_size(uint32_t n)
{
	return sizeof(struct fah_unwind_modules) + n * sizeof(struct fah_unwind_module);
}

/*
 * Sorts what was put into the block. FAH_ERR_RANGE: an empty or overlapping range, or a base behind
 * the start; the block must not be published then.
 */
int fah_unwind_modules_sort(struct fah_unwind_modules *mods);

/* NULL: no module has code there. */
const struct fah_unwind_module *fah_unwind_modules_find(const struct fah_unwind_modules *mods,
							uint64_t pc);

/*
 * The modules that handlers use. A new block replaces the old one with one store; the old one and
 * its tables must stay mapped for ever, since a handler in another thread may be reading it.
 */
typedef _Atomic(const struct fah_unwind_modules *) fah_unwind_modules_slot;

static inline void fah_unwind_modules_publish(fah_unwind_modules_slot *slot,
					      const struct fah_unwind_modules *mods)
{
	atomic_store_explicit(slot, mods, memory_order_release);
}

static inline const struct fah_unwind_modules *
fah_unwind_modules_current(fah_unwind_modules_slot *slot)
{
	return atomic_load_explicit(slot, memory_order_acquire);
}

/*
 * Where the stack can be read. [lo, hi) is read directly: the caller vouches that it stays
 * readable, e.g. it is the mapping that holds sp (for another process, or to trust nothing: lo = hi
 * = 0). What lies elsewhere, as behind a handler on an alternate stack, is read by mem; NULL: not
 * at all.
 */
struct fah_stack {
	uint64_t lo, hi;
	const struct fah_mem *mem;
};

/*
 * The rules that were looked up last, by pc: most stacks are much like those before. Of one
 * thread, and of one block of modules: for another one, zero it.
 */
#define FAH_UNWIND_CACHE 256u /* a power of two */
struct fah_unwind_cache {
	struct fah_unwind_cached {
		uint64_t pc;
		const struct fah_rule *rule; /* NULL: nothing */
	} slots[FAH_UNWIND_CACHE];
};

enum fah_unwind_stop {
	FAH_UNWIND_END = 0,	  /* the outermost frame: all is there */
	FAH_UNWIND_LIMIT = 1,	  /* more frames than max */
	FAH_UNWIND_NO_MODULE = 2, /* code of no module: made at run time, or loaded since */
	FAH_UNWIND_NO_RULE = 3,	  /* its module doesn't say: assembly without unwind information */
	FAH_UNWIND_NO_REG = 4,	  /* the rule needs a register that is not known in this frame */
	FAH_UNWIND_BAD_CFA = 5,	  /* the rule leads down the stack or to an odd address */
	FAH_UNWIND_BAD_READ = 6,  /* the stack could not be read there */
	FAH_UNWIND_STOPS = 7,
};

struct fah_unwind_result {
	enum fah_unwind_stop stop;
	uint64_t pc, sp;	/* of the frame at which it stopped */
	uint32_t signal_frames; /* handlers that were passed */
};

/*
 * Up to max frames, innermost first; returns how many (at least 1 where max >= 1). pcs are places
 * to look up: the pc itself for the innermost frame and for one that a signal interrupted, for the
 * others the last byte of the call, so that a call at a function's very end is not taken for the
 * next one's. A signal's return code is a frame of its own. sps (NULL: not wanted) gets each
 * frame's sp: what lies on the stack from there to the next frame's is that frame's. cache may be
 * NULL.
 */
int fah_unwind(const struct fah_unwind_modules *mods, struct fah_unwind_cache *cache,
	       const struct fah_regs *regs, const struct fah_stack *stack, uint64_t *pcs,
	       uint64_t *sps, int max, struct fah_unwind_result *ret);

#endif
