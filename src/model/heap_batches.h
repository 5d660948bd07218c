/*
 * heap_batches.h - every block of a run, where all were recorded (--exact); for the files of this
 * folder only. Made for tens of millions: 12 bytes a block and 4 an event, no hash for each.
 *
 * Blocks that are alike (thread, node, kind, bytes) share a shape. A batch is cut into pieces, in
 * which time stands still; each is one event of struct fah_heap_records (FAH_HEAP_PIECE) and is put
 * in order as one, with what is inside it.
 */
#ifndef FAH_MODEL_HEAP_BATCHES_H
#define FAH_MODEL_HEAP_BATCHES_H

#include "base/map.h"
#include "model/heap_records.h"

struct fah_heap_shape {
	uint64_t bytes;
	uint64_t first_ns; /* when the first was born; UINT64_MAX: none */
	uint32_t thread, process, node;
	uint32_t kind; /* enum fah_memory; FAH_MEMORY_COUNT: of a later version */
};

/* One block. */
struct fah_heap_life {
	uint32_t shape;	     /* + 1; 0: its birth was not recorded */
	uint32_t born, died; /* piece + 1; 0: not, or behind the program's end */
};
#define FAH_HEAP_EARLY 0x80000000u /* in died: by the order of pieces before its birth */

/* What stands in events[]: the number of a block, in its process. */
#define FAH_HEAP_WENT 0x80000000u   /* beside it: it was given back */
#define FAH_HEAP_CHANGE 0xffffffffu /* what is held changes by the next of changes[] */
#define FAH_HEAP_NUMBER_MAX 0x7ffffffeu

struct fah_heap_piece {
	uint64_t time_ns;
	uint64_t held, most; /* as its batch has them */
	size_t first, n;     /* in events[] */
	size_t change;	     /* the first in changes[] */
	uint32_t process;
	bool opens, closes; /* it is its batch's first, last */
	/* by fah_heap_batches_settle: */
	double asked;	  /* for by its process before */
	uint64_t peak;	  /* the most that its process held in it */
	uint32_t peak_at; /* behind so many of its events */
};

#define FAH_HEAP_PAGE 512u

struct fah_heap_batches {
	struct fah_heap_shape *shapes;
	struct fah_heap_piece *pieces;
	uint32_t *events;
	int64_t *changes;
	size_t n_shapes, n_pieces, n_events, n_changes;
	size_t cap_shapes, cap_pieces, cap_events, cap_changes;
	struct fah_map shape_ids;
	struct fah_heap_lives { /* of a process, by number */
		struct fah_heap_life **pages;
		size_t n_pages;
		uint32_t thread; /* + 1 */
		bool several;	 /* threads */
	} * lives;
	size_t n_lives;
	size_t n_life_pages; /* of all of them */
	size_t limit;	     /* bytes that all of it may take */
	uint64_t blocks;     /* that count */
};

struct fah_profile;
/* A BLOCKS record. Where all are more than half of the machine's free memory holds, they are left
 * out (h->left_out): a report without them is better than none. 0, FAH_ERR_NOMEM, FAH_ERR_DAMAGED.
 */
int fah_heap_batches_add(const struct fah_profile *p, struct fah_heap_records *h,
			 const struct fah_record *rec);
/* Events are in order, and cut at the end of programs: what was held after each piece, and when
 * each block was born and died. 0 or FAH_ERR_NOMEM. */
int fah_heap_batches_settle(const struct fah_profile *p, struct fah_heap_records *h);
void fah_heap_batches_free(struct fah_heap_batches *b); /* NULL is fine */

/* NULL: no such number. */
static inline struct fah_heap_life *fah_heap_life_at(const struct fah_heap_lives *l,
						     uint32_t number)
{
	size_t page = number / FAH_HEAP_PAGE;

	return page < l->n_pages && l->pages[page] ? &l->pages[page][number % FAH_HEAP_PAGE] : NULL;
}

/* Of a block that was born: see heap_order.c. */
static inline bool fah_heap_life_is_temporary(const struct fah_heap_records *h,
					      const struct fah_heap_batches *b,
					      const struct fah_heap_life *life)
{
	const struct fah_heap_shape *s = &b->shapes[life->shape - 1];
	const struct fah_heap_piece *born, *died;

	if (!life->died)
		return false;
	if (life->died & FAH_HEAP_EARLY)
		return true;
	born = &b->pieces[life->born - 1];
	died = &b->pieces[life->died - 1];
	/* what its process asked for from its birth on has the block itself in it */
	return died->time_ns - born->time_ns <= (h->to_ns - h->from_ns) / 10 &&
	       died->asked - born->asked <=
		       2.0 * (double)s->bytes + h->processes[s->process].asked / 100;
}

#endif
