/*
 * calltree.h - the call tree of what a view shows: who called what, and what it took.
 *
 * Its calls are the paths of the view (view.h). A function that recurs stands below itself, so no
 * total exceeds its caller's.
 */
#ifndef FAH_MODEL_CALLTREE_H
#define FAH_MODEL_CALLTREE_H

#include "base/strbuf.h"
#include "model/view.h"

enum fah_call_kind {
	FAH_CALL_ALL = 0, /* calls[0]: all there is */
	FAH_CALL_FRAME = 1,
	/* Leaves for a part of their caller's own time, where they were asked for: */
	FAH_CALL_NATIVE = 2, /* of a Python frame: C code that has no frame of its own */
	FAH_CALL_SYSTEM = 3,
};

struct fah_call {
	uint32_t frame;	  /* of FRAME: index into frames */
	uint32_t kind;	  /* enum fah_call_kind */
	uint32_t depth;	  /* of calls[0]: 0 */
	uint32_t parent;  /* smaller than its own index */
	uint32_t child;	  /* the dearest; 0: none */
	uint32_t sibling; /* the next dearest of the same caller; 0: none */
	struct fah_times self, total;
	uint64_t samples; /* with those of all below; of leaves 0 */
	double interval;  /* half width of the 95 % interval of the total's share of whole_s */
};

struct fah_calltree {
	const struct fah_frame *frames; /* the view's */
	struct fah_call *calls;		/* [0] is all */
	size_t n;
	uint32_t max_depth;
	/* What shares are of: the run's wall time; where threads are told apart, all their time. */
	double whole_s;
	enum fah_heap_view memory; /* seconds are bytes, of all that are shown */
};

/*
 * Of all threads. leaves: own time that is not of the frame's own kind is split off, see enum
 * fah_call_kind. FAH_ERR_NOMEM; the caller owns *ret (fah_calltree_free); s must outlive it.
 */
int fah_calltree_new(struct fah_stacks *s, bool leaves, struct fah_calltree **ret);
void fah_calltree_free(struct fah_calltree *t); /* NULL is fine */

/* The call after i in reading order: its dearest callee (unless skip), else what comes behind it
 * and its callers. 0: that was the last. For loops without recursion: stacks may be deep. */
uint32_t fah_calltree_next(const struct fah_calltree *t, uint32_t i, bool skip);

/* 0..1 of whole_s. */
static inline double fah_calltree_share(const struct fah_calltree *t, double seconds)
{
	return t->whole_s > 0 ? seconds / t->whole_s : 0;
}

/* What time a call stands for, for colours and letters: of a frame by what it is. */
enum fah_call_tone {
	FAH_TONE_OTHER = 0, /* all, a process, a thread, no frame */
	FAH_TONE_PYTHON = 1,
	FAH_TONE_NATIVE = 2,
	FAH_TONE_SYSTEM = 3,
	FAH_TONE_WAITING = 4,
	FAH_TONE_COUNT = 5,
};
enum fah_call_tone fah_call_tone(const struct fah_calltree *t, const struct fah_call *c);

/* What a call is called; borrowed. As the capture has it: not clean. */
const char *fah_call_name(const struct fah_calltree *t, const struct fah_call *c);
/* Append where it is: "file.py:12", "libz.so.1", or nothing. Not clean either. */
void fah_call_place(struct fah_strbuf *sb, const struct fah_calltree *t, const struct fah_call *c);

#endif
