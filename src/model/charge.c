/*
 * charge.c - which line of the reported code each sample and each wait is blamed on.
 *
 * The innermost Python frame inside the scope; a call that leaves the scope is paid by the line
 * that made it. What a node is charged to depends on its path to the root only, so it is found once
 * a node, parents first (a parent's id is smaller), and the cost is that of the nodes, not of the
 * samples.
 */
#include "model/line_ids.h"
#include "model/targets.h"

#include "base/cleanup.h"
#include "core/err.h"

struct charger {
	struct fah_profile *p;
	struct fah_charges *out;
	struct fah_targets targets;
	bool *collecting;		     /* by node: in the garbage collector */
	struct fah_function_cost *functions; /* by function; the results are sorted copies */
	struct fah_line_ids ids;
	struct fah_line_cost *lines; /* by id, n_lines of ids.n */
	double *line_most;	     /* seconds of the function that lines[].function names */
	size_t n_lines, cap_lines, cap_line_most;
};

static void add_times(struct fah_times *t, const struct fah_node_cost *c)
{
	t->python += c->seconds[FAH_IN_PYTHON];
	t->native += c->seconds[FAH_IN_NATIVE];
	t->system += c->seconds[FAH_IN_SYSTEM];
	t->waiting += c->waiting;
}

/* *ret_line: where it stands in lines[]. */
static int add_line(struct charger *c, const struct fah_node *node, uint32_t function,
		    const struct fah_node_cost *cost, uint32_t *ret_line)
{
	uint32_t id;
	double *most;

	if (fah_line_ids_put(&c->ids, c->p->functions[function].file_id, node->line, &id) < 0)
		return FAH_ERR_NOMEM;
	if (id == c->n_lines) {
		if (!fah_room(&c->lines, c->n_lines, &c->cap_lines, sizeof(*c->lines)) ||
		    !fah_room(&c->line_most, c->n_lines, &c->cap_line_most, sizeof(double)))
			return FAH_ERR_NOMEM;
		c->lines[c->n_lines] = (struct fah_line_cost){.line = node->line};
		c->line_most[c->n_lines++] = -1;
	}
	add_times(&c->lines[id].times, cost);
	/* Two functions may share a line (a lambda's): it is named for the dearer one. */
	most = &c->line_most[id];
	if (fah_node_cost_sum(cost) > *most) {
		*most = fah_node_cost_sum(cost);
		c->lines[id].function = function;
	}
	*ret_line = id;
	return 0;
}

/* Finalisers, which it calls, are the program's own again. */
static bool is_collecting(const struct charger *c, const struct fah_node *node)
{
	uint32_t kind = c->p->functions[node->function].kind;

	if (kind == FAH_FUNCTION_PYTHON)
		return false;
	return kind == FAH_FUNCTION_RUNTIME || c->collecting[node->parent];
}

static int charge_nodes(struct charger *c)
{
	const struct fah_profile *p = c->p;
	const struct fah_wait_cost *wait = p->waits, *end = wait ? wait + p->n_waits : NULL;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		const struct fah_node *node = &p->nodes[i];
		const struct fah_node_cost *cost = &p->costs[i];
		uint32_t function, line, target;
		int err;

		c->collecting[i] = i && is_collecting(c, node);
		if (!cost->samples && !(cost->waiting > 0))
			continue;
		target = c->targets.node[i];
		if (!target || target == FAH_TARGET_OUTSIDE) {
			add_times(target ? &c->out->outside : &c->out->no_python, cost);
			continue;
		}
		node = &p->nodes[target];
		function = p->canonical[node->function];
		add_times(&c->functions[function].times, cost);
		c->functions[function].samples += cost->samples;
		if (c->collecting[i]) {
			c->functions[function].collecting += fah_node_cost_sum(cost);
			c->out->collecting += fah_node_cost_sum(cost);
		}
		err = add_line(c, node, function, cost, &line);
		if (err < 0)
			return err;
		while (wait < end && wait->node < i) /* of nodes that no line has */
			wait++;
		for (; wait < end && wait->node == i; wait++) {
			c->lines[line].waited_by[wait->reason] += wait->seconds;
			c->functions[function].waited_by[wait->reason] += wait->seconds;
		}
	}
	return 0;
}

static bool is_charged(const struct fah_function_cost *f)
{
	return f->samples > 0 || f->times.waiting > 0;
}

static int by_function_cost(const void *a, const void *b)
{
	const struct fah_function_cost *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int by_first_line(const void *a, const void *b, void *profile)
{
	const struct fah_function_cost *x = a, *y = b;

	return fah_by_first_line(profile, x->function, y->function);
}

static int by_line_number(const void *a, const void *b)
{
	const struct fah_line_cost *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static int by_file_cost(const void *a, const void *b)
{
	const struct fah_file_cost *x = a, *y = b;
	double sx = fah_times_sum(&x->times), sy = fah_times_sum(&y->times);

	return sx != sy ? (sx > sy ? -1 : 1) : strcmp(x->abspath, y->abspath);
}

static int collect_functions(struct charger *c)
{
	const struct fah_profile *p = c->p;
	const struct fah_totals *t = &p->totals;
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_functions; i++)
		n += is_charged(&c->functions[i]);
	c->out->functions = fah_arena_array(&c->p->arena, n, sizeof(*c->out->functions));
	if (!c->out->functions)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < p->n_functions; i++) {
		struct fah_function_cost *f = &c->functions[i];
		double seconds = fah_times_sum(&f->times), ran = seconds - f->times.waiting;

		if (!is_charged(f))
			continue;
		f->function = i;
		f->share = t->wall_s > 0 ? seconds / t->wall_s : 0;
		/* Samples divide the busy part only; how much is idle is measured, not sampled. */
		f->interval = t->on_cpu_s > 0 ? fah_share_interval(ran / t->on_cpu_s,
								   t->effective_samples) *
							t->on_cpu_s / t->wall_s
					      : 1;
		c->out->functions[c->out->n_functions++] = *f;
	}
	qsort(c->out->functions, n, sizeof(*c->out->functions), by_function_cost);
	return 0;
}

/* Give each file its slice of one array: count, offsets, fill, sort. */
static int collect_files(struct charger *c)
{
	_cleanup_(fah_freep) struct fah_file_cost *files =
		calloc(c->p->n_files + 1, sizeof(*files));
	struct fah_arena *arena = &c->p->arena;
	const struct fah_charges *out = c->out;
	const struct fah_function *functions = c->p->functions;
	struct fah_line_cost *lines = fah_arena_array(arena, c->n_lines, sizeof(*lines));
	struct fah_function_cost *costs = fah_arena_array(arena, out->n_functions, sizeof(*costs));
	size_t n = 0, i;

	if (!files || !lines || !costs)
		return FAH_ERR_NOMEM;
	for (i = 0; i < c->n_lines; i++)
		files[c->ids.all[i].file].n_lines++;
	for (i = 0; i < out->n_functions; i++)
		files[functions[out->functions[i].function].file_id].n_functions++;
	for (i = 0; i < c->p->n_files; i++) {
		files[i].lines = lines;
		lines += files[i].n_lines;
		files[i].n_lines = 0;
		files[i].functions = costs;
		costs += files[i].n_functions;
		files[i].n_functions = 0;
	}
	for (i = 0; i < c->n_lines; i++) {
		struct fah_file_cost *file = &files[c->ids.all[i].file];

		file->lines[file->n_lines++] = c->lines[i];
		file->times.python += c->lines[i].times.python;
		file->times.native += c->lines[i].times.native;
		file->times.system += c->lines[i].times.system;
		file->times.waiting += c->lines[i].times.waiting;
	}
	for (i = 0; i < out->n_functions; i++) {
		struct fah_file_cost *file = &files[functions[out->functions[i].function].file_id];

		file->functions[file->n_functions++] = out->functions[i];
	}
	for (i = 0; i < c->p->n_files; i++) {
		if (!files[i].n_lines)
			continue;
		files[i].path = c->p->files[i].path;
		files[i].abspath = c->p->files[i].abspath;
		qsort(files[i].lines, files[i].n_lines, sizeof(*lines), by_line_number);
		qsort_r(files[i].functions, files[i].n_functions, sizeof(*costs), by_first_line,
			c->p);
		files[n++] = files[i];
	}
	qsort(files, n, sizeof(*files), by_file_cost);
	c->out->files = fah_arena_array(arena, n, sizeof(*files));
	if (!c->out->files)
		return FAH_ERR_NOMEM;
	memcpy(c->out->files, files, n * sizeof(*files));
	c->out->n_files = n;
	return 0;
}

static int charge(struct charger *c, const struct fah_scope *scope)
{
	struct fah_profile *p = c->p;
	int err;

	c->out = fah_arena_alloc(&p->arena, sizeof(*c->out));
	c->collecting = calloc(p->n_nodes, sizeof(*c->collecting));
	c->functions = calloc(p->n_functions, sizeof(*c->functions));
	if (!c->out || !c->collecting || !c->functions)
		return FAH_ERR_NOMEM;
	err = fah_targets_find(p, scope, &c->targets);
	if (err < 0)
		return err;
	c->out->wall_s = p->totals.wall_s;
	c->out->unsampled_s = p->totals.unsampled_s;
	err = charge_nodes(c);
	if (err >= 0)
		err = collect_functions(c);
	return err < 0 ? err : collect_files(c);
}

int fah_profile_charge(struct fah_profile *p, const struct fah_scope *scope,
		       const struct fah_charges **ret)
{
	struct charger c = {.p = p};
	int err = charge(&c, scope);

	fah_targets_release(&c.targets);
	free(c.collecting);
	free(c.functions);
	free(c.lines);
	free(c.line_most);
	fah_line_ids_release(&c.ids);
	if (err < 0)
		return err;
	*ret = c.out;
	return 0;
}
