/*
 * heap_load.c - the blocks of memory of a capture, as they stand in it.
 */
#include "core/err.h"
#include "model/heap_records.h"
#include "model/internal.h"

static struct fah_heap_records *records_of(struct fah_profile *p)
{
	if (!p->heap_records)
		p->heap_records = calloc(1, sizeof(*p->heap_records));
	return p->heap_records;
}

static int add_alloc(struct fah_heap_records *h, const struct fah_record *rec)
{
	struct fah_rec_alloc a;
	int err = fah_decode_alloc(rec, &a);

	if (err < 0)
		return err;
	if (!fah_room(&h->allocs, h->n_allocs, &h->cap_allocs, sizeof(*h->allocs)))
		return FAH_ERR_NOMEM;
	h->allocs[h->n_allocs++] = a;
	return 0;
}

static int add_free(struct fah_heap_records *h, const struct fah_record *rec)
{
	struct fah_rec_free f;
	int err = fah_decode_free(rec, &f);

	if (err < 0)
		return err;
	if (!fah_room(&h->frees, h->n_frees, &h->cap_frees, sizeof(*h->frees)))
		return FAH_ERR_NOMEM;
	h->frees[h->n_frees++] = f;
	return 0;
}

static int add_state(struct fah_heap_records *h, const struct fah_record *rec)
{
	struct fah_rec_heap s;
	int err = fah_decode_heap(rec, &s);

	if (err < 0)
		return err;
	if (!fah_room(&h->states, h->n_states, &h->cap_states, sizeof(*h->states)))
		return FAH_ERR_NOMEM;
	h->states[h->n_states++] = s;
	return 0;
}

static int add_copy(struct fah_heap_records *h, const struct fah_record *rec)
{
	struct fah_rec_copy c;
	int err = fah_decode_copy(rec, &c);

	if (err < 0)
		return err;
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
	return rec->type == FAH_REC_ALLOC  ? add_alloc(h, rec)
	       : rec->type == FAH_REC_FREE ? add_free(h, rec)
	       : rec->type == FAH_REC_COPY ? add_copy(h, rec)
					   : add_state(h, rec);
}

void fah_heap_records_free(struct fah_heap_records *h)
{
	if (!h)
		return;
	free(h->allocs);
	free(h->frees);
	free(h->states);
	free(h->copies);
	free(h);
}
