/*
 * health.c - what recording cost, and how well samples came: from HEALTH records and the facts of
 * the run.
 */
#include "model/load.h"

#include "core/err.h"

#define LOWERED 1.02 /* of the interval asked for: less is rounding */

double fah_hist_quantile(const struct fah_hist *h, double q)
{
	double want = q * (double)h->count, seen = 0;

	for (uint32_t i = 0; i < FAH_HIST_BUCKETS; i++) {
		double here = (double)h->buckets[i], from, to;

		if (!h->buckets[i] || seen + here < want) {
			seen += here;
			continue;
		}
		from = (double)fah_hist_from(i);
		to = i + 1 < FAH_HIST_BUCKETS ? (double)fah_hist_from(i + 1) : (double)h->max_ns;
		if (to > (double)h->max_ns)
			to = (double)h->max_ns;
		return to > from ? from + (to - from) * (want - seen) / here : to;
	}
	return (double)h->max_ns;
}

int fah_loader_health(struct fah_loader *l, const struct fah_rec_health *r)
{
	struct fah_health *health;

	if (r->process - 1 >= l->p->n_processes)
		return FAH_ERR_DAMAGED;
	health = fah_arena_array(&l->p->arena, 1, sizeof(*health));
	if (!health)
		return FAH_ERR_NOMEM;
	health->handlers = r->handlers;
	health->gaps = r->gaps;
	health->interval_sum_ns = r->interval_sum_ns;
	health->told_ns = r->told_ns;
	memcpy(health->native_stops, r->native_stops, sizeof(health->native_stops));
	l->p->processes[r->process - 1].health = health;
	return 0;
}

static double number_meta(const struct fah_profile *p, const char *key)
{
	const char *text = fah_profile_meta(p, key);
	double v = text ? strtod(text, NULL) : 0;

	return v > 0 && v < 1e18 ? v : 0;
}

/*
 * Handlers run in the program's threads, as what counts calls does, so they take what a thread
 * would have had. The profiler takes nothing as long as there is a core for it that the program
 * leaves alone; on a machine that the program fills, it takes its part of all of them.
 */
static double unprofiled(const struct fah_profile *p, const struct fah_totals *t)
{
	double all = number_meta(p, "cores"), crowded, without;

	crowded = all > 0 ? t->cores + 1 - all : 0;
	crowded = crowded < 0 ? 0 : crowded > 1 ? 1 : crowded;
	without =
		t->program_s - (t->handler_s + t->told_s + crowded * t->collector_cpu_s) / t->cores;
	return without > 0 ? without : 0;
}

/* Where samples were lost the CPU is whole and the time in which it was used is not, so that one
 * thread alone would have used several cores. */
static double cores_used(const struct fah_totals *t)
{
	double watched = t->cpu_s - t->unseen_cpu_s, cores;

	cores = t->on_cpu_s > 0 && watched > t->on_cpu_s ? watched / t->on_cpu_s : 1;
	/* of threads without a record nobody knows how many there were */
	if (!(t->absent_cpu_s > 0) && t->threads_at_once && cores > t->threads_at_once)
		cores = t->threads_at_once;
	return cores;
}

void fah_loader_costs(struct fah_loader *l)
{
	struct fah_totals *t = &l->p->totals;
	double handlers = 0, asked = 0, in_force = 0;

	t->collector_cpu_s = number_meta(l->p, "collector_cpu_ns") / 1e9;
	t->budget_percent = number_meta(l->p, "budget");
	t->budget_by_default = fah_profile_meta(l->p, "budget_by") != NULL;
	for (size_t i = 0; i < l->p->n_processes; i++) {
		struct fah_process *process = &l->p->processes[i];
		const struct fah_health *health = process->health;

		process->cpu_s = (double)process->user_ns / 1e9 + (double)process->system_ns / 1e9;
		for (size_t k = 0; !(process->cpu_s > 0) && k < l->p->n_threads; k++)
			if (l->p->threads[k].process == i)
				process->cpu_s += l->p->threads[k].states.cpu_s;
		if (!health)
			continue;
		t->handler_s += (double)health->handlers.sum_ns / 1e9;
		t->told_s += (double)health->told_ns / 1e9;
		handlers += (double)health->handlers.count;
		asked += (double)health->handlers.count * (double)process->period_ns;
		in_force += (double)health->interval_sum_ns;
	}
	t->cores = cores_used(t);
	t->unprofiled_s = handlers > 0 ? unprofiled(l->p, t) : 0;
	if (t->wall_s > 0)
		t->cost_share = (t->handler_s + t->told_s + t->collector_cpu_s) / t->wall_s;
	if (asked > 0 && in_force > LOWERED * asked)
		t->rate_lowered = handlers / in_force * 1e9;
}
