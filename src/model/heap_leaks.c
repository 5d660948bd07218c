/*
 * heap_leaks.c - see heap_leaks.h.
 *
 * Each line is judged in each process alone, by its recorded blocks. Its time, from its first
 * block to the end of the process, has SLICES parts; kept[k] is the least that it held at any time
 * from the beginning of part k on: what was there then and never went. That never falls, so it is
 * blind for garbage, for buffers that grow by being replaced, for caches that are emptied at last;
 * what is left are tables made once, pools that fill, and leaks, of which only leaks go on growing.
 */
#include "model/heap_leaks.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "model/heap_records.h"

#define SLICES 12
#define SEPARATE 16
#define TIMES_MIN 5	  /* so often it must have grown, ... */
#define THIRD_SHARE 0.05  /* ... in each third by this share of all, ... */
#define HALF_SHARE 0.2	  /* ... and in the later half by this */
#define WINDOW_SHARE 0.25 /* of the time recorded: what is younger can't be told from results */
#define LIKELIHOOD_MIN 0.85

/* The blocks of a line in a process: from first on in the list, by birth. */
struct group {
	uint32_t line, process;
	size_t first, n;
};

struct groups {
	struct group *all;
	size_t n, cap;
	struct fah_map ids;
	uint32_t *of;	/* by block: its group; FAH_HEAP_NO_LINE */
	uint32_t *list; /* blocks, group by group */
};

static void groups_release(struct groups *g)
{
	free(g->all);
	free(g->of);
	free(g->list);
	fah_map_release(&g->ids);
}

static int put_block(struct groups *g, uint32_t block, uint32_t process, uint32_t line)
{
	uint32_t *slot;
	bool is_new;

	g->of[block] = FAH_HEAP_NO_LINE;
	if (line == FAH_HEAP_NO_LINE)
		return 0;
	if (!fah_room(&g->all, g->n, &g->cap, sizeof(*g->all)))
		return FAH_ERR_NOMEM;
	slot = fah_map_put(&g->ids, fah_key_u64((uint64_t)process << 32 | line), &is_new);
	if (!slot)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*slot = (uint32_t)g->n;
		g->all[g->n++] = (struct group){.line = line, .process = process};
	}
	g->of[block] = *slot;
	g->all[*slot].n++;
	return 0;
}

static int make_groups(const struct fah_heap_records *h, const uint32_t *line_of, struct groups *g)
{
	size_t at = 0;

	g->of = calloc(h->n_blocks + 1, sizeof(*g->of));
	g->list = calloc(h->n_blocks + 1, sizeof(*g->list));
	if (!g->of || !g->list)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < h->n_blocks; i++)
		if (put_block(g, i, h->blocks[i].process, line_of[h->blocks[i].node]) < 0)
			return FAH_ERR_NOMEM;
	for (size_t i = 0; i < g->n; i++) {
		g->all[i].first = at;
		at += g->all[i].n;
		g->all[i].n = 0;
	}
	for (size_t i = 0; i < h->n_events; i++) {
		struct group *to;

		if (h->events[i].kind != FAH_HEAP_ALLOC ||
		    g->of[h->events[i].what] == FAH_HEAP_NO_LINE)
			continue;
		to = &g->all[g->of[h->events[i].what]];
		g->list[to->first + to->n++] = (uint32_t)h->events[i].what;
	}
	return 0;
}

/* A block that goes. */
struct death {
	uint64_t time_ns;
	double weight;
};

static int by_time(const void *a, const void *b)
{
	const struct death *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct window {
	uint64_t from_ns, to_ns;
};

static uint64_t mark(const struct window *w, int k)
{
	return w->from_ns + (uint64_t)((double)(w->to_ns - w->from_ns) * k / SLICES);
}

struct walk {
	const struct window *w;
	double held;
	int slice;
	double least[SLICES]; /* in each slice */
};

/* Up to here it held what it holds. */
static void walk_to(struct walk *k, uint64_t time_ns)
{
	while (k->slice + 1 < SLICES && time_ns >= mark(k->w, k->slice + 1))
		k->least[++k->slice] = k->held;
}

static void walk_change(struct walk *k, uint64_t time_ns, double by)
{
	walk_to(k, time_ns);
	k->held += by;
	if (k->held < k->least[k->slice])
		k->least[k->slice] = k->held;
}

/* kept[0..SLICES], the last being what is held in the end. */
static int find_kept(const struct fah_heap_records *h, const uint32_t *blocks, size_t n,
		     const struct window *w, double kept[SLICES + 1])
{
	_cleanup_(fah_freep) struct death *deaths = calloc(n + 1, sizeof(*deaths));
	struct walk k = {.w = w};
	size_t n_deaths = 0, at = 0;

	if (!deaths)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct fah_heap_block *b = &h->blocks[blocks[i]];

		if (b->died_ns != FAH_HEAP_LIVES)
			deaths[n_deaths++] = (struct death){b->died_ns, b->weight};
	}
	qsort(deaths, n_deaths, sizeof(*deaths), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct fah_heap_block *b = &h->blocks[blocks[i]];

		for (; at < n_deaths && deaths[at].time_ns <= b->born_ns; at++)
			walk_change(&k, deaths[at].time_ns, -deaths[at].weight);
		walk_change(&k, b->born_ns, b->weight);
	}
	for (; at < n_deaths; at++)
		walk_change(&k, deaths[at].time_ns, -deaths[at].weight);
	walk_to(&k, w->to_ns);
	kept[SLICES] = k.held;
	for (int i = SLICES; i--;)
		kept[i] = k.least[i] < kept[i + 1] ? k.least[i] : kept[i + 1];
	return 0;
}

/* How often blocks came that stayed: times that are at least a part in SEPARATE from each other. A
 * table is made at one such time, however many its blocks are. */
static int separate_times(const struct fah_heap_records *h, const uint32_t *blocks, size_t n,
			  const struct window *w)
{
	uint64_t part = (w->to_ns - w->from_ns) / SEPARATE, next = 0;
	int times = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fah_heap_block *b = &h->blocks[blocks[i]];

		if (b->died_ns != FAH_HEAP_LIVES || b->born_ns < next)
			continue;
		times++;
		next = b->born_ns + part;
	}
	return times;
}

static bool is_steady(const double kept[SLICES + 1])
{
	double all = kept[SLICES];

	for (int i = 0; i < 3; i++)
		if (kept[(i + 1) * SLICES / 3] - kept[i * SLICES / 3] < THIRD_SHARE * all)
			return false;
	return all - kept[SLICES / 2] >= HALF_SHARE * all;
}

/* Of the blocks of the first half that lived to the last quarter, those that live still. */
static double likelihood(const struct fah_heap_records *h, const uint32_t *blocks, size_t n,
			 const struct window *w)
{
	uint64_t half = mark(w, SLICES / 2), late = mark(w, SLICES * 3 / 4);
	double old = 0, stayed = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fah_heap_block *b = &h->blocks[blocks[i]];

		if (b->born_ns >= half || b->died_ns <= late)
			continue;
		old++;
		stayed += b->died_ns == FAH_HEAP_LIVES;
	}
	return (stayed + 1) / (old + 2);
}

static int judge(const struct fah_heap_records *h, const struct groups *g,
		 const struct group *group, double least, struct fah_heap_leak *ret)
{
	const struct fah_heap_of *of = &h->processes[group->process];
	const uint32_t *blocks = g->list + group->first;
	struct window w = {h->blocks[blocks[0]].born_ns, of->end_ns};
	double kept[SLICES + 1], chance, seconds = (double)(w.to_ns - w.from_ns) * 1e-9;
	int err;

	chance = likelihood(h, blocks, group->n, &w);
	if (chance < LIKELIHOOD_MIN || separate_times(h, blocks, group->n, &w) < TIMES_MIN ||
	    seconds < WINDOW_SHARE * 1e-9 * (double)(w.to_ns - of->first_ns))
		return 0;
	err = find_kept(h, blocks, group->n, &w, kept);
	if (err < 0)
		return err;
	if (!is_steady(kept) || kept[SLICES] < least || !(seconds > 0))
		return 0;
	if (chance > ret->likelihood)
		ret->likelihood = chance;
	ret->velocity += (kept[SLICES] - kept[0]) / seconds;
	return 0;
}

int fah_heap_leaks(const struct fah_profile *p, const uint32_t *line_of, double least,
		   struct fah_heap_leak *ret)
{
	_cleanup_(groups_release) struct groups g = {0};
	int err = make_groups(p->heap_records, line_of, &g);

	for (size_t i = 0; err == 0 && i < g.n; i++)
		if (g.all[i].n)
			err = judge(p->heap_records, &g, &g.all[i], least, &ret[g.all[i].line]);
	return err;
}
