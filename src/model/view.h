/*
 * view.h - what somebody wants to see of a profile, said once for all exports and views: which
 * frames, which moments, and what a stack looks like.
 *
 * A stack of the capture (a node) becomes a visible path: frames that are shown, root first. Both
 * frames and paths are made once and have small numbers, so a sample costs an array look-up. Only
 * of a profile from fah_profile_load_moments.
 */
#ifndef FAH_MODEL_VIEW_H
#define FAH_MODEL_VIEW_H

#include "model/heap.h"
#include "model/moments.h"

struct fah_view {
	bool native; /* native frames and the interpreter's own work are shown; else what they do is
			the Python frame's that called them */
	bool threads; /* a stack begins with its thread, and its process where there are several */
	bool processes; /* a stack begins with its process where there are several */
	bool gil;   /* only samples in which the thread held the interpreter's lock; see below */
	bool idle;  /* waits as well, each with a last frame that names its reason */
	bool lines; /* frames are told apart by line; else by function */
	enum fah_heap_view memory; /* not time but these blocks of memory: each is a sample of its
				      thread, at its birth, whose seconds are the bytes that it
				      stands for; gil and idle don't matter */
	const char *only; /* a function: only what runs below it, and stacks begin there; borrowed,
			     NULL: everything. "name", "Class.name" or "file.py:name" */
};

/*
 * What gil can know. The capture does not say who holds the lock. Running Python code does; so does
 * most native code called from it, but for what gives the lock up while it works (large numpy
 * operations, zlib, hashing), which can't be told and is shown. Left out: waits, threads without
 * Python, and samples taken inside a system call, around which CPython gives the lock up.
 */

enum fah_frame_kind {
	FAH_FRAME_PYTHON = FAH_FUNCTION_PYTHON,
	FAH_FRAME_NATIVE = FAH_FUNCTION_NATIVE,
	FAH_FRAME_RUNTIME = FAH_FUNCTION_RUNTIME,
	FAH_FRAME_PROCESS = 3,
	FAH_FRAME_THREAD = 4,
	FAH_FRAME_WAIT = 5,  /* "waiting (socket)" */
	FAH_FRAME_EMPTY = 6, /* "(no Python)": of a stack that has no visible frame */
};

struct fah_frame {
	const char *name; /* of the function, as qualified as is known */
	const char *file; /* absolute; of native code its module; "" from FAH_FRAME_PROCESS on */
	const char *short_file; /* without the folder of the run, of the library or of packages */
	const char *label; /* "name (short_file:line)", for formats that have one text a frame */
	uint32_t line;	   /* 0: unknown, or frames are not told apart by line */
	uint32_t first_line;
	uint32_t kind; /* enum fah_frame_kind */
};

struct fah_path { /* path 0 is the empty one; a parent's number is smaller */
	uint32_t parent, frame;
};

#define FAH_NO_PATH UINT32_MAX /* not to be seen */

struct fah_stacks; /* opaque: frames and paths, as far as they were asked for */

/*
 * The profile must outlive it; the caller owns *ret (fah_stacks_free). FAH_ERR_NOMEM;
 * FAH_ERR_USAGE: view->only is the name of no function in the capture.
 */
int fah_stacks_new(struct fah_profile *p, const struct fah_view *view, struct fah_stacks **ret);
void fah_stacks_free(struct fah_stacks *s); /* NULL is fine */
struct fah_profile *fah_stacks_profile(const struct fah_stacks *s);
const struct fah_view *fah_stacks_view(const struct fah_stacks *s);

/* All made so far; borrowed until the next visit. */
const struct fah_frame *fah_stacks_frames(const struct fah_stacks *s, size_t *ret_n);
const struct fah_path *fah_stacks_paths(const struct fah_stacks *s, size_t *ret_n);

/* What a moment is to the view. */
struct fah_sight {
	const struct fah_moment *moment;
	uint32_t thread;
	uint32_t path; /* never 0, never FAH_NO_PATH */
};
typedef void fah_sight_fn(void *context, const struct fah_sight *sight);

/* Calls fn for all visible moments of a thread, in time order. 0 or FAH_ERR_NOMEM. */
int fah_stacks_visit(struct fah_stacks *s, uint32_t thread, enum fah_measure measure,
		     fah_sight_fn *fn, void *context);

/* What all visible moments of a thread, or of FAH_ALL_THREADS, add up to. */
#define FAH_ALL_THREADS UINT32_MAX
struct fah_path_sum {
	double seconds;
	uint64_t samples; /* 0 of a path that only waits stand for */
};
/* By path, for all paths there are; of exactly this path, without those below. *ret belongs to s
 * until the next call. 0 or FAH_ERR_NOMEM. */
int fah_stacks_sum(struct fah_stacks *s, uint32_t thread, enum fah_measure measure,
		   const struct fah_path_sum **ret, size_t *ret_n);

/* The measure of formats that show all threads as one: the run's time, so that parallel work is not
 * counted twice; where the view tells threads apart, each has its own. */
static inline enum fah_measure fah_view_measure(const struct fah_view *view)
{
	return view->threads ? FAH_OWN_TIME : FAH_RUN_TIME;
}

/* Units of a whole number that formats have, so many a second; of memory it is bytes. */
static inline double fah_view_scale(const struct fah_view *view, double per_second)
{
	return view->memory ? 1 : per_second;
}

/* The part of the run that the view shows; with only: what is below that function. */
struct fah_part {
	uint64_t samples;
	double seconds;	 /* of the run, waiting included where idle is */
	double share;	 /* of wall_s */
	double interval; /* half width of the 95 % interval of share; waiting is taken as known */
};
int fah_stacks_part(struct fah_stacks *s, struct fah_part *ret); /* 0 or FAH_ERR_NOMEM */

#endif
