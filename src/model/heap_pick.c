/* heap_pick.c - see heap_pick.h. The same blocks that the figures of heap.h are made of. */
#include "model/heap_pick.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/heap_batches.h"
#include "model/heap_whole.h"

/* Those that are there when the run holds the most. */
static void mark_peak(const struct fah_heap_records *h, const struct fah_heap_whole *w,
		      bool *is_picked)
{
	size_t end = w->peak_event + w->peak_with;

	for (size_t i = 0; i < end && i < h->n_events; i++) {
		const struct fah_heap_event *e = &h->events[i];
		const struct fah_heap_of *of = &h->processes[e->process];

		if (e->kind == FAH_HEAP_ALLOC)
			is_picked[e->what] =
				h->blocks[e->what].died_ns != h->blocks[e->what].born_ns;
		else if (e->kind == FAH_HEAP_FREE)
			is_picked[e->what] = false;
		for (uint64_t k = 0; e->kind == FAH_HEAP_END && k < of->n_survivors; k++)
			is_picked[h->survivors[of->first_survivor + k]] = false;
	}
}

static void mark(const struct fah_heap_records *h, enum fah_heap_view which, bool *is_picked)
{
	for (size_t i = 0; i < h->n_events; i++) {
		const struct fah_heap_block *b;

		if (h->events[i].kind != FAH_HEAP_ALLOC)
			continue;
		b = &h->blocks[h->events[i].what];
		is_picked[h->events[i].what] = which == FAH_HEAP_VIEW_LIVE
						       ? b->died_ns == FAH_HEAP_LIVES
					       : which == FAH_HEAP_VIEW_TEMPORARY ? b->is_temporary
										  : true;
	}
}

/* The same of every block, by shape: how many. */
static void count_peak(const struct fah_heap_records *h, const struct fah_heap_whole *w,
		       uint64_t *counts)
{
	const struct fah_heap_batches *b = h->batches;
	size_t end = w->peak_event + w->peak_with;

	for (size_t i = 0; i < end && i < h->n_events; i++) {
		const struct fah_heap_event *e = &h->events[i];
		const struct fah_heap_piece *piece;
		size_t n;

		if (e->kind == FAH_HEAP_END)
			for (size_t k = 0; k < b->n_shapes; k++)
				if (b->shapes[k].process == e->process)
					counts[k] = 0;
		if (e->kind != FAH_HEAP_PIECE)
			continue;
		piece = &b->pieces[e->what];
		n = i == w->peak_event ? w->peak_inside : piece->n;
		for (size_t k = 0; k < n; k++) {
			uint32_t event = b->events[piece->first + k], id = (uint32_t)e->what + 1;
			const struct fah_heap_life *life =
				fah_heap_life_at(&b->lives[piece->process], event & ~FAH_HEAP_WENT);

			if (event == FAH_HEAP_CHANGE || !life || !life->born)
				continue;
			if (event & FAH_HEAP_WENT)
				counts[life->shape - 1] -= life->died == id;
			else
				counts[life->shape - 1] +=
					life->born == id && !(life->died & FAH_HEAP_EARLY);
		}
	}
}

static void count(const struct fah_heap_records *h, enum fah_heap_view which, uint64_t *counts)
{
	const struct fah_heap_batches *b = h->batches;

	for (size_t p = 0; p < b->n_lives; p++)
		for (size_t page = 0; page < b->lives[p].n_pages; page++)
			for (uint32_t i = 0; b->lives[p].pages[page] && i < FAH_HEAP_PAGE; i++) {
				const struct fah_heap_life *life = &b->lives[p].pages[page][i];

				if (!life->born)
					continue;
				counts[life->shape - 1] +=
					which == FAH_HEAP_VIEW_LIVE ? !life->died
					: which == FAH_HEAP_VIEW_TEMPORARY
						? fah_heap_life_is_temporary(h, b, life)
						: 1;
			}
}

/* One block for all that are alike. */
static int make_alike(const struct fah_heap_records *h, enum fah_heap_view which,
		      const struct fah_heap_whole *whole, struct fah_heap_picked *ret)
{
	const struct fah_heap_batches *b = h->batches;
	_cleanup_(fah_freep) uint64_t *counts = calloc(b->n_shapes + 1, sizeof(*counts));

	ret->alike = calloc(b->n_shapes + 1, sizeof(*ret->alike));
	if (!counts || !ret->alike)
		return FAH_ERR_NOMEM;
	if (which == FAH_HEAP_VIEW_PEAK)
		count_peak(h, whole, counts);
	else
		count(h, which, counts);
	for (size_t i = 0; i < b->n_shapes; i++)
		ret->alike[i] = (struct fah_heap_block){
			.born_ns = b->shapes[i].first_ns,
			.bytes = b->shapes[i].bytes * counts[i],
			.weight = (double)(b->shapes[i].bytes * counts[i]),
			.thread = b->shapes[i].thread,
			.process = b->shapes[i].process,
			.node = b->shapes[i].node,
			.kind = (uint16_t)b->shapes[i].kind,
		};
	return 0;
}

static bool is_there(const struct fah_heap_block *b)
{
	return b->weight > 0;
}

/* In the order of their births, given to their threads. */
static int collect(const struct fah_profile *p, const bool *is_picked, struct fah_heap_picked *ret)
{
	const struct fah_heap_records *h = p->heap_records;
	size_t n_alike = ret->alike ? h->batches->n_shapes : 0;
	_cleanup_(fah_freep) size_t *next = calloc(p->n_threads + 1, sizeof(*next));
	size_t at = 0;

	ret->first = calloc(p->n_threads + 1, sizeof(*ret->first));
	ret->blocks = calloc(h->n_blocks + n_alike + 1, sizeof(*ret->blocks));
	if (!next || !ret->first || !ret->blocks)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->n_blocks; i++)
		next[h->blocks[i].thread] += is_picked[i];
	for (size_t i = 0; i < n_alike; i++)
		next[ret->alike[i].thread] += is_there(&ret->alike[i]);
	for (size_t i = 0; i <= p->n_threads; i++) {
		ret->first[i] = at;
		at += next[i];
		next[i] = ret->first[i];
	}
	for (size_t i = 0; i < h->n_events; i++)
		if (h->events[i].kind == FAH_HEAP_ALLOC && is_picked[h->events[i].what])
			ret->blocks[next[h->blocks[h->events[i].what].thread]++] =
				&h->blocks[h->events[i].what];
	for (size_t i = 0; i < n_alike; i++)
		if (is_there(&ret->alike[i]))
			ret->blocks[next[ret->alike[i].thread]++] = &ret->alike[i];
	return 0;
}

int fah_heap_pick(struct fah_profile *p, enum fah_heap_view which, struct fah_heap_picked *ret)
{
	_cleanup_(fah_freep) bool *is_picked = NULL;
	struct fah_heap_whole whole;
	struct fah_heap_clock clock;
	int err;

	if (!fah_profile_has_heap(p)) {
		ret->first = calloc(p->n_threads + 1, sizeof(*ret->first));
		return ret->first ? 0 : FAH_ERR_NOMEM;
	}
	err = fah_heap_order(p);
	is_picked = calloc(p->heap_records->n_blocks + 1, sizeof(*is_picked));
	if (err == 0 && !is_picked)
		err = FAH_ERR_NOMEM;
	if (err < 0)
		return err;
	fah_heap_clock_init(&clock, p->heap_records);
	if (which == FAH_HEAP_VIEW_PEAK) {
		err = fah_heap_whole(p, &clock, &whole);
		if (err < 0)
			return err;
		mark_peak(p->heap_records, &whole, is_picked);
	} else {
		mark(p->heap_records, which, is_picked);
	}
	if (p->heap_records->batches)
		err = make_alike(p->heap_records, which, &whole, ret);
	return err < 0 ? err : collect(p, is_picked, ret);
}

void fah_heap_picked_release(struct fah_heap_picked *picked)
{
	free(picked->blocks);
	free(picked->first);
	free(picked->alike);
}
