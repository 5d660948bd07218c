/*
 * linehits.h - lines that were told one by one: hits and time of each line of some functions.
 *
 * What line_profiler's files hold, and what `lines` records. A function is known by file, first
 * line and name, as there. One thread.
 */
#ifndef FAH_MODEL_LINEHITS_H
#define FAH_MODEL_LINEHITS_H

#include "base/map.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_linehit {
	uint32_t line;
	uint64_t hits;
	double time;   /* in units, with all that it called */
	double called; /* of time: what functions took that it called; 0 without has_called */
};

struct fah_linehits_function {
	const char *file, *name; /* never NULL */
	uint32_t first_line;
	bool marked;		   /* in the program, not chosen by name or place */
	struct fah_linehit *lines; /* by line, after fah_linehits_sort */
	size_t n_lines, cap_lines;
};

struct fah_linehits {
	double unit;	 /* seconds */
	bool has_called; /* of all that is in it */
	struct fah_linehits_function *functions;
	size_t n_functions, cap_functions;
	struct fah_map function_ids, line_ids;
	struct fah_strmap texts;
};

void fah_linehits_init(struct fah_linehits *h, double unit);
void fah_linehits_done(struct fah_linehits *h); /* also for _cleanup_ */

/* Made where it is not there; index in *ret. Texts are copied. FAH_ERR_NOMEM. */
int fah_linehits_function(struct fah_linehits *h, const char *file, size_t file_len,
			  uint32_t first_line, const char *name, size_t name_len, uint32_t *ret);
/* On top of what that line has. FAH_ERR_NOMEM. */
int fah_linehits_add(struct fah_linehits *h, uint32_t function, const struct fah_linehit *hit);
/* All of another one on top, in our unit. FAH_ERR_NOMEM: some of it may be missing. */
int fah_linehits_merge(struct fah_linehits *to, const struct fah_linehits *from);
/* What was not marked and has none of these names goes (core/glob.h): an interpreter that does not
 * know qualified names tells too much. n 0: all stay. */
void fah_linehits_only(struct fah_linehits *h, const char *const *names, size_t n);
/* Functions by file, first line and name; lines by number. Nothing can be added after. */
void fah_linehits_sort(struct fah_linehits *h);
/* Seconds of a function, and its hits (ret_hits may be NULL). */
double fah_linehits_total(const struct fah_linehits *h, const struct fah_linehits_function *f,
			  uint64_t *ret_hits);

/* What a capture says of how it went, of all its processes. */
struct fah_linehits_state {
	uint64_t lost_functions, lost_frames, lost_lines;
	char why[256]; /* no lines were told in one of them: why; empty: none */
	bool told;     /* lines were told in one at least */
};

/* The lines of a capture, in nanoseconds, on top of h. FAH_ERR_NOMEM. */
int fah_linehits_load(const struct fah_profile *p, struct fah_linehits *h,
		      struct fah_linehits_state *ret);

#endif
