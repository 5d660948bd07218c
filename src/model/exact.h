/*
 * exact.h - calls that were told one by one: functions, who called whom, how often, how long.
 *
 * What cProfile's files hold, and what `calls` records. A function is known by file, line and name,
 * as in pstats; code of C has the file "~" and the line 0. One thread.
 */
#ifndef FAH_MODEL_EXACT_H
#define FAH_MODEL_EXACT_H

#include "base/arena.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_exact_times {
	uint64_t calls;		/* all of them */
	uint64_t primitive;	/* of them, while none of the same function ran in that thread */
	double self_s, total_s; /* without and with what it called; recursion counts once */
};

struct fah_exact_function {
	const char *file, *name; /* never NULL */
	int64_t line;
	struct fah_exact_times times;
	uint32_t first_caller, first_callee; /* edges: index + 1; 0: none */
	bool only_caller; /* in a file that names it as a caller but has no times of it */
};

/* What one function's calls by another were. A function's own times are not always the sum of its
 * edges: what nobody called has none. */
struct fah_exact_edge {
	uint32_t caller, callee;	   /* functions: index */
	uint32_t next_caller, next_callee; /* of the same callee; of the same caller: index + 1 */
	struct fah_exact_times times;
	bool only_count; /* as the module profile has it: calls, and no times */
};

struct fah_exact {
	struct fah_exact_function *functions;
	struct fah_exact_edge *edges;
	size_t n_functions, cap_functions, n_edges, cap_edges;
	struct fah_map function_ids, edge_ids;
	struct fah_strmap texts; /* files and names */
	bool samples;		 /* a file of profiling.sampling: its calls are samples */
};

void fah_exact_init(struct fah_exact *e);
void fah_exact_done(struct fah_exact *e); /* usable again after; also for _cleanup_ */

/* Made where it is not there; index in *ret. Texts are copied. FAH_ERR_NOMEM. */
int fah_exact_function(struct fah_exact *e, const char *file, size_t file_len, int64_t line,
		       const char *name, size_t name_len, uint32_t *ret);
int fah_exact_edge(struct fah_exact *e, uint32_t caller, uint32_t callee, uint32_t *ret);
void fah_exact_times_add(struct fah_exact_times *to, const struct fah_exact_times *from);
/* All of another one on top. FAH_ERR_NOMEM: some of it may be missing. */
int fah_exact_add(struct fah_exact *to, const struct fah_exact *from);
/* The calls of a function by others, or of others by it, in the order they were made: indices of
 * edges into ret, which has room for e->n_edges. How many. */
size_t fah_exact_callers(const struct fah_exact *e, uint32_t function, uint32_t *ret);
size_t fah_exact_callees(const struct fah_exact *e, uint32_t function, uint32_t *ret);
/* Calls, those of them that are primitive, and the seconds of all functions, as pstats has them. */
struct fah_exact_times fah_exact_whole(const struct fah_exact *e);

struct fah_profile;
#define FAH_EXACT_ALL UINT32_MAX
/* Whether a capture has such calls (FAH_EXACT_ALL: of any process). */
bool fah_exact_has(const struct fah_profile *p, uint32_t process);
/* Those of one process (an index), or of all of them, on top. FAH_ERR_NOMEM. */
int fah_exact_of(const struct fah_profile *p, uint32_t process, struct fah_exact *ret);

#endif
