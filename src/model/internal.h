/*
 * internal.h - what a profile is made of; for the files of this folder only.
 *
 * load.c and definitions.c fill the definitions, timeline.c the seconds of each node, names.c the
 * qualified names; after fah_profile_load nothing of it changes.
 */
#ifndef FAH_MODEL_INTERNAL_H
#define FAH_MODEL_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/path.h"
#include "base/room.h"
#include "model/counts.h"
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

struct fah_file {
	const char *path;    /* as the interpreter has it */
	const char *abspath; /* see struct fah_file_cost; a native function's may be relative */
};

struct fah_meta {
	const char *key, *value;
};

struct fah_profile {
	struct fah_arena arena; /* strings and results */
	const char **strings;	/* [0] is "" */
	size_t n_strings;
	struct fah_function *functions; /* [0] is unknown */
	uint32_t *canonical; /* by function: the first one with the same file, name and line */
	size_t n_functions;
	struct fah_file *files;
	size_t n_files;
	struct fah_node *nodes; /* [0] is the root; a parent is always smaller than its child */
	struct fah_node_cost *costs; /* by node */
	struct fah_wait_cost *waits; /* see fah_profile_waits */
	size_t n_waits;
	size_t n_nodes;
	struct fah_process *processes;
	size_t n_processes;
	struct fah_thread *threads;
	size_t n_threads;
	struct fah_loop *loops;
	size_t n_loops;
	struct fah_call_count *calls; /* counts.h */
	struct fah_rec_timed *timed;  /* exact_of.c */
	size_t n_timed;
	size_t n_calls;
	struct fah_map call_ids;		   /* function, caller and line: index + 1 */
	struct fah_told_lines *told;		   /* linehits_load.c; NULL: none */
	struct fah_heap_records *heap_records;	   /* heap_load.c; NULL: none */
	struct fah_heap_kept *heaps;		   /* heap_kept.h */
	struct fah_memory_records *memory_records; /* memory_load.c; NULL: none */
	struct fah_meta *meta;
	size_t n_meta;
	struct fah_totals totals;
	struct fah_kept *kept; /* timeline.h; NULL: samples were read and forgotten */
};

/* linehits_load.c: a LINES or LINES_STATE record. 0, FAH_ERR_DAMAGED, FAH_ERR_NOMEM. */
int fah_told_lines_add(struct fah_profile *p, const struct fah_record *rec);
void fah_told_lines_free(struct fah_told_lines *t); /* NULL is fine */

/* heap_load.c: an ALLOC, FREE, HEAP or COPY record. 0, FAH_ERR_DAMAGED, FAH_ERR_NOMEM. */
int fah_heap_records_add(struct fah_profile *p, const struct fah_record *rec);
void fah_heap_records_free(struct fah_heap_records *h); /* NULL is fine */

/* memory_load.c: a MEMORY record. 0, FAH_ERR_DAMAGED, FAH_ERR_NOMEM. */
int fah_memory_records_add(struct fah_profile *p, const struct fah_record *rec);
/* A process that did not tell how much of it was resident at most, because it was killed, gets what
 * was seen. 0 or FAH_ERR_NOMEM. */
int fah_memory_records_settle(struct fah_profile *p);
void fah_memory_records_free(struct fah_memory_records *m); /* NULL is fine */

/* A SAMPLES record, opened, and where the thread's next one stands (FAH_NO_BLOCK: nowhere). */
#define FAH_NO_BLOCK UINT32_MAX
struct fah_block {
	struct fah_samples_block samples;
	uint32_t next;
};

/* CPU of a thread that has no stack. */
struct fah_dropped {
	uint64_t time_ns, cpu_ns;
	uint32_t next;
};

/* A WAITS record, opened. */
struct fah_wait_block {
	struct fah_waits_block waits;
	uint32_t next;
};

/* A STATES record. */
struct fah_state_point {
	uint64_t time_ns, cpu_ns, ready_ns;
	uint32_t next;
};

/* The records of one type that a thread has, in file order; FAH_NO_BLOCK in both: none. */
struct fah_list {
	uint32_t first, last;
};

/* A thread's records; index as threads[]. */
struct fah_chain {
	struct fah_list blocks, drops, waits, states;
};

/* What load.c hands to timeline.c besides the profile; payloads are the reader's. */
struct fah_timeline_input {
	const struct fah_block *blocks;
	const struct fah_dropped *drops;
	const struct fah_wait_block *waits;
	const struct fah_state_point *states;
	const struct fah_chain *chains; /* by thread */
	uint64_t wall_ns;		/* 0: not known, the last record's time is taken */
};

/* Seconds of every node, states of every thread, and the totals that come from samples and waits.
 * Where p->kept is there, what moments.c needs stays in it. 0 or FAH_ERR_NOMEM. */
int fah_timeline_run(struct fah_profile *p, const struct fah_timeline_input *in);
/* moments.c: NULL is fine. */
void fah_kept_free(struct fah_kept *kept);

/* Native and runtime functions stand in stacks between Python's, but no report blames them. */
static inline bool fah_is_python(const struct fah_profile *p, uint32_t function)
{
	return p->functions[function].kind == FAH_FUNCTION_PYTHON;
}

/* The order of functions in a file, for qsort. */
static inline int fah_by_first_line(const struct fah_profile *p, uint32_t x, uint32_t y)
{
	uint32_t lx = p->functions[x].first_line, ly = p->functions[y].first_line;

	if (lx != ly)
		return lx < ly ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* cells.c: stacks of a notebook begin at its cells. 0 or FAH_ERR_NOMEM. */
int fah_cells_apply(struct fah_profile *p);

/* Functions that the capture has no qualified name for get theirs from the source, where it can be
 * read and still has that function at that line. name_is_plain[] says which those are. */
int fah_names_resolve(struct fah_profile *p, const bool *name_is_plain);

#endif
