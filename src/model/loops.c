/*
 * loops.c - iterations that the program marked: how long they took on average, the first told
 * apart, since it makes what later ones find ready.
 */
#include "model/load.h"

#include "core/err.h"

#include <math.h>

static struct fah_loop *find(struct fah_loader *l, uint32_t process, uint64_t number)
{
	struct fah_profile *p = l->p;
	struct fah_loop *loop;
	uint32_t *id = fah_map_put(
		&l->loop_ids, fah_key_u32x4(process, (uint32_t)number, (uint32_t)(number >> 32), 0),
		NULL);

	if (!id)
		return NULL;
	if (*id)
		return &p->loops[*id - 1];
	if (!fah_room(&p->loops, p->n_loops, &l->cap_loops, sizeof(*p->loops)))
		return NULL;
	loop = &p->loops[p->n_loops++];
	*id = (uint32_t)p->n_loops;
	*loop = (struct fah_loop){.process = process, .number = number};
	return loop;
}

/* Until fah_loader_loops: missing is the number behind the last, sd_s the sum of squared
 * differences from the mean. */
int fah_loader_iterations(struct fah_loader *l, const struct fah_rec_iterations *r)
{
	struct fah_profile *p = l->p;
	double n, mean, squares, apart;
	struct fah_loop *loop;

	if (r->thread - 1 >= p->n_threads || r->label >= p->n_strings)
		return FAH_ERR_DAMAGED;
	loop = find(l, p->threads[r->thread - 1].process, r->loop);
	if (!loop)
		return FAH_ERR_NOMEM;
	loop->label = p->strings[r->label];
	loop->count += r->count;
	if (r->first + r->count > loop->missing)
		loop->missing = r->first + r->count;
	if (!r->first && r->count == 1) {
		loop->has_first = true;
		loop->first_s = (double)r->wall_ns / 1e9;
		loop->first_cpu_s = (double)r->cpu_ns / 1e9;
		return 0;
	}
	n = (double)r->count;
	mean = (double)r->wall_ns / 1e9 / n;
	squares = r->count > 1 ? (double)r->squares / 1e18 - n * mean * mean : 0;
	apart = mean - loop->mean_s;
	loop->rest += r->count;
	loop->mean_s += apart * n / (double)loop->rest;
	loop->mean_cpu_s +=
		((double)r->cpu_ns / 1e9 / n - loop->mean_cpu_s) * n / (double)loop->rest;
	loop->sd_s += (squares > 0 ? squares : 0) +
		      apart * apart * n * ((double)loop->rest - n) / (double)loop->rest;
	return 0;
}

void fah_loader_loops(struct fah_loader *l)
{
	for (size_t i = 0; i < l->p->n_loops; i++) {
		struct fah_loop *loop = &l->p->loops[i];

		loop->missing = loop->missing > loop->count ? loop->missing - loop->count : 0;
		loop->sd_s = loop->rest > 1 ? sqrt(loop->sd_s / (double)(loop->rest - 1)) : 0;
		if (loop->process >= l->p->n_processes)
			loop->process = 0;
	}
}

const struct fah_loop *fah_profile_loops(const struct fah_profile *p, size_t *ret_n)
{
	*ret_n = p->n_loops;
	return p->loops;
}
