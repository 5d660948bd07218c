/* drain_internal.h - the drain's insides, for drain.c and chunk.c. */
#ifndef FAH_COLLECT_DRAIN_INTERNAL_H
#define FAH_COLLECT_DRAIN_INTERNAL_H

#include "collect/drain.h"
#include "collect/process.h"

struct fah_drain {
	char *dir;
	struct fah_writer *w; /* borrowed */
	uint64_t start_mono_ns;
	struct fah_collected *processes;
	struct fah_modules *modules; /* NULL: the processes are not ours to look at any more */
	struct fah_turns *turns;     /* borrowed; NULL: nobody else is at work */
	int news;		     /* inotify of the folder; -1: none, look each time */
	unsigned looks;		     /* that are due: a segment has its name before it is one */
	struct known_thread {
		uint32_t process, tid, id;
		uint64_t start_ns;
	} * known; /* of an earlier collector */
	size_t n_known;
	struct fah_logs *logs;	    /* borrowed; NULL: records for it are left */
	struct fah_drain_ends ends; /* without functions: nobody asked */
	struct fah_drain_stats stats;
	struct fah_drain_cost ended; /* of processes that have ended */
};

static inline uint64_t fah_drain_since(const struct fah_drain *d, uint64_t mono_ns)
{
	return mono_ns > d->start_mono_ns ? mono_ns - d->start_mono_ns : 0;
}

/* How far records of the chunk are whole now. */
uint32_t fah_chunk_used(const struct fah_chunk *c);
/* Its code objects, up to there. */
void fah_chunk_define(struct fah_collected *p, struct fah_chunk_ctx *ctx,
		      const struct fah_chunk *c);
/* The rest, up to ctx->limit. */
void fah_chunk_take(struct fah_drain *d, struct fah_collected *p, struct fah_chunk_ctx *ctx,
		    const struct fah_chunk *c);
/* What is in the file now may go: tell the agent, and free a chunk that nobody writes any more. */
void fah_chunk_give_back(struct fah_chunk_ctx *ctx, struct fah_chunk *c);

#endif
