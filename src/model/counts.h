/*
 * counts.h - how often a line called a function: counted by the program itself (agent/count.c), and
 * where it was called too often for that, estimated from when it was counted.
 */
#ifndef FAH_MODEL_COUNTS_H
#define FAH_MODEL_COUNTS_H

#include "model/profile.h"

struct fah_call_count {
	uint32_t function, caller, line; /* caller 0: nobody; line: of the call */
	double n;
	bool estimated; /* else exact */
	bool roughly;	/* by the clock, not by calls of another function: two digits of it count */
};

/* Calls of function by that line of caller (0, 0: by nobody), in all processes. NULL: not known.
 * Belongs to the profile. */
const struct fah_call_count *fah_profile_calls(const struct fah_profile *p, uint32_t function,
					       uint32_t caller, uint32_t line);
/* All of them. */
const struct fah_call_count *fah_profile_all_calls(const struct fah_profile *p, size_t *ret_n);
/* Calls of function by itself. 0: none, or not known. */
double fah_profile_calls_itself(const struct fah_profile *p, uint32_t function, bool *ret_estimated,
				bool *ret_roughly);

#endif
