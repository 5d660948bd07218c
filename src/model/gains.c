/* gains.c - see gains.h. All of it is arithmetic on charges and totals. */
#include "model/gains.h"

#include "model/internal.h"

#include "core/err.h"

#include <math.h>

#define SPREAD 0.1 /* of the run: less is no bottleneck */

static double positive(double x)
{
	return x > 0 ? x : 0;
}

void fah_profile_parts(const struct fah_profile *p, const struct fah_charges *charges,
		       struct fah_parts *ret)
{
	const struct fah_totals *t = &p->totals;
	double idle = positive(t->idle_s - t->waited_s), start;

	*ret = (struct fah_parts){
		.outside = fah_times_sum(&charges->outside),
		.no_python = fah_times_sum(&charges->no_python),
		.unsampled = charges->unsampled_s,
	};
	for (size_t i = 0; i < charges->n_files; i++)
		ret->inside += fah_times_sum(&charges->files[i].times);
	/* CPU that no clock watched ran while nobody was seen to: it is part of the idle time */
	start = t->unseen_cpu_s < idle ? t->unseen_cpu_s : idle;
	ret->no_python += start;
	idle -= start;
	ret->no_core = t->ready_idle_s < idle ? t->ready_idle_s : idle;
	ret->unknown = idle - ret->no_core;
}

static double interval_of(const struct fah_totals *t, const struct fah_times *times)
{
	double ran = fah_times_sum(times) - times->waiting;

	if (!(t->on_cpu_s > 0 && t->wall_s > 0))
		return 1;
	return fah_share_interval(ran / t->on_cpu_s, t->effective_samples) * t->on_cpu_s /
	       t->wall_s;
}

static int by_share(const void *a, const void *b)
{
	const struct fah_gain *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void fill(struct fah_gain *g, const struct fah_totals *t)
{
	double seconds = fah_times_sum(&g->line->times);

	g->share = seconds / t->wall_s;
	g->interval = interval_of(t, &g->line->times);
	g->without_s = positive(t->wall_s - seconds);
	g->half_s = t->wall_s - seconds / 2;
	g->without_x = g->without_s > 0 ? t->wall_s / g->without_s : INFINITY;
	g->half_x = t->wall_s / g->half_s;
}

int fah_profile_gains(struct fah_profile *p, const struct fah_charges *charges, size_t most,
		      double floor, const struct fah_gains **ret)
{
	const struct fah_totals *t = &p->totals;
	struct fah_gains *gains = fah_arena_alloc(&p->arena, sizeof(*gains));
	size_t n = 0;

	for (size_t i = 0; i < charges->n_files; i++)
		n += charges->files[i].n_lines;
	if (!gains)
		return FAH_ERR_NOMEM;
	gains->lines = fah_arena_array(&p->arena, n + 1, sizeof(*gains->lines));
	if (!gains->lines)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; t->wall_s > 0 && i < charges->n_files; i++) {
		const struct fah_file_cost *file = &charges->files[i];

		for (size_t k = 0; k < file->n_lines; k++) {
			struct fah_gain *g = &gains->lines[gains->n];

			*g = (struct fah_gain){.file = file, .line = &file->lines[k]};
			fill(g, t);
			gains->n += g->share > 0 && g->share >= floor;
		}
	}
	qsort(gains->lines, gains->n, sizeof(*gains->lines), by_share);
	if (gains->n > most)
		gains->n = most;
	*ret = gains;
	return 0;
}

static void find_doing(struct fah_bottleneck *b)
{
	const struct fah_times *t = &b->function->times;
	double parts[] = {[FAH_DOING_PYTHON] = t->python,
			  [FAH_DOING_NATIVE] = t->native,
			  [FAH_DOING_SYSTEM] = t->system,
			  [FAH_DOING_WAITING] = t->waiting};
	double all = fah_times_sum(t);

	for (int i = FAH_DOING_NATIVE; i <= FAH_DOING_WAITING; i++)
		if (parts[i] > parts[b->doing])
			b->doing = (enum fah_doing)i;
	b->doing_share = all > 0 ? parts[b->doing] / all : 0;
	for (uint32_t i = 0; i < FAH_WAIT_COUNT; i++)
		if (b->function->waited_by[i] > b->function->waited_by[b->reason])
			b->reason = i;
}

static void find_line(struct fah_bottleneck *b, const struct fah_charges *charges)
{
	for (size_t i = 0; i < charges->n_files; i++)
		for (size_t k = 0; k < charges->files[i].n_lines; k++) {
			const struct fah_line_cost *line = &charges->files[i].lines[k];
			double share = fah_times_sum(&line->times) / charges->wall_s;

			if (line->function != b->function->function || share <= b->line_share)
				continue;
			b->line = line;
			b->line_share = share;
		}
}

static void of_function(struct fah_bottleneck *b, const struct fah_charges *charges)
{
	const struct fah_function_cost *first = charges->functions, *next = first + 1;

	b->function = first;
	b->share = first->share;
	find_doing(b);
	find_line(b, charges);
	/* Of shares of one whole, what one has the other has not: their difference is known to the
	 * root of both squares at best. */
	if (charges->n_functions > 1 &&
	    first->share - next->share < hypot(first->interval, next->interval))
		b->rival = next;
}

void fah_profile_bottleneck(const struct fah_profile *p, const struct fah_charges *charges,
			    struct fah_bottleneck *ret)
{
	double wall = p->totals.wall_s;
	struct fah_parts parts;

	*ret = (struct fah_bottleneck){.kind = FAH_BOTTLENECK_NONE};
	if (!(wall > 0))
		return;
	fah_profile_parts(p, charges, &parts);
	if (charges->n_functions) {
		ret->kind = charges->functions[0].share < SPREAD ? FAH_BOTTLENECK_SPREAD
								 : FAH_BOTTLENECK_FUNCTION;
		of_function(ret, charges);
	}
	const struct {
		double seconds;
		enum fah_bottleneck_kind kind;
	} others[] = {{parts.outside, FAH_BOTTLENECK_OUTSIDE},
		      {parts.no_python + parts.unsampled, FAH_BOTTLENECK_NO_PYTHON},
		      {p->totals.ready_s, FAH_BOTTLENECK_NO_CORE},
		      {parts.unknown, FAH_BOTTLENECK_UNKNOWN}};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].seconds / wall > ret->share && others[i].seconds >= SPREAD * wall) {
			ret->kind = others[i].kind;
			ret->share = others[i].seconds / wall;
		}
}
