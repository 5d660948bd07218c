/*
 * heap_load.c - the blocks of memory of a capture, as they stand in it.
 */
#include "core/err.h"
#include "model/heap_batches.h"
#include "model/internal.h"

static struct fah_heap_records *records_of(struct fah_profile *p)
{
	if (!p->heap_records)
		p->heap_records = calloc(1, sizeof(*p->heap_records));
	return p->heap_records;
}

static int add_event(struct fah_heap_records *h, const struct fah_heap_event *e)
{
	if (!fah_room(&h->events, h->n_events, &h->cap_events, sizeof(*h->events)))
		return FAH_ERR_NOMEM;
	h->events[h->n_events++] = *e;
	return 0;
}

static int add_alloc(const struct fah_profile *p, struct fah_heap_records *h,
		     const struct fah_record *rec)
{
	struct fah_rec_alloc a;
	int err = fah_decode_alloc(rec, &a);

	if (err < 0)
		return err;
	if (a.thread - 1 >= p->n_threads || h->n_blocks >= UINT32_MAX)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&h->blocks, h->n_blocks, &h->cap_blocks, sizeof(*h->blocks)) ||
	    !fah_room(&h->numbers, h->n_blocks, &h->cap_numbers, sizeof(*h->numbers)))
		return FAH_ERR_NOMEM;
	err = add_event(h, &(struct fah_heap_event){a.time_ns, a.held, a.most, h->n_blocks, 0,
						    FAH_HEAP_ALLOC});
	if (err < 0)
		return err;
	h->numbers[h->n_blocks] = a.block;
	h->blocks[h->n_blocks++] = (struct fah_heap_block){
		.born_ns = a.time_ns,
		.died_ns = FAH_HEAP_LIVES,
		.bytes = a.bytes,
		.thread = a.thread - 1,
		.node = a.node, /* checked when all are known */
		.kind = (uint16_t)(a.kind < FAH_MEMORY_COUNT ? a.kind : FAH_MEMORY_COUNT),
	};
	return 0;
}

static int add_free(const struct fah_profile *p, struct fah_heap_records *h,
		    const struct fah_record *rec)
{
	struct fah_rec_free f;
	int err = fah_decode_free(rec, &f);

	if (err < 0)
		return err;
	if (f.process - 1 >= p->n_processes)
		return FAH_ERR_DAMAGED;
	return add_event(h,
			 &(struct fah_heap_event){f.time_ns, f.held, f.most, f.block, f.process - 1,
						  f.ending ? FAH_HEAP_ENDING : FAH_HEAP_FREE});
}

static int add_state(const struct fah_profile *p, struct fah_heap_records *h,
		     const struct fah_record *rec)
{
	struct fah_rec_heap s;
	int err = fah_decode_heap(rec, &s);

	if (err < 0)
		return err;
	if (s.process - 1 >= p->n_processes || s.python + s.native < s.native)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&h->states, h->n_states, &h->cap_states, sizeof(*h->states)))
		return FAH_ERR_NOMEM;
	err = add_event(h, &(struct fah_heap_event){s.time_ns, s.python + s.native, s.most,
						    h->n_states, s.process - 1, FAH_HEAP_STATE});
	if (err < 0)
		return err;
	h->states[h->n_states++] = s;
	return 0;
}

static int add_copy(const struct fah_profile *p, struct fah_heap_records *h,
		    const struct fah_record *rec)
{
	struct fah_rec_copy c;
	int err = fah_decode_copy(rec, &c);

	if (err < 0)
		return err;
	if (c.thread - 1 >= p->n_threads)
		return FAH_ERR_DAMAGED;
	if (!fah_room(&h->copies, h->n_copies, &h->cap_copies, sizeof(*h->copies)))
		return FAH_ERR_NOMEM;
	h->copies[h->n_copies++] = c;
	return 0;
}

int fah_heap_records_add(struct fah_profile *p, const struct fah_record *rec)
{
	struct fah_heap_records *h = records_of(p);

	if (!h)
		return FAH_ERR_NOMEM;
	return rec->type == FAH_REC_ALLOC    ? add_alloc(p, h, rec)
	       : rec->type == FAH_REC_FREE   ? add_free(p, h, rec)
	       : rec->type == FAH_REC_COPY   ? add_copy(p, h, rec)
	       : rec->type == FAH_REC_BLOCKS ? fah_heap_batches_add(p, h, rec)
					     : add_state(p, h, rec);
}

void fah_heap_records_free(struct fah_heap_records *h)
{
	if (!h)
		return;
	free(h->blocks);
	free(h->events);
	free(h->states);
	free(h->copies);
	free(h->processes);
	free(h->survivors);
	free(h->numbers);
	free(h->meanwhile);
	fah_heap_batches_free(h->batches);
	free(h);
}
