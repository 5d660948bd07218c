/*
 * calltree.h - the merged call tree of a profile: who called what, and what it took.
 *
 * A call stands for all frames of one function below the same calls, whatever their lines. A
 * function that recurs stands below itself, so no total exceeds its caller's.
 */
#ifndef FAH_MODEL_CALLTREE_H
#define FAH_MODEL_CALLTREE_H

#include "base/strbuf.h"
#include "model/profile.h"

enum fah_call_kind {
	FAH_CALL_RUN = 0, /* calls[0]: all there is */
	FAH_CALL_FUNCTION = 1,
	/* Leaves for a part of their caller's own time, where they were asked for: */
	FAH_CALL_NATIVE = 2, /* of a Python function: C code that has no frame of its own */
	FAH_CALL_SYSTEM = 3,
	FAH_CALL_WAITING = 4,
	FAH_CALL_NO_STACK = 5, /* outside any frame */
};

struct fah_call {
	uint32_t function; /* for fah_profile_function; 0 where kind is no FUNCTION */
	uint32_t kind;	   /* enum fah_call_kind */
	uint32_t reason;   /* of WAITING: enum fah_wait */
	uint32_t depth;	   /* of calls[0]: 0 */
	uint32_t parent;   /* smaller than its own index */
	uint32_t child;	   /* the dearest; 0: none */
	uint32_t sibling;  /* the next dearest of the same caller; 0: none */
	struct fah_times self, total;
	uint64_t samples; /* with those of all below; of leaves: unknown, 0 */
	double interval;  /* half width of the 95 % interval of the total's share of the run */
};

struct fah_calltree {
	struct fah_call *calls; /* [0] is the run */
	size_t n;
	uint32_t max_depth;
	double wall_s; /* of the run; what is not in calls[0].total, no sample or wait stands for */
};

struct fah_calltree_options {
	bool others; /* native functions and the interpreter's own work have calls of their own */
	bool leaves; /* own time that is not the call's kind is split off: enum fah_call_kind */
};

/* FAH_ERR_NOMEM; the caller owns *ret (fah_calltree_free). p is not needed afterwards. */
int fah_calltree_new(const struct fah_profile *p, const struct fah_calltree_options *o,
		     struct fah_calltree **ret);
void fah_calltree_free(struct fah_calltree *t); /* NULL is fine */

/* The call after i in reading order: its dearest callee (unless skip), else what comes behind it
 * and its callers. 0: that was the last. For loops without recursion: stacks may be deep. */
uint32_t fah_calltree_next(const struct fah_calltree *t, uint32_t i, bool skip);

/* Append what a call is called, and where it is: "Class.method" and "file.py:12", "inflate" and
 * "libz.so.1", "waiting: socket" and "". As the capture has it: not clean. */
void fah_call_name(struct fah_strbuf *sb, const struct fah_profile *p, const struct fah_call *c);
void fah_call_place(struct fah_strbuf *sb, const struct fah_profile *p, const struct fah_call *c);

#endif
