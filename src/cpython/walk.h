/*
 * walk.h - the walk's state: its result, its scratch memory and what it remembers as a hint.
 *
 * One for each thread, zeroed before first use; too big for a stack. Only the fields before
 * "scratch" are for callers.
 */
#ifndef FAH_CPYTHON_WALK_H
#define FAH_CPYTHON_WALK_H

#include "cpython/cpython.h"
#include "cpython/layout.h"

#define FAH_PY_WINDOW 16384   /* bytes of the data stack held at once: CPython's chunk size */
#define FAH_PY_FAR_BYTES 224  /* bytes around a frame that lies outside the data stack */
#define FAH_PY_BEHIND 2048    /* far frames whose follower is remembered; a power of two */
#define FAH_PY_CODES 256      /* code objects held at once */
#define FAH_PY_CODE_BYTES 256 /* most of a PyCodeObject's head */
#define FAH_PY_LOOPS 192
#define FAH_PY_FAR 32	 /* such frames held at once; below FAH_PIECES_MAX */
#define FAH_PY_BATCH 24	 /* frames whose code is read at once; twice that below FAH_PIECES_MAX */
#define FAH_PY_TEXTS 256 /* heads of names and file names known in a walk */
#define FAH_PY_TEXT_BYTES 64 /* of such a head, from its length on */

/* What was read of one code object. */
struct fah_py_code_seen {
	uint64_t addr;
	uint64_t ident;
	uint64_t name, filename; /* str objects */
	uint64_t linetable;	 /* a bytes object */
	uint64_t code_bytes;	 /* address of the first instruction */
	uint32_t walk_no;	 /* read and proved in this walk */
	uint32_t code_len;	 /* bytes of instructions */
	uint32_t slots;		 /* words on the data stack */
	uint32_t nlocalsplus;
	uint32_t flags;
	uint32_t firsttraceable; /* byte offset */
};

/* What may lie on the data stack between a frame and the next newer one of the chain. */
enum fah_py_gap {
	FAH_PY_GAP_NONE = 0,
	FAH_PY_GAP_DEAD = 1, /* frames that are being made or torn down, each proved to be that */
	FAH_PY_GAP_ANY = 2,  /* at the very top: a frame that was pushed and is still empty */
};

/* A frame whose code has not been read yet. */
struct fah_py_pending {
	uint64_t addr;
	uint64_t code;
	uint64_t instr; /* as stored in the frame */
	uint64_t end;	/* where its words must end on the data stack; 0: not on the data stack */
	uint8_t entry;
	uint8_t generator;
	uint8_t gap; /* what may lie between its end and `end`: enum fah_py_gap */
};

struct fah_py_walk {
	struct fah_py_frame frames[FAH_PY_MAX_FRAMES]; /* innermost first */
	uint32_t n_frames;
	uint32_t doubt; /* enum fah_py_doubt */
	bool truncated;
	bool leaf_call;
	bool recovered;
	/* 3.11+: a frame that has ended is no longer in the chain while what it holds is freed. One
	 * that looks like that, called from the innermost of frames[]; but one that was just
	 * pushed, and is not filled yet, shows what stood there before. */
	bool is_dying;
	struct fah_py_frame dying; /* entry: the innermost evaluation loop has begun with it */
	uint64_t c_entry; /* 3.11+: where on the C stack the innermost frame's evaluation loop
			     stands; 0: not known */

	/* 3.11+: a place on the C stack of each evaluation loop, innermost first, one for each
	 * frame with `entry`; 0: not known. n_loops counts on where there are more. */
	uint32_t n_loops;
	uint64_t loops[FAH_PY_LOOPS];

	/* 3.14+: the machine code that CPython's JIT has made and that the innermost evaluation
	 * loop has gone over to; both 0: it has not, or has none. */
	uint64_t jit_start, jit_end;

	/* Tests only: leave a check out, to show that it is needed. */
	uint32_t test_skip; /* enum fah_py_test_skip */

	/* scratch */
	const struct fah_mem *mem;
	const struct fah_py_layout *layout;
	uint32_t walk_no;
	uint32_t n_walked;
	uint64_t code_type, frame_type, gen_types[3]; /* found by name where the layout has none */

	/* 3.11+: the data-stack chunk at hand, its first word, and the older chunk */
	uint64_t chunk, chunk_lo, older, older_end;
	uint64_t stack_end; /* the next older frame on the data stack must end here */
	uint64_t top;	    /* of the data stack */
	uint64_t gap_at; /* where what lies at the top beyond the chain begins; 0: nothing does */
	bool begins_with_shim;
	uint64_t cframe; /* 3.11, 3.12: the C frame that the frames at hand belong to */
	uint64_t cframe_previous;
	bool at_top;	 /* no frame on the data stack was met yet */
	bool boundary;	 /* C code was passed since the last frame on the data stack */
	bool ends_well;	 /* the last thing met was a call from C */
	bool no_cframes; /* the chain of C frames is not known: recovering */
	/* 3.11+: the generators that run, by their exception states */
	uint64_t exc, exc_base;
	uint32_t gens_met;    /* in the chain */
	uint32_t gens_extra;  /* not in the chain, newer than all in it: being entered or left */
	uint64_t gen_extra;   /* the frame of that one */
	uint32_t gens_looked; /* entries of the list, for those that may not be in it */
	uint64_t window_addr;
	uint32_t window_len;

	uint32_t n_pending;
	uint64_t leaf_at; /* address of the innermost frame's instruction; 0: not wanted any more */
	uint8_t leaf_op[2];
	struct fah_py_pending pending[FAH_PY_BATCH];
	struct fah_py_code_seen batch[FAH_PY_BATCH]; /* of pending[], after fah_py_codes_read */
	struct fah_py_code_seen codes[FAH_PY_CODES];
	struct fah_piece pieces[FAH_PIECES_MAX];
	struct fah_py_text {
		uint64_t addr, value; /* of a str object; a hash of its head */
		uint32_t walk_no;     /* read in this walk */
	} texts[FAH_PY_TEXTS];
	uint8_t text_raw[FAH_PIECES_MAX][FAH_PY_TEXT_BYTES];

	uint32_t n_far, far_at; /* slots of far[] that hold bytes */
	uint64_t far_addr[FAH_PY_FAR];
	/* What came behind a far frame when it was last met, in any walk: a program goes up and
	 * down, so the last one knows only half of its frames. */
	uint64_t far_last;
	uint32_t far_count; /* frames read at once */
	struct fah_py_behind {
		uint64_t addr, next;
	} behind[FAH_PY_BEHIND];
	uint8_t far[FAH_PY_FAR][FAH_PY_FAR_BYTES];
	uint8_t code_raw[FAH_PY_BATCH + 1][FAH_PY_CODE_BYTES];
	uint8_t window[FAH_PY_WINDOW];
};

/* jit.c: takes jit_start and jit_end of what the thread's state names; 0: nothing.
 * fah_py_walk_thread has done so, fah_py_walk_here has not. */
void fah_py_walk_see_jit(struct fah_py_walk *walk, const struct fah_mem *mem,
			 const struct fah_py_layout *layout, uint64_t executor);

/* Whether this address is in that code. */
static inline bool fah_py_in_jit(const struct fah_py_walk *walk, uint64_t pc)
{
	return pc - walk->jit_start < walk->jit_end - walk->jit_start;
}

enum fah_py_test_skip {
	FAH_PY_SKIP_TILING = 1,
	FAH_PY_SKIP_CODE = 2,
	FAH_PY_SKIP_CFRAMES = 4,
	FAH_PY_SKIP_GENS = 8,
	FAH_PY_SKIP_END = 16,
};

#endif
