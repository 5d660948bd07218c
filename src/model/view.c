/*
 * view.c - which moments are seen, and with which path: see view.h. Frames are made in frames.c.
 *
 * A node's path depends on the node and, where stacks begin with their thread, on the thread. It is
 * found once for each pair that has a sample, by going up to the first ancestor whose path is
 * known; a stamp tells those of the thread at hand.
 */
#include "model/view.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "core/err.h"
#include "model/frames.h"
#include "model/heap_pick.h"
#include "model/heap_records.h"
#include "model/internal.h"

struct cached {
	uint32_t stamp, path; /* path is that of the root of the thread where nothing is shown */
	bool start;	      /* only native frames so far: the start of a program or thread */
};

struct fah_stacks {
	struct fah_profile *p;
	struct fah_view view;
	struct fah_frames frames;
	struct fah_path *paths;
	size_t n_paths, cap_paths;
	struct fah_map by_step; /* parent, frame -> path */
	struct cached *cache;	/* by node */
	uint32_t stamp, root, thread;
	bool *is_only; /* by function; NULL: all is seen */
	uint32_t *up;  /* nodes on the way to a known one */
	size_t cap_up;
	struct fah_path_sum *sums;
	size_t cap_sums;
	struct fah_heap_picked picked; /* where the view is one of memory */
	bool failed;		       /* no memory */
};

static uint32_t step(struct fah_stacks *s, uint32_t parent, uint32_t frame)
{
	uint32_t *slot;
	bool is_new;

	if (frame == FAH_NO_FRAME) {
		s->failed = true;
		return parent;
	}
	slot = fah_map_put(&s->by_step, fah_key_u64((uint64_t)parent << 32 | frame), &is_new);
	if (!slot ||
	    (is_new && !fah_room(&s->paths, s->n_paths, &s->cap_paths, sizeof(*s->paths)))) {
		s->failed = true;
		return parent;
	}
	if (is_new) {
		*slot = (uint32_t)s->n_paths;
		s->paths[s->n_paths++] = (struct fah_path){parent, frame};
	}
	return *slot;
}

/*
 * The path of a node whose parent's is known. Native frames above the first Python frame are the
 * start of the program or the thread. Stacks that were read from outside, as of waits, don't have
 * them; so that both are one tree, they are left out wherever Python follows.
 */
static struct cached extend(struct fah_stacks *s, struct cached parent, const struct fah_node *node)
{
	bool begins = s->is_only && parent.path == FAH_NO_PATH;
	bool python = fah_is_python(s->p, node->function);
	struct cached c = {s->stamp, parent.path, parent.start && !python};

	if (begins && !s->is_only[node->function])
		return c;
	if (begins)
		parent.path = s->root;
	else if (!s->view.native && !python)
		return c;
	else if (python && parent.start)
		parent.path = s->root;
	c.start &= !begins;
	c.path = step(
		s, parent.path,
		fah_frames_function(&s->frames, node->function, s->view.lines ? node->line : 0));
	return c;
}

static uint32_t find_path(struct fah_stacks *s, uint32_t node)
{
	const struct fah_node *nodes = s->p->nodes;
	struct cached c;
	size_t n = 0;

	for (; s->cache[node].stamp != s->stamp; node = nodes[node].parent) {
		if (!fah_room(&s->up, n, &s->cap_up, sizeof(*s->up))) {
			s->failed = true;
			return s->root;
		}
		s->up[n++] = node;
	}
	for (c = s->cache[node]; n--;)
		s->cache[s->up[n]] = c = extend(s, c, &nodes[s->up[n]]);
	return c.path;
}

/* Whether stacks of this thread begin as those of the one before. */
static bool same_root(const struct fah_stacks *s, uint32_t thread)
{
	const struct fah_thread *threads = s->p->threads;

	if (s->view.threads)
		return s->thread == thread;
	return !s->view.processes || threads[s->thread].process == threads[thread].process;
}

/* Node 0, the root of all, is always known. */
static void begin_thread(struct fah_stacks *s, uint32_t thread)
{
	if (s->stamp && same_root(s, thread))
		return;
	s->thread = thread;
	s->stamp++;
	s->root = 0;
	if ((s->view.threads || s->view.processes) && s->p->n_processes > 1)
		s->root = step(s, 0, fah_frames_process(&s->frames, s->p->threads[thread].process));
	if (s->view.threads)
		s->root = step(s, s->root, fah_frames_thread(&s->frames, thread));
	s->cache[0] = (struct cached){s->stamp, s->is_only ? FAH_NO_PATH : s->root, true};
}

struct looker {
	struct fah_stacks *s;
	fah_sight_fn *fn;
	void *context;
	uint32_t thread;
};

static bool holds_gil(const struct fah_moment *m)
{
	return !m->is_wait && !(m->flags & FAH_SAMPLE_NO_PYTHON) &&
	       (m->flags & FAH_IN_MASK) != FAH_IN_SYSTEM;
}

static void look(void *context, const struct fah_moment *m)
{
	struct looker *l = context;
	struct fah_stacks *s = l->s;
	struct cached c = s->cache[m->node];
	struct fah_sight sight = {m, l->thread, c.path};

	if (s->view.gil && !s->view.memory && !holds_gil(m))
		return;
	if (c.stamp != s->stamp)
		sight.path = find_path(s, m->node);
	if (sight.path == FAH_NO_PATH)
		return;
	if (sight.path == s->root)
		sight.path = step(s, s->root, fah_frames_empty(&s->frames));
	if (m->is_wait)
		sight.path = step(s, sight.path, fah_frames_wait(&s->frames, m->reason));
	if (!s->failed)
		l->fn(l->context, &sight);
}

/* A block is a sample, in Python or native by whose allocators it was asked for from. */
static void look_at_blocks(struct looker *l)
{
	const struct fah_heap_picked *picked = &l->s->picked;

	for (size_t i = picked->first[l->thread]; i < picked->first[l->thread + 1]; i++) {
		const struct fah_heap_block *b = picked->blocks[i];
		struct fah_moment m = {
			.time_ns = b->born_ns,
			.seconds = b->weight,
			.run_s = b->weight,
			.own_s = b->weight,
			.variance = fah_heap_variance(b),
			.node = b->node,
			.flags = b->kind == FAH_MEMORY_PYTHON ? FAH_IN_PYTHON : FAH_IN_NATIVE,
		};

		look(l, &m);
	}
}

int fah_stacks_visit(struct fah_stacks *s, uint32_t thread, enum fah_measure measure,
		     fah_sight_fn *fn, void *context)
{
	struct looker l = {s, fn, context, thread};

	if (thread >= s->p->n_threads)
		return 0;
	begin_thread(s, thread);
	if (s->view.memory)
		look_at_blocks(&l);
	else
		fah_profile_moments(s->p, thread, measure, s->view.idle && !s->view.gil, look, &l);
	return s->failed ? FAH_ERR_NOMEM : 0;
}

static void add(void *context, const struct fah_sight *sight)
{
	struct fah_stacks *s = context;
	size_t cap = s->cap_sums;

	while (sight->path >= s->cap_sums) {
		if (!fah_room(&s->sums, s->cap_sums, &s->cap_sums, sizeof(*s->sums))) {
			s->failed = true;
			return;
		}
		memset(s->sums + cap, 0, (s->cap_sums - cap) * sizeof(*s->sums));
		cap = s->cap_sums;
	}
	s->sums[sight->path].seconds += sight->moment->seconds;
	s->sums[sight->path].samples += !sight->moment->is_wait;
}

int fah_stacks_sum(struct fah_stacks *s, uint32_t thread, enum fah_measure measure,
		   const struct fah_path_sum **ret, size_t *ret_n)
{
	uint32_t from = thread, to = thread + 1;
	int err = 0;

	if (thread == FAH_ALL_THREADS) {
		from = 0;
		to = (uint32_t)s->p->n_threads;
	}
	if (s->sums)
		memset(s->sums, 0, s->cap_sums * sizeof(*s->sums));
	for (uint32_t i = from; err == 0 && i < to; i++)
		err = fah_stacks_visit(s, i, measure, add, s);
	while (err == 0 && s->cap_sums < s->n_paths) { /* paths that nothing stands for */
		size_t cap = s->cap_sums;

		if (!fah_room(&s->sums, cap, &s->cap_sums, sizeof(*s->sums)))
			return FAH_ERR_NOMEM;
		memset(s->sums + cap, 0, (s->cap_sums - cap) * sizeof(*s->sums));
	}
	if (err < 0)
		return err;
	*ret = s->sums;
	*ret_n = s->n_paths;
	return 0;
}

static void add_part(void *context, const struct fah_sight *sight)
{
	double *ran = context; /* ran, waited, samples */

	ran[sight->moment->is_wait] += sight->moment->seconds;
	ran[2] += !sight->moment->is_wait;
}

int fah_stacks_part(struct fah_stacks *s, struct fah_part *ret)
{
	const struct fah_totals *t = &s->p->totals;
	double sums[3] = {0};
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < s->p->n_threads; i++)
		err = fah_stacks_visit(s, i, FAH_RUN_TIME, add_part, sums);
	if (err < 0)
		return err;
	*ret = (struct fah_part){.samples = (uint64_t)sums[2], .seconds = sums[0] + sums[1]};
	ret->share = t->wall_s > 0 ? ret->seconds / t->wall_s : 0;
	ret->interval = t->on_cpu_s > 0 && t->wall_s > 0
				? fah_share_interval(sums[0] / t->on_cpu_s, t->effective_samples) *
					  t->on_cpu_s / t->wall_s
				: 1;
	return 0;
}

/* Is this what somebody means by text: the whole name, its last part, or one of both in a file? */
static bool is_called(const struct fah_profile *p, uint32_t function, const char *text)
{
	const struct fah_function *f = &p->functions[function];
	const char *path = p->files[f->file_id].abspath, *colon = strrchr(text, ':');
	const char *dot = strrchr(f->name, '.');

	if (!strcmp(f->name, text))
		return true;
	if (f->kind == FAH_FUNCTION_PYTHON && dot && !strcmp(dot + 1, text))
		return true;
	/* "::" is of C++ and Rust; a file's name is the end of its path. */
	if (colon && colon > text && colon[-1] != ':' && colon[1]) {
		size_t len = (size_t)(colon - text), whole = strlen(path);

		if (whole < len || memcmp(path + whole - len, text, len) != 0 ||
		    (whole > len && *text != '/' && path[whole - len - 1] != '/'))
			return false;
		return !strcmp(f->name, colon + 1) || (dot && !strcmp(dot + 1, colon + 1));
	}
	return false;
}

static int find_only(struct fah_stacks *s)
{
	bool found = false;

	s->is_only = calloc(s->p->n_functions, sizeof(*s->is_only));
	if (!s->is_only)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 1; i < s->p->n_functions; i++)
		found |= s->is_only[i] = is_called(s->p, i, s->view.only);
	return found ? 0 : FAH_ERR_USAGE;
}

FAH_DEFINE_FREEP(struct fah_stacks *, fah_stacks_free)

int fah_stacks_new(struct fah_profile *p, const struct fah_view *view, struct fah_stacks **ret)
{
	_cleanup_(fah_stacks_freep) struct fah_stacks *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return FAH_ERR_NOMEM;
	s->p = p;
	s->view = *view;
	s->cache = calloc(p->n_nodes, sizeof(*s->cache));
	if (!s->cache || fah_frames_init(&s->frames, p) < 0 ||
	    !fah_room(&s->paths, 0, &s->cap_paths, sizeof(*s->paths)))
		return FAH_ERR_NOMEM;
	s->paths[s->n_paths++] = (struct fah_path){0, 0};
	err = view->only ? find_only(s) : 0;
	if (err == 0 && view->memory)
		err = fah_heap_pick(p, view->memory, &s->picked);
	if (err < 0)
		return err;
	*ret = TAKE_PTR(s);
	return 0;
}

void fah_stacks_free(struct fah_stacks *s)
{
	if (!s)
		return;
	fah_frames_release(&s->frames);
	fah_heap_picked_release(&s->picked);
	fah_map_release(&s->by_step);
	free(s->paths);
	free(s->cache);
	free(s->is_only);
	free(s->up);
	free(s->sums);
	free(s);
}

struct fah_profile *fah_stacks_profile(const struct fah_stacks *s)
{
	return s->p;
}

const struct fah_view *fah_stacks_view(const struct fah_stacks *s)
{
	return &s->view;
}

const struct fah_frame *fah_stacks_frames(const struct fah_stacks *s, size_t *ret_n)
{
	*ret_n = s->frames.n;
	return s->frames.all;
}

const struct fah_path *fah_stacks_paths(const struct fah_stacks *s, size_t *ret_n)
{
	*ret_n = s->n_paths;
	return s->paths;
}
