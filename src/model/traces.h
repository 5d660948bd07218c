/*
 * traces.h - where the dearest functions are called from: for each of its callers what the function
 * took when called from there, and the way from the program's start to that caller.
 */
#ifndef FAH_MODEL_TRACES_H
#define FAH_MODEL_TRACES_H

#include "model/counts.h"
#include "model/profile.h"

struct fah_trace_step {
	uint32_t function, line; /* line: of the call */
};

/* One caller: a line of a function inside the scope. */
struct fah_trace {
	/* The caller, who called it, and so on up to the start. Of several ways to the caller the
	 * one with most time. Empty: nobody inside the scope called. */
	const struct fah_trace_step *steps;
	size_t n_steps;
	size_t n_ways;
	double share; /* of wall_s, waiting included */
	uint64_t samples;
	const struct fah_call_count *calls; /* by the caller's line; NULL: not known */
};

struct fah_traced {
	uint32_t function;
	double share;			     /* of wall_s: as in fah_charges */
	double calls_itself;		     /* where it is known how often it was called */
	bool calls_estimated, calls_roughly; /* of calls_itself: as in struct fah_call_count */
	const struct fah_trace *traces;	     /* dearest first; together they are share */
	size_t n;
};

/*
 * For the first `most` functions of charges, which must be of the same scope; in that order. A
 * function that calls itself, also through others, was called by who called the outermost. *ret
 * belongs to the profile. 0 or FAH_ERR_NOMEM.
 */
int fah_profile_traces(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_charges *charges, size_t most,
		       const struct fah_traced **ret, size_t *ret_n);

#endif
