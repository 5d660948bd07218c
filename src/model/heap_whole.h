/* heap_whole.h - the whole heap of a run by what every block was counted into, whoever asked for
 * it; for the files of this folder only. */
#ifndef FAH_MODEL_HEAP_WHOLE_H
#define FAH_MODEL_HEAP_WHOLE_H

#include "model/heap_account.h"

struct fah_heap_whole {
	struct fah_heap_account all;
	size_t peak_event; /* the peak was before it, or with it: */
	bool peak_with;
	uint32_t peak_inside; /* with a piece: behind so many of its events */
	double before;	      /* held then by interpreters since before the program began */
	double end;	      /* at the last record */
	uint64_t peak_ns;     /* of that event */
};

/* 0 or FAH_ERR_NOMEM. The records are in order. */
int fah_heap_whole(const struct fah_profile *p, const struct fah_heap_clock *c,
		   struct fah_heap_whole *ret);

/*
 * heap_shape.c: the steady growth in bytes a second: for each two parts of a timeline, how much
 * more the later held by the time between; the middle one of all those. One jump, of whatever
 * height, changes it little. 0 where there is no time.
 */
double fah_heap_slope(const double *timeline, double seconds);

#endif
