/*
 * heap_records.h - the blocks of memory of a capture, and what happened to them in the order of
 * time; for the files of this folder only. What the interpreter frees when the program has ended is
 * left out: nobody lost it, and nobody gave it back.
 *
 * heap_load.c fills them as they stand in the file, where only each thread alone is in order;
 * heap_order.c puts them in order once and gives each block its end and its weight. Processes are
 * indices, not the capture's ids.
 */
#ifndef FAH_MODEL_HEAP_RECORDS_H
#define FAH_MODEL_HEAP_RECORDS_H

#include "capture/reader.h"

#define FAH_HEAP_LIVES UINT64_MAX /* died_ns of a block that was never given back */

struct fah_heap_block {
	uint64_t born_ns, died_ns;
	uint64_t bytes;
	double weight; /* bytes of the heap that it stands for; see fah_heap_weight */
	uint32_t thread, process, node;
	uint16_t kind;	       /* enum fah_memory; FAH_MEMORY_COUNT: of a later version */
	uint16_t is_temporary; /* see heap_order.c */
};

enum fah_heap_event_kind {
	/* what: the block. One that died when it was born has no other event. */
	FAH_HEAP_ALLOC = 0,
	FAH_HEAP_FREE = 1,   /* what: the block; at first the number that its process gave it */
	FAH_HEAP_STATE = 2,  /* what: the state */
	FAH_HEAP_END = 3,    /* of the process: no record, made from its end */
	FAH_HEAP_ENDING = 4, /* a FREE by the interpreter's own end: the program had ended */
	FAH_HEAP_NONE = 5,   /* of which nothing is to be known: it came behind that */
	FAH_HEAP_PIECE = 6,  /* what: the piece; held, most: by fah_heap_batches_settle */
};

struct fah_heap_event {
	uint64_t time_ns, held, most;
	uint64_t what;
	uint32_t process, kind;
};

/* What is known of one process. */
struct fah_heap_of {
	bool seen;
	bool forked;	   /* what it held before is its parent's, too */
	uint64_t interval; /* the last */
	uint64_t before;
	uint64_t held, most; /* at its last record */
	uint64_t first_ns, last_ns;
	uint64_t ended_ns; /* when the program ended, by the first ENDING; else UINT64_MAX */
	uint64_t end_ns;   /* that, or of the process, or of all records */
	uint64_t lost, copied, blocks;
	double asked;			      /* for, bytes */
	uint64_t first_survivor, n_survivors; /* in survivors[] */
};

struct fah_heap_batches;
struct fah_heap_records {
	struct fah_heap_block *blocks;
	struct fah_heap_event *events;
	struct fah_rec_heap *states;
	struct fah_rec_copy *copies;
	size_t n_blocks, n_events, n_states, n_copies;
	size_t cap_blocks, cap_events, cap_states, cap_copies;
	/* By heap_order.c: */
	bool ordered;
	int order_err;
	struct fah_heap_of *processes; /* by process */
	uint32_t *survivors; /* blocks that live at the end of their process, by process */
	uint64_t *numbers;   /* of blocks, until frees have found theirs */
	double *meanwhile;   /* by block: bytes that its process asked for while it lived; until it
				died, those before it was born; while they are put in order */
	size_t cap_numbers;
	uint64_t from_ns, to_ns;
	struct fah_heap_batches *batches; /* heap_batches.h; NULL: not every block was recorded */
	bool left_out;			  /* or so many that their batches were left out */
};

struct fah_profile;
/* Orders them, at the first call. 0 or FAH_ERR_NOMEM. */
int fah_heap_order(struct fah_profile *p);

/*
 * The bytes of the heap that a recorded block stands for. Recorded are blocks that one of the marks
 * falls into which lie at random in all bytes asked for, one in `interval` on average (0: all
 * blocks): with a chance of 1 - exp(-bytes / interval), by which its bytes are divided, so that
 * sums over recorded blocks are, on average, those over all.
 */
double fah_heap_weight(uint64_t bytes, uint64_t interval);
/* Of that weight: adds up over blocks; 0 where all are recorded. */
static inline double fah_heap_variance(const struct fah_heap_block *b)
{
	double v = b->weight * (b->weight - (double)b->bytes);

	return v > 0 ? v : 0;
}

#endif
