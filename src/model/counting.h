/*
 * counting.h - the calls of one process while they are made into counts; for counts.c and
 * counts_between.c only.
 */
#ifndef FAH_MODEL_COUNTING_H
#define FAH_MODEL_COUNTING_H

#include "model/load.h"

struct event {
	uint64_t time_ns;
	uint32_t calls, counting; /* index + 1 of one of both */
};

/* A function in one process. */
struct function {
	uint32_t first_line;		   /* of those that call it: index + 1 */
	uint32_t gaps;			   /* index + 1 of the last */
	uint64_t since_work_ns, before_ns; /* the window at hand; how long the one before was */
	double uncounted;		   /* once it is done */
	bool on;
	enum { NOT_DONE, AT_IT, DONE } done;
};

/* A line that calls it. */
struct line {
	uint32_t function, caller, line, next;
	uint64_t n;
	struct pace {
		uint32_t function;	/* whose starts; 0: nobody's */
		uint64_t starts, calls; /* between starts with all calls counted */
		uint64_t total;		/* starts so far */
		uint64_t at_end;	/* of them, when a window ended, ... */
		uint64_t between;	/* ... and in all gaps */
	} by_caller, by_other;
	double uncounted;
	uint64_t now, before;	    /* in the window at hand, and in the one before */
	double in_windows, work_ns; /* in windows that ended because there were too many */
	double unseen_ns;	    /* CPU in which it was at it, and was not counted */
	double passed;		    /* of uncounted ones, by turns of their loop; 0: not known */
	bool roughly;
	uint32_t leader; /* index of the first that is of the same line */
	uint32_t bit;	 /* + 1; 0: it is not told apart */
};

/* A time in which a function was not counted. */
struct gap {
	uint64_t from_ns, to_ns;
	uint32_t before; /* index + 1 of the function's last one before */
};

struct fah_counts_making {
	struct fah_loader *l;
	struct fah_profile *p;
	struct event *events;
	struct fah_map function_ids, line_ids; /* index + 1 */
	struct fah_map leader_ids;	       /* of lines without their places: likewise */
	struct function *functions;
	struct line *lines;
	struct gap *gaps;
	size_t n_events, cap_events, n_functions, cap_functions, n_lines, cap_lines, n_gaps,
		cap_gaps;
};

static inline struct function *fah_counted_function(const struct fah_counts_making *m, uint32_t id)
{
	const uint32_t *at = fah_map_get(&m->function_ids, fah_key_u64(id));

	return at ? &m->functions[*at - 1] : NULL;
}

/* counts_between.c: which lines were at it in times in which they were not counted, and for how
 * much CPU; for those that are to be estimated. 0 or FAH_ERR_NOMEM. */
int fah_counts_between(struct fah_counts_making *m, uint32_t process);

#endif
