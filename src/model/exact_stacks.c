/* exact_stacks.c - see exact_stacks.h. */
#include "model/exact_stacks.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "core/err.h"

void fah_exact_stacks_init(struct fah_exact_stacks *s, struct fah_exact *into)
{
	*s = (struct fah_exact_stacks){.into = into};
}

void fah_exact_stacks_done(struct fah_exact_stacks *s)
{
	free(s->functions);
	free(s->edges);
	fah_exact_stacks_init(s, s->into);
}

/* Is it the first time in this stack? -1: no memory. */
static int first(uint64_t **seen, size_t *cap, uint32_t i, uint64_t stack)
{
	while (i >= *cap) {
		size_t old = *cap;

		if (!fah_room(seen, old, cap, sizeof(**seen)))
			return -1;
		memset(*seen + old, 0, (*cap - old) * sizeof(**seen));
	}
	if ((*seen)[i] == stack)
		return 0;
	(*seen)[i] = stack;
	return 1;
}

int fah_exact_stacks_add(struct fah_exact_stacks *s, const uint32_t *functions, size_t n,
			 double seconds)
{
	struct fah_exact *e = s->into;
	uint32_t edge;
	int is_first;

	s->stack++;
	for (size_t i = 0; i < n; i++) {
		is_first = first(&s->functions, &s->cap_functions, functions[i], s->stack);
		if (is_first < 0)
			return FAH_ERR_NOMEM;
		if (is_first)
			e->functions[functions[i]].times.total_s += seconds;
		if (!i)
			continue;
		if (fah_exact_edge(e, functions[i - 1], functions[i], &edge) < 0)
			return FAH_ERR_NOMEM;
		is_first = first(&s->edges, &s->cap_edges, edge, s->stack);
		if (is_first < 0)
			return FAH_ERR_NOMEM;
		if (is_first)
			e->edges[edge].times.total_s += seconds;
		if (i + 1 == n)
			e->edges[edge].times.self_s += seconds;
	}
	e->functions[functions[n - 1]].times.self_s += seconds;
	return 0;
}

struct viewed {
	const struct fah_frame *frames;
	const struct fah_path *paths;
	uint32_t *ids;	 /* by frame: function + 1; 0: not made yet */
	uint32_t *stack; /* of the path at hand */
	size_t cap_stack;
};

static int function_of(struct viewed *v, struct fah_exact *into, uint32_t frame, uint32_t *ret)
{
	const struct fah_frame *f = &v->frames[frame];
	/* The interpreter's own work has no file that people know: see frames.c. */
	const char *file = *f->short_file ? f->file : "";
	int err = 0;

	if (!v->ids[frame]) {
		err = fah_exact_function(into, file, strlen(file),
					 f->kind == FAH_FRAME_PYTHON ? f->first_line : 0, f->name,
					 strlen(f->name), ret);
		v->ids[frame] = err == 0 ? *ret + 1 : 0;
	}
	*ret = v->ids[frame] - 1;
	return err;
}

static int add_path(struct viewed *v, struct fah_exact_stacks *s, uint32_t path, double seconds)
{
	size_t n = 0;
	int err = 0;

	for (uint32_t i = path; i; i = v->paths[i].parent) {
		if (!fah_room(&v->stack, n, &v->cap_stack, sizeof(*v->stack)))
			return FAH_ERR_NOMEM;
		v->stack[n++] = v->paths[i].frame;
	}
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t t = v->stack[i];

		v->stack[i] = v->stack[n - 1 - i];
		v->stack[n - 1 - i] = t;
	}
	for (size_t i = 0; i < n && err == 0; i++)
		err = function_of(v, s->into, v->stack[i], &v->stack[i]);
	return err == 0 ? fah_exact_stacks_add(s, v->stack, n, seconds) : err;
}

int fah_exact_of_view(struct fah_exact *into, struct fah_stacks *view)
{
	_cleanup_(fah_exact_stacks_done) struct fah_exact_stacks s = {.into = into};
	const struct fah_path_sum *sums;
	struct viewed v = {0};
	size_t n_paths, n_frames;
	int err = fah_stacks_sum(view, FAH_ALL_THREADS, fah_view_measure(fah_stacks_view(view)),
				 &sums, &n_paths);

	if (err < 0)
		return err;
	v.paths = fah_stacks_paths(view, &n_paths);
	v.frames = fah_stacks_frames(view, &n_frames);
	v.ids = calloc(n_frames + 1, sizeof(*v.ids));
	if (!v.ids)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 1; i < n_paths && err == 0; i++)
		if (sums[i].seconds > 0)
			err = add_path(&v, &s, i, sums[i].seconds);
	free(v.ids);
	free(v.stack);
	return err;
}
