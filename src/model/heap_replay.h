/* heap_replay.h - every block, charged to its line and its function; for the files of this folder
 * only. */
#ifndef FAH_MODEL_HEAP_REPLAY_H
#define FAH_MODEL_HEAP_REPLAY_H

#include "model/heap_account.h"
#include "model/heap_batches.h"

/* To whom blocks of a shape are charged. */
struct fah_heap_ways {
	struct fah_heap_account *line, *function; /* function NULL: none */
};

/* A piece's events from..to, to not included; ways: by shape. Bytes asked for. */
double fah_heap_replay_piece(const struct fah_heap_records *h, const struct fah_heap_clock *c,
			     const struct fah_heap_ways *ways, const struct fah_heap_piece *piece,
			     size_t from, size_t to);
/* The process has ended: what it still holds was live. */
void fah_heap_replay_end(const struct fah_heap_records *h, const struct fah_heap_clock *c,
			 const struct fah_heap_ways *ways, uint32_t process, uint64_t time_ns);

#endif
