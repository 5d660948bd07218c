/*
 * heap_whole.c - see heap_whole.h.
 *
 * Records have what their process held and the most so far, of all blocks. Between two records it
 * may have held more than at both; the second one's `most` tells, not when. So a peak lies before
 * the first record that knows of it, or is that record, where it is a block with which as much was
 * held. In between the set of recorded blocks does not change: what each line held is known.
 */
#include "model/heap_whole.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/heap_batches.h"
#include "model/internal.h"

struct sums {
	uint64_t *held, *most; /* by process */
	bool *runs;
	double total, before;
};

/* What a process adds to the run: a forked one has its parent's memory until it writes to it. */
static double part_of(const struct fah_heap_of *of, uint64_t held)
{
	uint64_t shared = of->forked ? of->before : 0;

	return held > shared ? (double)(held - shared) : 0;
}

static double before_of(const struct fah_heap_of *of)
{
	return of->forked ? 0 : (double)of->before;
}

static bool candidate(struct fah_heap_whole *w, const struct sums *s, double total, size_t event,
		      bool with)
{
	if (!(total > w->all.peak))
		return false;
	w->peak_event = event;
	w->peak_with = with;
	w->before = s->before;
	return true;
}

/* Every block is known: the peak is where it is, unless another thread's was higher. */
static void take_piece(struct fah_heap_whole *w, const struct fah_heap_clock *c, struct sums *s,
		       const struct fah_heap_of *of, const struct fah_heap_event *e,
		       const struct fah_heap_piece *piece, size_t at)
{
	double without = s->total - (s->runs[e->process] ? part_of(of, s->held[e->process]) : 0);
	double inside = without + part_of(of, piece->peak), meanwhile = inside;

	if (!s->runs[e->process])
		s->before += before_of(of);
	s->runs[e->process] = true;
	if (e->most > s->most[e->process] && e->most > piece->peak) {
		meanwhile = without + part_of(of, e->most);
		candidate(w, s, meanwhile, at, false);
	} else if (candidate(w, s, inside, at, true)) {
		w->peak_inside = piece->peak_at;
	}
	s->total = without + part_of(of, e->held);
	s->held[e->process] = e->held;
	s->most[e->process] = e->most;
	fah_heap_account_set(&w->all, c, e->time_ns, s->total, meanwhile);
}

static void take(struct fah_heap_whole *w, const struct fah_heap_clock *c, struct sums *s,
		 const struct fah_heap_of *of, const struct fah_heap_event *e, size_t at)
{
	double without = s->total - (s->runs[e->process] ? part_of(of, s->held[e->process]) : 0);
	double meanwhile = without;

	if (e->kind == FAH_HEAP_END) {
		s->total = without;
		s->before -= s->runs[e->process] ? before_of(of) : 0;
		s->runs[e->process] = false;
		fah_heap_account_set(&w->all, c, e->time_ns, s->total, 0);
		return;
	}
	if (!s->runs[e->process])
		s->before += before_of(of);
	s->runs[e->process] = true;
	s->total = without + part_of(of, e->held);
	if (e->most > s->most[e->process])
		meanwhile += part_of(of, e->most);
	/* With this block as much is held as ever: the peak is now, not before. */
	if (!(e->kind == FAH_HEAP_ALLOC && e->held == e->most))
		candidate(w, s, meanwhile, at, false);
	if (meanwhile <= s->total || e->held == e->most)
		candidate(w, s, s->total, at, true);
	s->held[e->process] = e->held;
	s->most[e->process] = e->most;
	fah_heap_account_set(&w->all, c, e->time_ns, s->total, meanwhile);
}

int fah_heap_whole(const struct fah_profile *p, const struct fah_heap_clock *c,
		   struct fah_heap_whole *ret)
{
	const struct fah_heap_records *h = p->heap_records;
	_cleanup_(fah_freep) uint64_t *held = calloc(p->n_processes + 1, sizeof(*held));
	_cleanup_(fah_freep) uint64_t *most = calloc(p->n_processes + 1, sizeof(*most));
	_cleanup_(fah_freep) bool *runs = calloc(p->n_processes + 1, sizeof(*runs));
	struct sums s = {held, most, runs, 0, 0};

	if (!held || !most || !runs)
		return FAH_ERR_NOMEM;
	*ret = (struct fah_heap_whole){0};
	fah_heap_account_init(&ret->all, c);
	for (size_t i = 0; i < h->n_events; i++) {
		const struct fah_heap_event *e = &h->events[i];

		if (e->kind == FAH_HEAP_NONE)
			continue;
		if (e->kind == FAH_HEAP_PIECE)
			take_piece(ret, c, &s, &h->processes[e->process], e,
				   &h->batches->pieces[e->what], i);
		else
			take(ret, c, &s, &h->processes[e->process], e, i);
		if (e->kind != FAH_HEAP_END)
			ret->end = s.total;
	}
	if (h->n_events)
		ret->peak_ns = h->events[ret->peak_event].time_ns;
	fah_heap_account_close(&ret->all, c);
	return 0;
}
