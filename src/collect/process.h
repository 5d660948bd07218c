/*
 * process.h - one recorded process: its segments, mapped, and how far they are taken.
 */
#ifndef FAH_COLLECT_PROCESS_H
#define FAH_COLLECT_PROCESS_H

#include "collect/stack.h"
#include "collect/threads.h"
#include "core/segment.h"
#include "cpython/cpython.h"
#include "target/task_files.h"

#include <stdbool.h>

/* Decoding state of one chunk; begins anew when the chunk is given back. */
struct fah_chunk_ctx {
	uint32_t taken;	  /* bytes decoded */
	uint32_t defined; /* bytes searched for definitions, which run ahead of the rest */
	uint32_t limit;	  /* samples below this may be taken in this cycle */
	uint32_t skip;	  /* bytes that an earlier collector has written to the capture already */
	uint32_t thread;  /* the capture's id, 0: none yet */
	uint32_t tid;
	uint64_t start_ns, time_ns; /* of the thread; of the last record */
	struct fah_stack_ctx stack; /* of the last sample */
	/* the capture's nodes, by the numbers that its thread has given them in it, from 1 */
	uint32_t *nodes;
	size_t n_nodes, cap_nodes;
};

struct fah_segment_map {
	char *path;
	uint8_t *base;		   /* FAH_SEGMENT_SIZE bytes, shared with the agent */
	struct fah_chunk_ctx *ctx; /* FAH_CHUNKS of them */
};

struct fah_collected {
	struct fah_collected *next;
	uint32_t pid, pid_namespace; /* the process's own, which need not be ours */
	uint32_t outer_pid;	     /* by which we know it; 0: not found yet */
	uint64_t start_mono_ns;	     /* of segment 0 */
	uint32_t id;		     /* the capture's */
	bool seen_dead;		     /* once more drained, then done */
	bool looked;		     /* its modules are known */
	bool look_due;		     /* and have changed, perhaps */
	uint64_t unmapped;	     /* stacks that had ended in unknown code at the last look */
	uint64_t without_rule;	     /* and at code that no rule is for */
	uint32_t registered;	     /* .eh_frame by then */
	uint32_t looks;		     /* of late, and */
	uint32_t rest;		     /* ticks since the last, see fah_collected_wants_look */
	bool done;
	bool watched;  /* its threads are, from outside: waits.c */
	bool measured; /* its memory is, likewise: memory_series.c */
	struct fah_threads threads;
	struct fah_task_files task_files; /* of its threads */
	struct fah_segment_map *segments;
	uint32_t n_segments;
	struct fah_codes codes;
	struct fah_runtime_code *runtime; /* NULL: not asked for yet */
	char *journal_path, *kept_path;	  /* beside its first segment */
};

struct fah_segment_head *fah_segment_map_head(const struct fah_segment_map *m);
struct fah_chunk *fah_segment_map_chunk(const struct fah_segment_map *m, uint32_t i);

/*
 * Map the segment at path and add it to the process it belongs to (a new one for a first
 * segment). *list grows at its end. 0, FAH_ERR_FORMAT: not (yet) a segment, FAH_ERR_SYS,
 * FAH_ERR_NOMEM.
 */
int fah_collected_add(struct fah_collected **list, const char *path);
/* By the file's own name: the folder's may change (fah_session_end). */
bool fah_collected_has(const struct fah_collected *list, const char *path);
/* By which we know it; 0: it cannot be seen from here. */
uint32_t fah_collected_outer_pid(struct fah_collected *p);
/* Names of its code that was made at run time; NULL: not to be had yet. */
struct fah_runtime_code *fah_collected_runtime(struct fah_collected *p);
/* The same pid is another program by now. */
bool fah_collected_is_replaced(const struct fah_collected *list, const struct fah_collected *p);
/* The process is gone, or goes on as another program. */
bool fah_collected_is_dead(const struct fah_collected *list, struct fah_collected *p);
/*
 * Whether its modules are worth a look: stacks have ended in unknown code, or libraries went, since
 * the last one. Asked once a tick. The longer that goes on (code made at run time, libraries
 * that come and go), the more ticks pass between two looks.
 */
bool fah_collected_wants_look(struct fah_collected *p);
/* Unmap, close and remove its files. */
void fah_collected_close(struct fah_collected *p, bool remove_files);
void fah_collected_free_all(struct fah_collected *list);

#endif
