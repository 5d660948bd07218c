/*
 * memory.h - memory through the run as the kernel counts it, beside the heap, on one axis of time:
 * from the run's start to its end. doc/memory.md says in words what the figures mean.
 */
#ifndef FAH_MODEL_MEMORY_H
#define FAH_MODEL_MEMORY_H

#include "capture/reader.h"
#include "model/heap.h"

enum fah_memory_row_kind {
	FAH_MEMORY_HEAP = 0,	 /* what was asked for, of all processes together */
	FAH_MEMORY_RESIDENT = 1, /* RSS, of all together: what they share counts for each */
	FAH_MEMORY_HIGH = 2,	 /* the high-water mark of RSS, of the largest process */
	FAH_MEMORY_SWAPPED = 3,	 /* of all together */
	FAH_MEMORY_GROUP = 4,	 /* what the control group with the nearest limit uses */
	FAH_MEMORY_AVAILABLE = 5,
	FAH_MEMORY_ROWS = 6,
};

struct fah_memory_row {
	bool known;	/* the rest means nothing otherwise */
	double extreme; /* bytes: the most; of FAH_MEMORY_AVAILABLE the least */
	double at_s;	/* when, in seconds of the run */
	double last;	/* the last that was seen */
	double full;	/* what fills a bar: common to the first four; a limit, the machine's */
	double timeline[FAH_HEAP_BUCKETS]; /* the extreme in each part of the run */
};

struct fah_memory_timeline {
	double to_s; /* the end of the axis */
	struct fah_memory_row rows[FAH_MEMORY_ROWS];
	uint64_t limit; /* of the group, the last; FAH_MEMORY_UNKNOWN, FAH_MEMORY_NO_LIMIT */
	uint64_t total; /* of the machine; FAH_MEMORY_UNKNOWN */
	/* How near the limit the group came, without files that would have been dropped first; only
	 * where `limited`: */
	bool limited;
	double left, left_of, left_at_s; /* bytes left, of that limit, when */
	uint64_t kills; /* processes of the program's group killed for want of memory in the run */
	bool killed;	/* and the program itself ended by SIGKILL */
	const struct fah_rec_memory *points; /* by process (0, the machine, first), then time */
	size_t n_points;
	size_t n_processes; /* that have points */
};

/* All of it. *ret is NULL where the capture has no such record; it belongs to the profile.
 * FAH_ERR_NOMEM. */
int fah_profile_memory(struct fah_profile *p, const struct fah_memory_timeline **ret);

#endif
