/*
 * heap_order.c - what happened to blocks of memory, put in the order of time; each block gets its
 * process, its weight and its end.
 *
 * Threads leave their records in runs that are in order already, so runs are found and merged: one
 * thread alone costs one pass. Where two records have the same time, the one with the smaller
 * `most` came first, since that never falls.
 */
#include "model/heap_batches.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/internal.h"

#include <math.h>

#define NUMBERS_SPARE 4096 /* numbers that records were lost of */

double fah_heap_weight(uint64_t bytes, uint64_t interval)
{
	double size = (double)bytes;

	/* A block of no bytes is never picked: recorded all the same, it stands for itself. */
	if (fah_heap_is_every(interval) || !bytes)
		return size;
	return size / -expm1(-size / (double)interval);
}

static bool before(const struct fah_heap_event *a, const struct fah_heap_event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->most < b->most;
}

static size_t run_end(const struct fah_heap_event *e, size_t from, size_t n)
{
	size_t i = from + 1;

	while (i < n && !before(&e[i], &e[i - 1]))
		i++;
	return i;
}

static void merge(struct fah_heap_event *to, const struct fah_heap_event *e, size_t from,
		  size_t middle, size_t end)
{
	size_t a = from, b = middle;

	for (size_t i = from; i < end; i++)
		to[i] = b == end || (a < middle && !before(&e[b], &e[a])) ? e[a++] : e[b++];
}

/* Stable. Each round merges neighbouring runs, until one is left. */
static int sort_events(struct fah_heap_records *h)
{
	size_t n = h->n_events, runs;
	struct fah_heap_event *to;

	if (!n || run_end(h->events, 0, n) == n)
		return 0;
	to = reallocarray(NULL, h->cap_events, sizeof(*to));
	if (!to)
		return FAH_ERR_NOMEM;
	do {
		struct fah_heap_event *from = h->events;

		runs = 0;
		for (size_t i = 0; i < n; runs++) {
			size_t middle = run_end(from, i, n);
			size_t end = middle < n ? run_end(from, middle, n) : n;

			merge(to, from, i, middle, end);
			i = end;
		}
		h->events = to;
		to = from;
	} while (runs > 1);
	free(to);
	return 0;
}

/* What could not be known while the file was read. */
static void complete_blocks(const struct fah_profile *p, struct fah_heap_records *h)
{
	for (size_t i = 0; i < h->n_blocks; i++) {
		h->blocks[i].process = p->threads[h->blocks[i].thread].process;
		if (h->blocks[i].node >= p->n_nodes)
			h->blocks[i].node = 0;
	}
	for (size_t i = 0; i < h->n_copies; i++)
		if (h->copies[i].node >= p->n_nodes)
			h->copies[i].node = 0;
	for (size_t i = 0; i < h->n_events; i++)
		if (h->events[i].kind == FAH_HEAP_ALLOC)
			h->events[i].process = h->blocks[h->events[i].what].process;
}

/*
 * Which block a number of a process is: processes count their blocks from 1, so for most a table
 * does. A number that stands twice is the later block's.
 */
struct numbers {
	uint64_t *first; /* by process: where its numbers begin in index[] */
	uint32_t *index; /* block + 1 */
	struct fah_map others;
};

static int find_numbers(const struct fah_profile *p, const struct fah_heap_records *h,
			struct numbers *ret)
{
	uint64_t at = 0;

	ret->first = calloc(p->n_processes + 1, sizeof(*ret->first));
	if (!ret->first)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->n_blocks; i++)
		ret->first[h->blocks[i].process] += 2;
	for (size_t i = 0; i <= p->n_processes; i++) {
		uint64_t room = ret->first[i] ? ret->first[i] + NUMBERS_SPARE : 0;

		ret->first[i] = at;
		at += room;
	}
	ret->index = calloc(at + 1, sizeof(*ret->index));
	if (!ret->index)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->n_blocks; i++) {
		uint32_t process = h->blocks[i].process, *slot;

		if (h->numbers[i] < ret->first[process + 1] - ret->first[process])
			slot = &ret->index[ret->first[process] + h->numbers[i]];
		else
			slot = fah_map_put(&ret->others, (struct fah_key){h->numbers[i], process},
					   NULL);
		if (!slot)
			return FAH_ERR_NOMEM;
		*slot = (uint32_t)i + 1;
	}
	return 0;
}

static uint32_t number_find(const struct numbers *n, uint32_t process, uint64_t number)
{
	const uint32_t *slot;

	if (number < n->first[process + 1] - n->first[process])
		return n->index[n->first[process] + number];
	slot = fah_map_get(&n->others, (struct fah_key){number, process});
	return slot ? *slot : 0;
}

static void numbers_release(struct numbers *n)
{
	free(n->first);
	free(n->index);
	fah_map_release(&n->others);
}

/* Each process up to the end of its program; blocks of later never were. */
static void cut_endings(struct fah_heap_records *h)
{
	for (size_t i = 0; i < h->n_events; i++) {
		struct fah_heap_event *e = &h->events[i];
		struct fah_heap_of *of = &h->processes[e->process];

		if (e->kind == FAH_HEAP_ENDING && e->time_ns < of->ended_ns)
			of->ended_ns = e->time_ns;
	}
	for (size_t i = 0; i < h->n_events; i++) {
		struct fah_heap_event *e = &h->events[i];
		struct fah_heap_of *of = &h->processes[e->process];

		if (e->time_ns < of->ended_ns)
			continue;
		if (e->kind == FAH_HEAP_ALLOC)
			h->blocks[e->what].died_ns = h->blocks[e->what].born_ns;
		if (e->kind == FAH_HEAP_STATE) {
			of->lost = h->states[e->what].lost;
			of->copied = h->states[e->what].copied;
		}
		e->kind = FAH_HEAP_NONE;
	}
}

/* Frees of blocks that nobody recorded, and second ones, become states: what was held still says
 * something. */
static int end_blocks(const struct fah_profile *p, struct fah_heap_records *h)
{
	_cleanup_(numbers_release) struct numbers numbers = {0};
	int err = find_numbers(p, h, &numbers);

	if (err < 0)
		return err;
	for (size_t i = 0; i < h->n_events; i++) {
		struct fah_heap_event *e = &h->events[i];
		uint32_t block;

		if (e->kind != FAH_HEAP_FREE)
			continue;
		block = number_find(&numbers, e->process, e->what);
		if (!block || h->blocks[block - 1].died_ns != FAH_HEAP_LIVES ||
		    e->time_ns < h->blocks[block - 1].born_ns || e->time_ns == FAH_HEAP_LIVES) {
			e->kind = FAH_HEAP_STATE;
			e->what = UINT64_MAX;
			continue;
		}
		h->blocks[block - 1].died_ns = e->time_ns;
		e->what = block - 1;
		/* At the same time, so which record comes first is chance. */
		if (e->time_ns == h->blocks[block - 1].born_ns) {
			e->kind = FAH_HEAP_STATE;
			e->what = UINT64_MAX;
		}
	}
	return 0;
}

/* A process whose first state comes behind its first blocks, or never, has the interval of that,
 * or of the others. */
static void first_intervals(struct fah_heap_records *h, size_t n)
{
	uint64_t any = h->n_states ? h->states[0].interval : 0;

	for (size_t i = 0; i < n; i++)
		h->processes[i].interval = any;
	for (size_t i = h->n_states; i--;)
		h->processes[h->states[i].process - 1].interval = h->states[i].interval;
}

static void take_event(struct fah_heap_records *h, struct fah_heap_event *e)
{
	struct fah_heap_of *of = &h->processes[e->process];

	if (e->kind == FAH_HEAP_NONE)
		return;
	if (!of->seen)
		of->first_ns = e->time_ns;
	of->seen = true;
	of->last_ns = e->time_ns;
	if (e->most < e->held) /* no record has that */
		e->most = e->held;
	of->held = e->held;
	if (e->most > of->most)
		of->most = e->most;
	else
		e->most = of->most;
	if (e->kind == FAH_HEAP_STATE && e->what < h->n_states) {
		const struct fah_rec_heap *s = &h->states[e->what];

		of->interval = s->interval;
		of->before = s->before;
		of->lost = s->lost > of->lost ? s->lost : of->lost;
		of->copied = s->copied > of->copied ? s->copied : of->copied;
	} else if (e->kind == FAH_HEAP_ALLOC) {
		h->blocks[e->what].weight = fah_heap_weight(h->blocks[e->what].bytes, of->interval);
		of->blocks++;
		of->asked += h->blocks[e->what].weight;
		h->meanwhile[e->what] = of->asked;
	} else if (e->kind == FAH_HEAP_FREE) {
		h->meanwhile[e->what] = of->asked - h->meanwhile[e->what];
	}
}

/*
 * Temporary is a block that is given back soon: before its process has asked for as much again, and
 * a little (a hundredth of all that it asks for in the run); so slow machines make no difference.
 * And within a tenth of the time recorded, or work without allocations would make it young.
 */
static void find_temporary(struct fah_heap_records *h)
{
	uint64_t most_ns = (h->to_ns - h->from_ns) / 10;

	for (size_t i = 0; i < h->n_blocks; i++) {
		struct fah_heap_block *b = &h->blocks[i];

		if (b->died_ns == FAH_HEAP_LIVES || b->died_ns - b->born_ns > most_ns)
			continue;
		b->is_temporary =
			b->died_ns == b->born_ns ||
			h->meanwhile[i] <= b->weight + h->processes[b->process].asked / 100;
	}
}

/* That of its program where it is known, else its own; behind all of its records. 0: not known. */
static uint64_t end_of(const struct fah_profile *p, const struct fah_heap_records *h, uint32_t i)
{
	const struct fah_heap_of *of = &h->processes[i];
	uint64_t end = of->ended_ns == UINT64_MAX ? p->processes[i].end_ns : of->ended_ns;

	return end && end < of->last_ns ? of->last_ns : end;
}

/* The end of each process, as an event. */
static int add_ends(const struct fah_profile *p, struct fah_heap_records *h)
{
	h->from_ns = UINT64_MAX;
	for (uint32_t i = 0; i < p->n_processes; i++) {
		const struct fah_heap_of *of = &h->processes[i];

		if (of->seen && of->first_ns < h->from_ns)
			h->from_ns = of->first_ns;
		if (of->seen && of->last_ns > h->to_ns)
			h->to_ns = of->last_ns;
		if (of->seen && end_of(p, h, i) > h->to_ns)
			h->to_ns = end_of(p, h, i);
	}
	if (h->from_ns == UINT64_MAX)
		h->from_ns = h->to_ns;
	for (uint32_t i = 0; i < p->n_processes; i++) {
		struct fah_heap_of *of = &h->processes[i];

		if (!of->seen)
			continue;
		of->end_ns = end_of(p, h, i);
		if (!of->end_ns)
			of->end_ns = h->to_ns;
		if (!fah_room(&h->events, h->n_events, &h->cap_events, sizeof(*h->events)))
			return FAH_ERR_NOMEM;
		h->events[h->n_events++] =
			(struct fah_heap_event){of->end_ns, 0, UINT64_MAX, 0, i, FAH_HEAP_END};
	}
	return sort_events(h);
}

static int find_survivors(struct fah_heap_records *h, size_t n_processes)
{
	uint64_t at = 0;

	for (size_t i = 0; i < h->n_blocks; i++)
		if (h->blocks[i].died_ns == FAH_HEAP_LIVES)
			h->processes[h->blocks[i].process].n_survivors++;
	for (size_t i = 0; i < n_processes; i++) {
		h->processes[i].first_survivor = at;
		at += h->processes[i].n_survivors;
		h->processes[i].n_survivors = 0;
	}
	h->survivors = calloc(at + 1, sizeof(*h->survivors));
	if (!h->survivors)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < h->n_blocks; i++) {
		struct fah_heap_of *of = &h->processes[h->blocks[i].process];

		if (h->blocks[i].died_ns == FAH_HEAP_LIVES)
			h->survivors[of->first_survivor + of->n_survivors++] = (uint32_t)i;
	}
	return 0;
}

static int order(const struct fah_profile *p, struct fah_heap_records *h)
{
	int err;

	h->processes = calloc(p->n_processes + 1, sizeof(*h->processes));
	if (!h->processes)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		h->processes[i] = (struct fah_heap_of){.forked = p->processes[i].forked,
						       .ended_ns = UINT64_MAX};
	complete_blocks(p, h);
	err = sort_events(h);
	if (err == 0)
		cut_endings(h);
	if (err == 0)
		err = end_blocks(p, h);
	if (err < 0)
		return err;
	if (h->batches)
		err = fah_heap_batches_settle(p, h);
	if (err < 0)
		return err;
	h->meanwhile = calloc(h->n_blocks + 1, sizeof(*h->meanwhile));
	if (!h->meanwhile)
		return FAH_ERR_NOMEM;
	first_intervals(h, p->n_processes);
	for (size_t i = 0; i < h->n_events; i++)
		take_event(h, &h->events[i]);
	err = add_ends(p, h);
	find_temporary(h);
	return err < 0 ? err : find_survivors(h, p->n_processes);
}

int fah_heap_order(struct fah_profile *p)
{
	struct fah_heap_records *h = p->heap_records;

	if (!h->ordered) {
		h->ordered = true;
		h->order_err = order(p, h);
		free(TAKE_PTR(h->numbers));
		free(TAKE_PTR(h->meanwhile));
	}
	return h->order_err;
}
