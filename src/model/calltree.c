/*
 * calltree.c - the paths of a view with their seconds, added up from the leaves to the root.
 *
 * Callers stand before their callees, so one pass backwards does it, without recursion.
 */
#include "model/calltree.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "model/cells.h"
#include "model/internal.h"

#include <math.h>

struct making {
	struct fah_calltree *t;
	size_t cap; /* of calls, all of which are zero from n on */
	bool failed;
};

/* Room for calls up to i; false: no memory. */
static bool room(struct making *m, size_t i)
{
	while (i >= m->cap) {
		size_t cap = m->cap;

		if (!fah_room(&m->t->calls, cap, &m->cap, sizeof(*m->t->calls))) {
			m->failed = true;
			return false;
		}
		memset(m->t->calls + cap, 0, (m->cap - cap) * sizeof(*m->t->calls));
	}
	return true;
}

static void add_sight(void *context, const struct fah_sight *sight)
{
	const struct fah_moment *moment = sight->moment;
	struct making *m = context;
	struct fah_times *self;

	if (!room(m, sight->path))
		return;
	self = &m->t->calls[sight->path].self;
	m->t->calls[sight->path].samples += !moment->is_wait;
	m->t->calls[sight->path].interval += moment->variance; /* until add_up */
	if (moment->is_wait) {
		self->waiting += moment->seconds;
		return;
	}
	self->system += moment->system;
	*((moment->flags & FAH_IN_MASK) == FAH_IN_NATIVE ? &self->native : &self->python) +=
		moment->seconds - moment->system;
}

static void name_paths(struct fah_calltree *t, const struct fah_path *paths)
{
	t->calls[0].kind = FAH_CALL_ALL;
	for (size_t i = 1; i < t->n; i++) {
		struct fah_call *c = &t->calls[i];

		c->kind = FAH_CALL_FRAME;
		c->frame = paths[i].frame;
		c->parent = paths[i].parent;
		c->depth = t->calls[c->parent].depth + 1;
		if (c->depth > t->max_depth)
			t->max_depth = c->depth;
	}
}

/* Move seconds from a call's own time to a leaf below it. */
static void split(struct making *m, uint32_t caller, enum fah_call_kind kind, double seconds)
{
	struct fah_calltree *t = m->t;
	struct fah_call *leaf, *from;

	if (!(seconds > 0) || !room(m, t->n))
		return;
	leaf = &t->calls[t->n++];
	from = &t->calls[caller];
	leaf->kind = kind;
	leaf->parent = caller;
	leaf->depth = from->depth + 1;
	if (leaf->depth > t->max_depth)
		t->max_depth = leaf->depth;
	if (kind == FAH_CALL_NATIVE) {
		leaf->self.native = seconds;
		from->self.native = 0;
	} else {
		leaf->self.system = seconds;
		from->self.system = 0;
	}
}

static void split_all(struct making *m)
{
	size_t n = m->t->n;

	for (uint32_t i = 1; i < n; i++) {
		const struct fah_call c = m->t->calls[i]; /* the array may move */
		uint32_t kind = m->t->frames[c.frame].kind;

		if (kind == FAH_FRAME_PYTHON)
			split(m, i, FAH_CALL_NATIVE, c.self.native);
		if (kind <= FAH_FRAME_RUNTIME)
			split(m, i, FAH_CALL_SYSTEM, c.self.system);
	}
}

static void add(struct fah_times *to, const struct fah_times *more)
{
	to->python += more->python;
	to->native += more->native;
	to->system += more->system;
	to->waiting += more->waiting;
}

static double ran(const struct fah_times *t)
{
	return t->python + t->native + t->system;
}

static void add_up(struct fah_calltree *t, const struct fah_totals *totals, bool own)
{
	double on_cpu;

	for (size_t i = t->n; i--;) {
		struct fah_call *c = &t->calls[i];

		add(&c->total, &c->self);
		if (i) {
			add(&t->calls[c->parent].total, &c->total);
			t->calls[c->parent].samples += c->samples;
			t->calls[c->parent].interval += c->interval;
		}
	}
	t->whole_s = own ? fah_times_sum(&t->calls[0].total) : totals->wall_s;
	on_cpu = own ? ran(&t->calls[0].total) : totals->on_cpu_s;
	for (size_t i = 0; i < t->n; i++) {
		struct fah_call *c = &t->calls[i];

		if (t->memory) {
			c->interval =
				t->whole_s > 0 ? 1.959964 * sqrt(c->interval) / t->whole_s : 1;
			continue;
		}
		/* As of functions (charge.c): what is idle is measured, not sampled. */
		c->interval = on_cpu > 0 && t->whole_s > 0
				      ? fah_share_interval(ran(&c->total) / on_cpu,
							   totals->effective_samples) *
						on_cpu / t->whole_s
				      : 1;
	}
}

struct place {
	long long ns; /* or bytes; rounded, so that equals keep the order of the capture */
	uint32_t call;
};

static int dearest_last(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->call > y->call ? -1 : x->call < y->call;
}

/* Lists of callees, the dearest first. */
static int link_calls(struct fah_calltree *t)
{
	_cleanup_(fah_freep) struct place *order = reallocarray(NULL, t->n, sizeof(*order));

	if (!order)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		double total = fah_times_sum(&t->calls[i].total);

		order[i] = (struct place){
			t->memory ? (long long)fah_heap_bytes(total) : llround(total * 1e9), i};
	}
	qsort(order, t->n, sizeof(*order), dearest_last);
	for (size_t k = 0; k < t->n; k++) {
		struct fah_call *c = &t->calls[order[k].call];

		if (!order[k].call)
			continue;
		c->sibling = t->calls[c->parent].child;
		t->calls[c->parent].child = order[k].call;
	}
	return 0;
}

FAH_DEFINE_FREEP(struct fah_calltree *, fah_calltree_free)

int fah_calltree_new(struct fah_stacks *s, bool leaves, struct fah_calltree **ret)
{
	_cleanup_(fah_calltree_freep) struct fah_calltree *t = calloc(1, sizeof(*t));
	const struct fah_profile *p = fah_stacks_profile(s);
	enum fah_measure measure = fah_view_measure(fah_stacks_view(s));
	const struct fah_path *paths;
	struct making m = {.t = t};
	size_t n_frames;
	int err = 0;

	if (!t)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; err == 0 && i < p->n_threads; i++)
		err = fah_stacks_visit(s, i, measure, add_sight, &m);
	if (err < 0)
		return err;
	paths = fah_stacks_paths(s, &t->n);
	t->frames = fah_stacks_frames(s, &n_frames);
	if (!room(&m, t->n))
		return FAH_ERR_NOMEM;
	name_paths(t, paths);
	if (leaves)
		split_all(&m);
	if (m.failed)
		return FAH_ERR_NOMEM;
	t->memory = fah_stacks_view(s)->memory;
	add_up(t, &p->totals, measure == FAH_OWN_TIME || t->memory);
	err = link_calls(t);
	if (err == 0)
		*ret = TAKE_PTR(t);
	return err;
}

void fah_calltree_free(struct fah_calltree *t)
{
	if (!t)
		return;
	free(t->calls);
	free(t);
}

uint32_t fah_calltree_next(const struct fah_calltree *t, uint32_t i, bool skip)
{
	if (!skip && t->calls[i].child)
		return t->calls[i].child;
	while (i && !t->calls[i].sibling)
		i = t->calls[i].parent;
	return t->calls[i].sibling; /* of calls[0]: 0 */
}

enum fah_call_tone fah_call_tone(const struct fah_calltree *t, const struct fah_call *c)
{
	static const unsigned char tones[] = {
		[FAH_FRAME_PYTHON] = FAH_TONE_PYTHON,  [FAH_FRAME_NATIVE] = FAH_TONE_NATIVE,
		[FAH_FRAME_RUNTIME] = FAH_TONE_NATIVE, [FAH_FRAME_PROCESS] = FAH_TONE_OTHER,
		[FAH_FRAME_THREAD] = FAH_TONE_OTHER,   [FAH_FRAME_WAIT] = FAH_TONE_WAITING,
		[FAH_FRAME_EMPTY] = FAH_TONE_OTHER,
	};

	switch (c->kind) {
	case FAH_CALL_NATIVE:
		return FAH_TONE_NATIVE;
	case FAH_CALL_SYSTEM:
		return FAH_TONE_SYSTEM;
	case FAH_CALL_FRAME:
		return tones[t->frames[c->frame].kind];
	default:
		return FAH_TONE_OTHER;
	}
}

const char *fah_call_name(const struct fah_calltree *t, const struct fah_call *c)
{
	switch (c->kind) {
	case FAH_CALL_NATIVE:
		return "native";
	case FAH_CALL_SYSTEM:
		return "system";
	case FAH_CALL_FRAME:
		return t->frames[c->frame].name;
	default:
		return "all";
	}
}

void fah_call_place(struct fah_strbuf *sb, const struct fah_calltree *t, const struct fah_call *c)
{
	const struct fah_frame *f = &t->frames[c->frame];

	if (c->kind != FAH_CALL_FRAME || !*f->short_file)
		return;
	fah_place_add(sb, f->short_file,
		      f->kind != FAH_FRAME_PYTHON ? 0
		      : f->line			  ? f->line
						  : f->first_line);
}
