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
#include "model/heap_batches.h"

#define SLICES 12
#define SEPARATE 16
#define TIMES_MIN 5	  /* so often it must have grown, ... */
#define THIRD_SHARE 0.05  /* ... in each third by this share of all, ... */
#define HALF_SHARE 0.2	  /* ... and in the later half by this */
#define WINDOW_SHARE 0.25 /* of the time recorded: what is younger can't be told from results */
#define LIKELIHOOD_MIN 0.85

/* The blocks of a line in a process. */
struct group {
	uint32_t line, process;
	uint64_t from_ns;   /* its first block's birth */
	double old, stayed; /* blocks: see count_old */
	bool suspect;	    /* its blocks are looked at, one by one: */
	size_t first, n;    /* in the list, by birth */
};

struct span {
	uint64_t born_ns, died_ns;
	double weight;
};

struct groups {
	const struct fah_heap_records *h;
	struct group *all;
	size_t n, cap;
	struct fah_map ids;
	uint32_t *of_block, *of_shape; /* its group; FAH_HEAP_NO_LINE */
	struct span *list;	       /* group by group */
};

static void groups_release(struct groups *g)
{
	free(g->all);
	free(g->of_block);
	free(g->of_shape);
	free(g->list);
	fah_map_release(&g->ids);
}

static int put(struct groups *g, uint32_t *ret, uint32_t process, uint32_t line, uint64_t born_ns)
{
	uint32_t *slot;
	bool is_new;

	*ret = FAH_HEAP_NO_LINE;
	if (line == FAH_HEAP_NO_LINE || born_ns == UINT64_MAX)
		return 0;
	if (!fah_room(&g->all, g->n, &g->cap, sizeof(*g->all)))
		return FAH_ERR_NOMEM;
	slot = fah_map_put(&g->ids, fah_key_u64((uint64_t)process << 32 | line), &is_new);
	if (!slot)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*slot = (uint32_t)g->n;
		g->all[g->n++] =
			(struct group){.line = line, .process = process, .from_ns = born_ns};
	}
	*ret = *slot;
	if (born_ns < g->all[*slot].from_ns)
		g->all[*slot].from_ns = born_ns;
	return 0;
}

static int make_groups(const uint32_t *line_of, struct groups *g)
{
	const struct fah_heap_records *h = g->h;
	const struct fah_heap_batches *b = h->batches;
	size_t n_shapes = b ? b->n_shapes : 0;
	int err = 0;

	g->of_block = calloc(h->n_blocks + 1, sizeof(*g->of_block));
	g->of_shape = calloc(n_shapes + 1, sizeof(*g->of_shape));
	if (!g->of_block || !g->of_shape)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; err == 0 && i < h->n_blocks; i++)
		err = put(g, &g->of_block[i], h->blocks[i].process, line_of[h->blocks[i].node],
			  h->blocks[i].born_ns);
	for (size_t i = 0; err == 0 && i < n_shapes; i++)
		err = put(g, &g->of_shape[i], b->shapes[i].process, line_of[b->shapes[i].node],
			  b->shapes[i].first_ns);
	return err;
}

typedef void (*birth_fn)(struct groups *g, struct group *group, const struct span *s);

static void piece_births(struct groups *g, const struct fah_heap_piece *piece, birth_fn fn)
{
	const struct fah_heap_batches *b = g->h->batches;
	uint32_t id = (uint32_t)(piece - b->pieces) + 1;

	for (size_t i = 0; i < piece->n; i++) {
		uint32_t event = b->events[piece->first + i], group;
		const struct fah_heap_life *life;

		if (event & FAH_HEAP_WENT)
			continue;
		life = fah_heap_life_at(&b->lives[piece->process], event);
		if (!life || life->born != id)
			continue;
		group = g->of_shape[life->shape - 1];
		if (group == FAH_HEAP_NO_LINE)
			continue;
		fn(g, &g->all[group],
		   &(struct span){piece->time_ns,
				  !life->died			? FAH_HEAP_LIVES
				  : life->died & FAH_HEAP_EARLY ? piece->time_ns
								: b->pieces[life->died - 1].time_ns,
				  (double)b->shapes[life->shape - 1].bytes});
	}
}

/* All blocks with a line, in the order of time. */
static void each_birth(struct groups *g, birth_fn fn)
{
	const struct fah_heap_records *h = g->h;

	for (size_t i = 0; i < h->n_events; i++) {
		const struct fah_heap_event *e = &h->events[i];
		const struct fah_heap_block *b;

		if (e->kind == FAH_HEAP_PIECE)
			piece_births(g, &h->batches->pieces[e->what], fn);
		if (e->kind != FAH_HEAP_ALLOC || g->of_block[e->what] == FAH_HEAP_NO_LINE)
			continue;
		b = &h->blocks[e->what];
		fn(g, &g->all[g->of_block[e->what]],
		   &(struct span){b->born_ns, b->died_ns, b->weight});
	}
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
static int find_kept(const struct span *spans, size_t n, const struct window *w,
		     double kept[SLICES + 1])
{
	_cleanup_(fah_freep) struct death *deaths = calloc(n + 1, sizeof(*deaths));
	struct walk k = {.w = w};
	size_t n_deaths = 0, at = 0;

	if (!deaths)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct span *b = &spans[i];

		if (b->died_ns != FAH_HEAP_LIVES)
			deaths[n_deaths++] = (struct death){b->died_ns, b->weight};
	}
	qsort(deaths, n_deaths, sizeof(*deaths), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct span *b = &spans[i];

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
static int separate_times(const struct span *spans, size_t n, const struct window *w)
{
	uint64_t part = (w->to_ns - w->from_ns) / SEPARATE, next = 0;
	int times = 0;

	for (size_t i = 0; i < n; i++) {
		const struct span *b = &spans[i];

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

static struct window window_of(const struct groups *g, const struct group *group)
{
	return (struct window){group->from_ns, g->h->processes[group->process].end_ns};
}

/* Blocks of the first half that lived to the last quarter, and those that live still. */
static void count_old(struct groups *g, struct group *group, const struct span *s)
{
	struct window w = window_of(g, group);

	group->n++;
	if (s->born_ns >= mark(&w, SLICES / 2) || s->died_ns <= mark(&w, SLICES * 3 / 4))
		return;
	group->old++;
	group->stayed += s->died_ns == FAH_HEAP_LIVES;
}

static double likelihood(const struct group *group)
{
	return (group->stayed + 1) / (group->old + 2);
}

static void list(struct groups *g, struct group *group, const struct span *s)
{
	if (group->suspect)
		g->list[group->first + group->n++] = *s;
}

/* Lists the blocks of groups that may be leaks. */
static int list_suspects(struct groups *g)
{
	size_t at = 0;

	each_birth(g, count_old);
	for (size_t i = 0; i < g->n; i++) {
		struct group *group = &g->all[i];
		struct window w = window_of(g, group);
		uint64_t first_ns = g->h->processes[group->process].first_ns;

		group->suspect = group->n && likelihood(group) >= LIKELIHOOD_MIN &&
				 (double)(w.to_ns - w.from_ns) >=
					 WINDOW_SHARE * (double)(w.to_ns - first_ns);
		group->first = at;
		at += group->suspect ? group->n : 0;
		group->n = 0;
	}
	g->list = calloc(at + 1, sizeof(*g->list));
	if (!g->list)
		return FAH_ERR_NOMEM;
	if (at)
		each_birth(g, list);
	return 0;
}

static int judge(const struct groups *g, const struct group *group, double least,
		 struct fah_heap_leak *ret)
{
	const struct span *spans = g->list + group->first;
	struct window w = window_of(g, group);
	double kept[SLICES + 1], seconds = (double)(w.to_ns - w.from_ns) * 1e-9;
	int err;

	if (separate_times(spans, group->n, &w) < TIMES_MIN)
		return 0;
	err = find_kept(spans, group->n, &w, kept);
	if (err < 0)
		return err;
	if (!is_steady(kept) || kept[SLICES] < least || !(seconds > 0))
		return 0;
	if (likelihood(group) > ret->likelihood)
		ret->likelihood = likelihood(group);
	ret->velocity += (kept[SLICES] - kept[0]) / seconds;
	return 0;
}

int fah_heap_leaks(const struct fah_profile *p, const uint32_t *line_of, double least,
		   struct fah_heap_leak *ret)
{
	_cleanup_(groups_release) struct groups g = {.h = p->heap_records};
	int err = make_groups(line_of, &g);

	if (err == 0)
		err = list_suspects(&g);
	for (size_t i = 0; err == 0 && i < g.n; i++)
		if (g.all[i].suspect)
			err = judge(&g, &g.all[i], least, &ret[g.all[i].line]);
	return err;
}
