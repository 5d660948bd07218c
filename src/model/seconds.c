/*
 * seconds.c - the seconds of each node: samples of a group of threads, scaled to the group's CPU.
 */
#include "model/groups.h"
#include "model/timeline.h"

#include "base/cleanup.h"

/* The group's scratch, scaled to the group's CPU, into the profile. Adds to the sums of weights. */
static void flush(struct fah_timeline *t, double *weight, double *weight2)
{
	double factor = t->group.weight_s > 0 ? t->group.true_s / t->group.weight_s : 0;

	for (size_t i = 0; i < t->n_touched; i++) {
		struct fah_scratch *c = &t->scratch[t->touched[i]];
		struct fah_node_cost *cost = &t->p->costs[t->touched[i]];

		for (int k = 0; k < 3; k++)
			cost->seconds[k] += c->s[k] * factor;
		cost->samples += c->samples;
		*c = (struct fah_scratch){0};
	}
	t->n_touched = 0;
	*weight += t->group.weight_s * factor;
	*weight2 += t->group.weight_s2 * factor * factor;
}

/* Samples divide the busy part of the run only. Where the farther end of the interval is farthest
 * depends on how many there are. */
static double widest_interval(const struct fah_totals *t)
{
	double widest = 0;

	for (int i = 0; i <= 50; i++) {
		double half = fah_share_interval(i / 50.0, t->effective_samples);

		widest = half > widest ? half : widest;
	}
	return widest * (t->wall_s > 0 ? t->on_cpu_s / t->wall_s : 1);
}

/* The group's threads are scaled alike: to the group's part of the run, and to its CPU. */
static void keep_scales(struct fah_timeline *t, const struct fah_groups *g, uint32_t group,
			double absent_s)
{
	struct fah_scales *scales = t->p->kept->scales;
	double own_s = absent_s, weight_s = (double)t->group.first_ns * 1e-9;
	uint32_t i;

	for (i = g->heads[group]; i != FAH_NO_THREAD; i = g->next[i]) {
		const struct fah_thread *thread = &t->p->threads[i];
		uint64_t seen = thread->sampled_cpu_ns + thread->dropped_cpu_ns;
		uint64_t whole = thread->cpu_ns - thread->before_ns;

		own_s += fah_time_ns(whole > seen ? whole : seen) * 1e-9;
		weight_s += fah_time_ns(thread->sampled_cpu_ns) * 1e-9;
	}
	for (i = g->heads[group]; i != FAH_NO_THREAD; i = g->next[i]) {
		scales[i].run = t->group.weight_s > 0 ? t->group.true_s / t->group.weight_s : 0;
		scales[i].own = weight_s > 0 ? own_s / weight_s : 0;
	}
}

int fah_seconds_run(struct fah_timeline *t)
{
	_cleanup_(fah_groups_release) struct fah_groups g = {0};
	struct fah_totals *totals = &t->p->totals;
	double weight = 0, weight2 = 0;
	int err = fah_groups_init(&g, t->p);

	if (err < 0)
		return err;
	for (uint32_t group = 0; group < g.n; group++) {
		double absent = fah_groups_absent(&g, t->p, group) * 1e-9, absent_s = absent;
		double wanted = 0;
		uint32_t threads = 0;

		t->group = (struct fah_sums){0};
		for (uint32_t i = g.heads[group]; i != FAH_NO_THREAD; i = g.next[i]) {
			double before = t->group.true_s;

			t->in_native = t->native.n && fah_thread_is_native(t, i);
			fah_walk_seconds(t, i);
			threads += t->group.true_s > before;
			wanted += t->given_s[i];
		}
		t->group.true_s += wanted;
		if (!(t->group.weight_s > 0)) {
			totals->unsampled_threads += threads;
			totals->unsampled_s += t->group.true_s;
		} else if (absent > 0) {
			/* They ran among those of the group, so they count as much. */
			totals->absent_cpu_s += absent;
			absent *= (t->group.true_s - wanted) / t->group.cpu_s;
			if (absent > totals->wall_s - totals->on_cpu_s)
				absent = totals->wall_s - totals->on_cpu_s;
			t->group.true_s += absent;
			totals->on_cpu_s += absent;
		}
		if (t->p->kept)
			keep_scales(t, &g, group, absent_s);
		flush(t, &weight, &weight2);
	}
	totals->effective_samples = weight2 > 0 ? weight * weight / weight2 : 0;
	totals->interval_points = 100 * widest_interval(totals);
	return 0;
}
