/*
 * heap.h - who held how much memory, and when: all numbers of views of the heap. doc/memory.md says
 * in words what they mean.
 *
 * Charged as time is: a block of memory belongs to the innermost Python frame inside the scope of
 * the stack that asked for it (fah_profile_charge). Bytes are doubles, since recorded blocks stand
 * for more than themselves; each sum has an interval, 0 where every block was recorded. Where a run
 * has several processes, all of them together: what a forked child had from its parent is counted
 * once.
 */
#ifndef FAH_MODEL_HEAP_H
#define FAH_MODEL_HEAP_H

#include "model/profile.h"

#define FAH_HEAP_BUCKETS 60 /* of a timeline: equal parts of the time recorded */

/* Bytes, but for shares. Intervals are half widths of 95 % intervals. */
struct fah_heap_cost {
	double peak, peak_interval;	  /* the most that these blocks held at once, whenever */
	double peak_share;		  /* of the run's max, 0..1 */
	double at_peak, at_peak_interval; /* what they held when the run held the most */
	double average;			  /* over the time recorded */
	double live, live_interval;	  /* held when their process ended */
	double allocated, allocated_interval; /* asked for in all */
	double activity;		      /* share of all that was asked for in the run */
	double python;	  /* share of allocated that the interpreter's allocators asked for */
	double temporary; /* of allocated: given back before the process had asked for as much
			     again, and 1 % of all that it asks for; and within a tenth of the time
			     recorded */
	double copied, copy_rate; /* bytes that memcpy and its like copied there; a second */
	uint64_t blocks;	  /* recorded */
	const double *timeline;	  /* FAH_HEAP_BUCKETS: the most held in each part */
};

/* Whether what a line allocates is lost: see fah_profile_heap. likelihood 0: nothing says so. */
struct fah_heap_leak {
	double likelihood; /* 0..1 */
	double velocity;   /* bytes a second that are not given back */
};

struct fah_heap_line {
	uint32_t line;
	uint32_t function; /* index for fah_profile_function */
	struct fah_heap_cost cost;
	struct fah_heap_leak leak;
};
struct fah_heap_function {
	uint32_t function;
	struct fah_heap_cost cost; /* of its lines together: their peak is not the sum of peaks */
};
struct fah_heap_file {
	const char *path, *abspath;  /* see struct fah_file_cost */
	struct fah_heap_line *lines; /* by line number */
	size_t n_lines;
	struct fah_heap_function *functions; /* by first line */
	size_t n_functions;
	double most_share; /* the largest peak_share of its lines */
};

/* Of one process, every block counted. */
struct fah_heap_process {
	uint32_t process;    /* index into fah_profile_processes */
	uint64_t interval;   /* mean bytes between recorded blocks; 0: all are recorded */
	uint64_t before;     /* held when the program began */
	uint64_t held, most; /* at its last record, and the most up to then */
	uint64_t blocks;     /* recorded */
	uint64_t lost;	     /* that could not be */
};

struct fah_heap {
	/* The whole heap, by count and not by sampling: */
	double max;	 /* the most that was held at once */
	double max_at_s; /* when, in seconds of the run */
	double before;	 /* of max: what interpreters held when the program began */
	double end;	 /* held at the last record */
	double average;
	double growth; /* steady growth over the time recorded, as a share of max; may be < 0 */
	double growth_rate;	/* the same in bytes a second */
	double copied;		/* bytes that memcpy and its like copied */
	const double *timeline; /* FAH_HEAP_BUCKETS */
	/* By recorded blocks: */
	struct fah_heap_file *files; /* with the largest line first */
	size_t n_files;
	struct fah_heap_function *functions; /* with the largest peak first */
	size_t n_functions;
	struct fah_heap_cost outside;	/* asked for with no frame inside the scope */
	struct fah_heap_cost no_python; /* and in no Python frame */
	double allocated;
	double unassigned; /* max less before and all at_peak: chance of the sampling; may be < 0 */
	double recorded_s; /* the time that memory was recorded */
	uint64_t interval; /* the largest of the processes' */
	bool left_out;	   /* every block was recorded, and they are more than can be read here */
	bool without_small;    /* Python's small objects are in its arenas, which are mappings */
	double may_be_missing; /* bytes: who held less has at least 5 % chance not to be here */
	uint64_t blocks, lost;
	const struct fah_heap_process *processes;
	size_t n_processes;
};

/*
 * All of it. *ret is NULL where the capture has no record of memory; it belongs to the profile.
 * FAH_ERR_NOMEM.
 *
 * A line leaks, in a process, where all of these hold of its recorded blocks (heap_leaks.c): what
 * it held and never gave back again grew through the whole time since its first block, and still
 * does; and of the older blocks none or few were given back. The likelihood is Laplace's: of n old
 * blocks that had lived long k were kept to the end, so the next will be with (k + 1) / (n + 2).
 */
int fah_profile_heap(struct fah_profile *p, const struct fah_scope *scope,
		     const struct fah_heap **ret);

/* Which blocks of memory a view of stacks shows (view.h). */
enum fah_heap_view {
	FAH_HEAP_VIEW_NONE = 0,	     /* time, not memory */
	FAH_HEAP_VIEW_PEAK = 1,	     /* held when the run held the most */
	FAH_HEAP_VIEW_LIVE = 2,	     /* held when their process ended */
	FAH_HEAP_VIEW_TEMPORARY = 3, /* see struct fah_heap_cost */
	FAH_HEAP_VIEW_TOTAL = 4,     /* all that were asked for */
};

/* "held at the run's peak" and so on. */
const char *fah_heap_view_words(enum fah_heap_view view);

/* Does the capture say anything of memory? */
bool fah_profile_has_heap(const struct fah_profile *p);
/* Every block was recorded, and they are more than can be read here. */
bool fah_profile_heap_left_out(const struct fah_profile *p);

/* As a count; what no memory can be (of a damaged capture) is cut. */
static inline uint64_t fah_heap_bytes(double bytes)
{
	return bytes >= 1e18 ? UINT64_C(1000000000000000000)
	       : bytes > 0   ? (uint64_t)(bytes + 0.5)
			     : 0;
}

/* A timeline for the eye: n heights from 0 to 8 of at most FAH_HEAP_BUCKETS, where 8 is `most`. 0
 * is nothing at all. */
void fah_heap_heights(const double *timeline, double most, int n, unsigned char *ret);

/* Heap and resident set of one process: the largest by its resident set. */
struct fah_heap_rss {
	uint64_t heap, rss; /* the most of each, bytes; rss 0: not known */
	bool touched_less;  /* the heap was larger: part of it never was in memory at once */
	bool never_swapped; /* no process had anything swapped out whenever one was looked at */
	uint64_t difference;
};
void fah_heap_rss(const struct fah_profile *p, const struct fah_heap *heap,
		  struct fah_heap_rss *ret);

/* What a view counts of a cost; FAH_HEAP_VIEW_NONE: its own peak. And of what that is a share: the
 * run's max, or all that was asked for. */
double fah_heap_viewed(const struct fah_heap_cost *cost, enum fah_heap_view view);
double fah_heap_viewed_whole(const struct fah_heap *heap, enum fah_heap_view view);

/* The n largest lines of a file, largest first, of those whose figure is at least floor (0..1) of
 * the whole; how many there are. */
enum fah_heap_order_by {
	FAH_HEAP_BY_AVERAGE = 0,
	FAH_HEAP_BY_AT_PEAK = FAH_HEAP_VIEW_PEAK,
	FAH_HEAP_BY_LIVE = FAH_HEAP_VIEW_LIVE,
	FAH_HEAP_BY_TEMPORARY = FAH_HEAP_VIEW_TEMPORARY,
	FAH_HEAP_BY_TOTAL = FAH_HEAP_VIEW_TOTAL,
};
double fah_heap_figure(const struct fah_heap_line *line, enum fah_heap_order_by by);
size_t fah_heap_top_lines(const struct fah_heap *heap, const struct fah_heap_file *file,
			  enum fah_heap_order_by by, double floor, const struct fah_heap_line **ret,
			  size_t n);

/* The line of a file, NULL: it asked for no memory that was recorded. */
const struct fah_heap_line *fah_heap_line_of(const struct fah_heap_file *file, uint32_t line);
/* The same of a file by its absolute path, and of a function by its index. */
const struct fah_heap_file *fah_heap_file_of(const struct fah_heap *heap, const char *abspath);
const struct fah_heap_function *fah_heap_function_of(const struct fah_heap *heap,
						     uint32_t function);

#endif
