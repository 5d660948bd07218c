/*
 * idle.c - the moments in which no thread of the tree runs, and whose they are.
 *
 * They belong to what the main thread of the first process waits for then, at its line and with its
 * reason. So a join() gets nothing while workers run, and all of it when they wait too.
 *
 * How. Idle time is known by coarse bucket (settle.c), waits by the stretches that the collector
 * saw: within a stretch the thread waited so long, where in it nobody knows. So a bucket's idle
 * time is shared among the waits in it in proportion to their waited time. They get as much as they
 * waited, and never more than is idle; waits that stand for the whole bucket, and were most of it,
 * get all of its idle time but for what the kernel calls ready, since the main thread was nowhere
 * else. (A stretch may also be seconds of work with a short wait at its end.) A sample's CPU
 * may lie a period beside its true place and over a bucket's edge, so up to CARRY of idle time or
 * of waiting that found no partner may meet one in the next bucket.
 *
 * What waits leave is want of a core as far as the kernel's numbers say so (STATES), and that part
 * which samples have not claimed already: a thread that never blocked claims it for its line
 * (timeline.c). The rest is unknown: before the agent was ready, where /proc refuses, after the
 * main thread's end.
 */
#include "model/timeline.h"

#include "base/map.h"
#include "core/err.h"

#define CARRY_MIN_NS 10e6
#define CARRY_PERIODS 2.0
#define MOST 0.5

struct idle {
	struct fah_timeline *t;
	struct fah_buckets waited;     /* of the main thread */
	struct fah_buckets covered;    /* by stretches most of which it waited */
	struct fah_buckets cpu, ready; /* of all threads, by the kernel */
	struct fah_map by_place;       /* node, reason -> index into the profile's waits[] */
	size_t cap_waits;
};

/* A stretch in coarse buckets, cut to the run; what of it lies inside, 0 to 1. */
struct part {
	double from, to, inside;
};

static struct part part_of(const struct fah_timeline *t, double from_ns, double to_ns)
{
	double from = from_ns > 0 ? from_ns : 0, to = to_ns < t->wall_ns ? to_ns : t->wall_ns;
	double per = t->per_ns * t->per_coarse;

	if (!(to > from))
		return (struct part){0, 0, 0};
	return (struct part){from * per, to * per, (to - from) / (to_ns - from_ns)};
}

bool fah_thread_is_main(const struct fah_profile *p, uint32_t i)
{
	const struct fah_thread *thread = &p->threads[i];
	uint32_t pid = p->processes[0].pid;

	if (pid)
		return thread->tid == pid && p->processes[thread->process].pid == pid;
	return i == 0;
}

static struct part part_of_wait(const struct fah_timeline *t, const struct fah_wait_item *item)
{
	double end = fah_time_ns(item->time_ns);

	return part_of(t, end - fah_time_ns(item->length_ns), end);
}

static void spread_waits(struct idle *d, uint32_t thread)
{
	struct fah_timeline *t = d->t;
	struct fah_wait_iter it = fah_wait_begin(t->in, thread);
	struct fah_wait_item item;

	while (fah_wait_next(&it, &item)) {
		struct part s = part_of_wait(t, &item);
		double in = s.inside * t->per_ns;

		if (!(in > 0))
			continue;
		fah_buckets_spread(&d->waited, s.from, s.to, fah_time_ns(item.waited_ns) * in);
		if (fah_time_ns(item.waited_ns) >= MOST * fah_time_ns(item.length_ns))
			fah_buckets_spread(&d->covered, s.from, s.to,
					   fah_time_ns(item.length_ns) * in);
	}
}

static void spread_states(struct idle *d, uint32_t thread)
{
	struct fah_timeline *t = d->t;
	struct fah_state_iter it = fah_state_begin(t, thread);
	struct fah_state_step step;

	while (fah_state_next(&it, &step)) {
		struct part s = part_of(t, fah_time_ns(step.from_ns), fah_time_ns(step.to_ns));
		double in = s.inside * t->per_ns;

		if (!(in > 0))
			continue;
		fah_buckets_spread(&d->cpu, s.from, s.to, fah_time_ns(step.cpu_ns) * in);
		fah_buckets_spread(&d->ready, s.from, s.to, fah_time_ns(step.ready_ns) * in);
	}
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double positive(double x)
{
	return x > 0 ? x : 0;
}

static double carry_most(const struct fah_timeline *t)
{
	double ns = CARRY_PERIODS * fah_time_ns(t->p->processes[0].period_ns);

	return (ns > CARRY_MIN_NS && ns < 1e9 ? ns : CARRY_MIN_NS) * t->per_ns;
}

/* What a waited second counts in each bucket; ready_s and ready_idle_s. Units: fine widths. */
static void share_out(struct idle *d, double correction)
{
	struct fah_timeline *t = d->t;
	double most = carry_most(t), early_idle = 0, early_wait = 0, ready = 0, ready_idle = 0;

	for (uint32_t b = 0; b < t->coarse.n; b++) {
		uint32_t after = t->fine.n - b * t->ratio;
		double width = after < t->ratio ? after : t->ratio, idle = t->idle[b] * correction;
		double waited = d->waited.cpu[b], covered = least(d->covered.cpu[b] / width, 1);
		double unrun = positive(width - d->cpu.cpu[b]);
		double ready_here = least(d->ready.cpu[b], unrun);
		double ready_free = least(positive(ready_here - positive(unrun - idle)), idle);
		double wanted = positive(covered * idle - ready_free), given = 0, left;

		if (waited > 0) {
			wanted = (waited > wanted ? waited : wanted) + early_wait;
			given = least(idle + early_idle, wanted);
			early_wait = least(wanted - given, most);
		} else {
			early_wait = 0;
		}
		d->waited.scale[b] = waited > 0 ? given / waited : 0;
		left = idle + early_idle - given;
		ready_free = least(ready_free, left);
		early_idle = least(left - ready_free, most);
		ready += ready_here;
		ready_idle += ready_free;
	}
	fah_buckets_integrate(&d->waited);
	t->p->totals.ready_s = ready * t->width_ns * 1e-9;
	t->p->totals.ready_idle_s = ready_idle * t->width_ns * 1e-9;
}

static int add_cost(struct idle *d, uint32_t node, uint32_t reason, double seconds)
{
	struct fah_profile *p = d->t->p;
	uint32_t *slot;
	bool is_new;

	slot = fah_map_put(&d->by_place, fah_key_u64((uint64_t)node << 32 | reason), &is_new);
	if (!slot)
		return FAH_ERR_NOMEM;
	if (is_new) {
		if (!fah_room(&p->waits, p->n_waits, &d->cap_waits, sizeof(*p->waits)))
			return FAH_ERR_NOMEM;
		*slot = (uint32_t)p->n_waits;
		p->waits[p->n_waits++] = (struct fah_wait_cost){node, reason, 0};
	}
	p->waits[*slot].seconds += seconds;
	p->costs[node].waiting += seconds;
	p->totals.waited_by[reason] += seconds;
	p->totals.waited_s += seconds;
	return 0;
}

double fah_wait_seconds(const struct fah_timeline *t, const struct fah_buckets *waited,
			const struct fah_wait_item *item)
{
	struct part s = part_of_wait(t, item);

	return fah_time_ns(item->waited_ns) * 1e-9 * s.inside *
	       fah_buckets_scale(waited, s.from, s.to);
}

static int give_waits(struct idle *d, uint32_t thread)
{
	struct fah_timeline *t = d->t;
	struct fah_wait_iter it = fah_wait_begin(t->in, thread);
	struct fah_wait_item item;

	while (fah_wait_next(&it, &item)) {
		double seconds = fah_wait_seconds(t, &d->waited, &item);
		int err;

		if (!(seconds > 0))
			continue;
		err = add_cost(d, item.node < t->p->n_nodes ? item.node : 0,
			       item.reason < FAH_WAIT_COUNT ? item.reason : FAH_WAIT_UNKNOWN,
			       seconds);
		if (err < 0)
			return err;
	}
	return 0;
}

static int by_node(const void *a, const void *b)
{
	const struct fah_wait_cost *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->reason < y->reason ? -1 : x->reason > y->reason;
}

static int run(struct idle *d, double correction)
{
	struct fah_timeline *t = d->t;
	uint32_t n = t->coarse.n;
	struct fah_profile *p = t->p;

	if (fah_buckets_init(&d->waited, n) < 0 || fah_buckets_init(&d->covered, n) < 0 ||
	    fah_buckets_init(&d->cpu, n) < 0 || fah_buckets_init(&d->ready, n) < 0)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < p->n_threads; i++) {
		spread_states(d, i);
		if (fah_thread_is_main(p, i))
			spread_waits(d, i);
	}
	fah_buckets_settle(&d->waited);
	fah_buckets_settle(&d->covered);
	fah_buckets_settle(&d->cpu);
	fah_buckets_settle(&d->ready);
	share_out(d, correction);
	for (uint32_t i = 0; i < p->n_threads; i++) {
		int err = fah_thread_is_main(p, i) ? give_waits(d, i) : 0;

		if (err < 0)
			return err;
	}
	if (p->n_waits)
		qsort(p->waits, p->n_waits, sizeof(*p->waits), by_node);
	return 0;
}

int fah_idle_run(struct fah_timeline *t)
{
	struct idle d = {.t = t};
	struct fah_totals *totals = &t->p->totals;
	double seen = 0;
	int err = 0;

	totals->idle_s = positive(totals->wall_s - totals->on_cpu_s);
	for (uint32_t b = 0; b < t->coarse.n; b++)
		seen += t->idle[b];
	seen *= t->width_ns * 1e-9;
	/* Threads without a record ran in moments that looked idle. */
	if (t->p->n_threads && seen > 0)
		err = run(&d, totals->idle_s / seen);
	if (t->p->kept) {
		t->p->kept->waited = d.waited;
		d.waited = (struct fah_buckets){0};
	}
	fah_buckets_release(&d.waited);
	fah_buckets_release(&d.covered);
	fah_buckets_release(&d.cpu);
	fah_buckets_release(&d.ready);
	fah_map_release(&d.by_place);
	totals->unknown_s = positive(totals->idle_s - totals->waited_s - totals->ready_idle_s);
	return err;
}
