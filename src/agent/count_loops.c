/*
 * count_loops.c - how often a loop calls while its calls are not counted: by its turns.
 *
 * A main loop begins only once, so that nobody's starts tell. But how far it has come stands in its
 * iterator. It is looked at when its calls begin to be counted and when they cease to be, which
 * tells the calls of a turn; from then on at samples that find it at the same call. Nothing tells
 * that an iterator is still the same one, at the same place. But of one that is begun anew again
 * and again half of the looks find it further back than before, and the others not as far as the
 * clock would have it: then turns tell nothing.
 *
 * Loops are met and left in callbacks, with the GIL, and looked at in handlers. One at a time has
 * the table; who cannot have it does without. A look takes some microseconds.
 */
#include "agent/count.h"
#include "agent/count_frames.h"
#include "core/sys.h"
#include "cpython/loops.h"

#include <string.h>

#define LOOPS 64u
#define LEVELS 4u    /* loops in loops */
#define UP_MAX 64    /* frames to the caller, in a callback, ... */
#define UP_SAMPLE 8u /* ... and at a sample */
#define LOOK_EVERY_NS 40000000u
#define TURNS_LEAST 64 /* while calls were counted: fewer say little */
#define CALLS_LEAST 1024
#define CALL_LEAST_NS 25.0
#define LEAST_OF_CLOCK 0.25 /* which is far off where calls are short themselves */
#define MOST_OF_CLOCK 4.0
#define SPREAD 0.4 /* of the pace, by its mean: a busy machine's is 0.2 */
/* Without being seen calling, by what that takes as a rule: */
#define BY_CHANCE 12.0 /* hardly ever */
#define BY_CHANCE_LAST 5.0
#define SAMPLES_FIRST 20

/* A loop, as it was at a moment. */
struct view {
	uint64_t frame, starts; /* the caller's: another call of it is another loop */
	uint64_t calls, work_ns;
	uint32_t n; /* 0: nothing is known */
	struct fah_py_loop at[LEVELS];
};

struct loop {
	uint32_t edge;		      /* index */
	uint64_t code;		      /* the caller's */
	uint32_t tid;		      /* of who left it */
	bool shared;		      /* other threads are in such a loop too: turns tell nothing */
	bool away;		      /* its calls are not counted: since `left` */
	uint64_t looked_ns;	      /* then: when */
	struct view from;	      /* where calls began to be counted, ... */
	struct view left;	      /* ... and ceased to be, or it was last looked at */
	double calls, turns, work_ns; /* while they were */
	/* Calls that were not, by turns, in so much CPU, the squares of that pace by CPU, and in
	 * how many looks; others that say nothing, though it called, and the CPU up to those. */
	double passed, passed_ns, squares, doubtful_ns;
	uint32_t good, bad;
	/* Samples in its frame since it was last seen at the call, the most of them since it was
	 * looked at, all, and those at the call: a loop may cease to call, and go on. */
	uint32_t since, most_since, samples, calling;
	uint64_t away_work_ns, last_work_ns,
		calling_work_ns; /* when it was left, at the last of
				  * those samples, of those at the call */
};

static struct loop loops[LOOPS];
static _Atomic uint32_t n_loops, n_away;
static _Atomic bool taken;
static struct fah_py_iterators types;
static bool usable; /* a loop was seen to count as it does */

static const struct {
	const char *name;
	size_t at;
} wanted[] = {
#define TYPE(field, name) \
	{ \
		name, offsetof(struct fah_py_iterators, field) \
	}
	TYPE(list, "PyList_Type"),
	TYPE(tuple, "PyTuple_Type"),
	TYPE(range_iterator, "PyRangeIter_Type"),
	TYPE(list_iterator, "PyListIter_Type"),
	TYPE(tuple_iterator, "PyTupleIter_Type"),
	TYPE(dict_keys, "PyDictIterKey_Type"),
	TYPE(dict_values, "PyDictIterValue_Type"),
	TYPE(dict_items, "PyDictIterItem_Type"),
	TYPE(enumerate, "PyEnum_Type"),
	TYPE(map, "PyMap_Type"),
	TYPE(zip, "PyZip_Type"),
#undef TYPE
};

void fah_loops_clear(void)
{
	atomic_store(&n_loops, 0);
	atomic_store(&n_away, 0);
	atomic_store(&taken, false);
}

static bool take(void)
{
	return !atomic_exchange_explicit(&taken, true, memory_order_acquire);
}

static void give(void)
{
	atomic_store_explicit(&taken, false, memory_order_release);
}

/* The frame that made this call, of which the newest is. 0: not found. */
static uint64_t frame_of(const struct fah_edge *e)
{
	uint64_t frame = fah_frame_current();

	for (int i = 0; i < UP_MAX && (frame = fah_frame_outer(frame)); i++)
		if (fah_frame_word(frame + fah_agent.layout.f_instr) == e->at)
			return frame;
	return 0;
}

static void look(const struct fah_mem *mem, const struct fah_edge *e, uint64_t frame,
		 struct view *ret)
{
	const struct fah_counted *caller = e->from ? fah_counted_at(e->from - 1) : NULL;

	ret->n = 0;
	if (!frame || !caller)
		return;
	ret->frame = frame;
	ret->starts = atomic_load_explicit(&caller->n, memory_order_relaxed);
	ret->calls = atomic_load_explicit(&e->n, memory_order_relaxed);
	ret->work_ns = fah_count_work();
	ret->n = fah_py_loops(mem, &fah_agent.layout, &types, frame, ret->at, LEVELS);
}

static bool is_same_start(const struct view *a, const struct view *b)
{
	return a->frame == b->frame && a->starts == b->starts;
}

/* From one view to another, of the innermost loop; 0 or less: they do not tell. The turns of a loop
 * around it have as many each as the inner one is long. */
static double turns_between(const struct view *a, const struct view *b)
{
	double turns = 0;

	if (a->n != b->n || !is_same_start(a, b))
		return 0;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct fah_py_loop *from = &a->at[i], *to = &b->at[i];

		if (turns != 0) {
			if (!from->length || !to->length)
				return 0;
			turns *= ((double)from->length + (double)to->length) / 2;
		} else if (from->what != to->what) {
			return 0;
		}
		turns += (double)(to->at - from->at);
	}
	return turns;
}

/* Whether it has called all the time, as far as samples show it: seldom seen at it, that may be for
 * long by chance. */
static bool went_on_calling(const struct loop *l, double by_chance)
{
	double others = (double)l->samples - l->most_since;

	return (double)l->most_since * (l->calling + 1) < by_chance * (others + SAMPLES_FIRST);
}

static bool is_steady(const struct loop *l)
{
	double pace = l->passed / l->passed_ns;

	return l->good && !l->shared && l->bad * 2 <= l->good &&
	       l->squares / l->passed_ns - pace * pace <= SPREAD * SPREAD * pace * pace;
}

/* What is known so far, for who writes it. */
static void tell(const struct loop *l)
{
	struct fah_edge *e = fah_edge_at(l->edge);
	double all_ns = l->passed_ns + l->doubtful_ns;
	bool known = is_steady(l);

	atomic_store_explicit(&e->passed, known ? (uint64_t)(l->passed / l->passed_ns * all_ns) : 0,
			      memory_order_relaxed);
}

/* It is over: as long as its frame was there it has gone on as before; or, where it was not seen
 * calling for too long of that, or that is long itself, for as long as that takes as a rule. */
static void pass_rest(struct loop *l)
{
	uint64_t end = l->last_work_ns;

	if (end <= l->left.work_ns)
		return;
	if (!went_on_calling(l, BY_CHANCE_LAST) ||
	    (double)(end - l->left.work_ns) > l->passed_ns / 2) {
		end = l->calling_work_ns < l->left.work_ns ? l->left.work_ns : l->calling_work_ns;
		end += (l->last_work_ns - l->away_work_ns) / (l->calling + 1);
		end = end < l->last_work_ns ? end : l->last_work_ns;
	}
	l->doubtful_ns += (double)(end - l->left.work_ns);
	tell(l);
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* From where it was last seen up to now, and now it is seen there. */
static void pass(struct loop *l, const struct view *now)
{
	double calls = turns_between(&l->left, now) * l->calls / l->turns;
	double ns = (double)(now->work_ns - l->left.work_ns);
	/* what was taken off for the counting is not exact: no call takes less */
	double by_clock = ns / greater(l->work_ns / l->calls, CALL_LEAST_NS);

	if (!is_same_start(now, &l->left)) {
		pass_rest(l);
	} else if (l->left.n && went_on_calling(l, BY_CHANCE)) {
		if (ns > 0 && calls > LEAST_OF_CLOCK * by_clock &&
		    calls < MOST_OF_CLOCK * by_clock) {
			l->good++;
			l->passed += calls;
			l->passed_ns += ns;
			l->squares += calls * calls / ns;
		} else {
			l->bad++;
			l->doubtful_ns += ns;
		}
		tell(l);
	}
	l->left = *now;
	l->since = l->most_since = 0;
}

static void set_away(struct loop *l, bool away)
{
	if (l->away != away)
		atomic_fetch_add(&n_away, away ? 1 : (uint32_t)-1);
	l->away = fah_edge_at(l->edge)->away = away;
}

void fah_loop_begins(struct fah_edge *e)
{
	uint32_t n = atomic_load(&n_loops);

	if (!usable || !e->from || !take())
		return;
	if (!e->loop && n < LOOPS) {
		memset(&loops[n], 0, sizeof(loops[n]));
		loops[n].edge = fah_edge_index(e);
		loops[n].code = fah_counted_at(e->from - 1)->code;
		e->loop = n + 1;
		atomic_store(&n_loops, n + 1);
	}
	if (e->loop && !loops[e->loop - 1].from.n)
		look(&fah_mem_self, e, frame_of(e), &loops[e->loop - 1].from);
	give();
}

bool fah_loop_wants_more(const struct fah_edge *e)
{
	const struct loop *l = e->loop ? &loops[e->loop - 1] : NULL;

	return l && l->from.n && l->turns < TURNS_LEAST &&
	       atomic_load_explicit(&e->n, memory_order_relaxed) - l->from.calls < CALLS_LEAST;
}

void fah_loop_left(struct fah_edge *e)
{
	struct loop *l = e->loop ? &loops[e->loop - 1] : NULL;
	double turns;

	if (!l || !take())
		return;
	look(&fah_mem_self, e, frame_of(e), &l->left);
	turns = l->from.n ? turns_between(&l->from, &l->left) : 0;
	if (turns > 0) {
		l->turns += turns;
		l->calls += (double)(l->left.calls - l->from.calls);
		if (l->left.work_ns > l->from.work_ns)
			l->work_ns += (double)(l->left.work_ns - l->from.work_ns);
	}
	l->from.n = 0;
	l->looked_ns = fah_now_mono();
	l->tid = (uint32_t)FAH_SYS0(SYS_gettid);
	l->since = l->most_since = 0;
	set_away(l, l->left.n > 0 && l->turns >= TURNS_LEAST && l->calls > 0);
	give();
}

void fah_loop_forget(struct fah_edge *e)
{
	if (e->loop && !e->away)
		loops[e->loop - 1].from.n = 0;
}

void fah_loop_again(struct fah_edge *e)
{
	struct loop *l = &loops[e->loop - 1];

	if (!take())
		return;
	look(&fah_mem_self, e, frame_of(e), &l->from);
	if (l->from.n)
		pass(l, &l->from);
	set_away(l, false);
	give();
}

/* Its function was called again: it is another loop. */
static void begins_anew(struct loop *l, uint64_t starts)
{
	pass_rest(l);
	l->left.n = 0;
	l->left.starts = starts;
	l->left.work_ns = fah_count_work();
	l->since = l->most_since = 0;
}

/* Whether a sample finds it at this call. */
static bool is_calling(const struct fah_thread_state *t, struct loop *l)
{
	const struct fah_edge *e = fah_edge_at(l->edge);
	uint64_t instr, starts = atomic_load(&fah_counted_at(e->from - 1)->n);
	uint32_t i = 0, n = t->walk.n_frames < UP_SAMPLE ? t->walk.n_frames : UP_SAMPLE;

	while (i < n && t->walk.frames[i].code != l->code)
		i++;
	if (i == n)
		return false;
	if (t->tid != l->tid) {
		l->shared = true;
		tell(l);
		return false;
	}
	if (starts != l->left.starts)
		begins_anew(l, starts);
	l->samples++;
	l->last_work_ns = fah_count_work();
	if (!l->away_work_ns)
		l->away_work_ns = l->left.work_ns;
	if (i &&
	    fah_load(&t->mem, l->left.frame + fah_agent.layout.f_instr, &instr, sizeof(instr)) ==
		    0 &&
	    instr == e->at) {
		l->calling++;
		l->calling_work_ns = l->last_work_ns;
		l->since = 0;
		return true;
	}
	l->since++;
	if (l->since > l->most_since)
		l->most_since = l->since;
	return false;
}

void fah_loops_sample(struct fah_thread_state *t, uint64_t now_ns)
{
	struct view now;

	if (!atomic_load_explicit(&n_away, memory_order_relaxed) || !take())
		return;
	for (uint32_t i = 0; i < atomic_load(&n_loops); i++) {
		struct loop *l = &loops[i];

		if (!l->away || !is_calling(t, l) || now_ns - l->looked_ns < LOOK_EVERY_NS)
			continue;
		look(&t->mem, fah_edge_at(l->edge), l->left.frame, &now);
		l->looked_ns = now_ns;
		if (now.n)
			pass(l, &now);
	}
	give();
}

void fah_loops_end(void)
{
	if (!take())
		return;
	for (uint32_t i = 0; i < atomic_load(&n_loops); i++)
		if (loops[i].away) {
			pass_rest(&loops[i]);
			set_away(&loops[i], false);
		}
	give();
}

void fah_loops_setup(void)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		*(uint64_t *)(void *)((char *)&types + wanted[i].at) =
			(uint64_t)(uintptr_t)fah_global(wanted[i].name);
	usable = false;
}

void fah_loops_check(struct fah_edge *e)
{
	static struct view first;
	struct view now;

	look(&fah_mem_self, e, frame_of(e), &now);
	if (first.n) {
		usable = now.n == 1 && turns_between(&first, &now) == 1;
		fah_counting.checking = false;
	}
	first = now;
}
