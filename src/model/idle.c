/*
 * idle.c - the moments in which no thread of the tree runs, and whose they are.
 *
 * Those in which threads wanted a core are theirs, and have been taken out by ready.c or set aside
 * for "no core". The others belong to what the main thread of the first process waits for then, at
 * its line and with its reason. So a join() gets nothing while workers run or want to, and all of
 * it when they wait too.
 *
 * How. Idle time is known by coarse bucket (settle.c), waits by the stretches that the collector
 * saw: within a stretch the thread waited so long, where in it nobody knows. So a bucket's idle
 * time is shared among the waits in it in proportion to their waited time. They get as much as they
 * waited, and never more than is idle; waits that stand for the whole bucket, and were most of it,
 * get all of it, since the main thread was nowhere else. (A stretch may also be seconds of work
 * with a short wait at its end.) A sample's CPU may lie a period beside its true place and over a
 * bucket's edge, so up to CARRY of idle time or of waiting that found no partner may meet one in
 * the next bucket.
 *
 * What waits leave is want of a core too, as far as the kernel's numbers say so (STATES). The rest
 * is unknown: before the agent was ready, where /proc refuses, after the main thread's end.
 */
#include "model/timeline.h"

#include "base/map.h"
#include "core/err.h"

#define CARRY_MIN_NS 10e6
#define CARRY_PERIODS 2.0
#define MOST 0.5

struct idle {
	struct fah_timeline *t;
	struct fah_buckets waited;  /* of the main thread */
	struct fah_buckets covered; /* by stretches most of which it waited */
	struct fah_map by_place;    /* node, reason -> index into the profile's waits[] */
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

static double carry_most(const struct fah_timeline *t)
{
	double ns = CARRY_PERIODS * fah_time_ns(t->p->processes[0].period_ns);

	return (ns > CARRY_MIN_NS && ns < 1e9 ? ns : CARRY_MIN_NS) * t->per_ns;
}

/* What a waited second counts in each bucket; ready_idle_s. Units: fine widths. */
static void share_out(struct idle *d, double correction)
{
	struct fah_timeline *t = d->t;
	double most = carry_most(t), early_idle = 0, early_wait = 0, ready = 0, more;

	for (uint32_t b = 0; b < t->coarse.n; b++) {
		double idle = t->idle[b] * correction, waited = d->waited.cpu[b];
		double covered = fah_least(d->covered.cpu[b] / fah_coarse_width(t, b), 1);
		double no_core = fah_least(t->wants.no_core[b] * correction, idle);
		double wanted = covered * (idle - no_core), given = 0, left;

		if (waited > 0) {
			wanted = (waited > wanted ? waited : wanted) + early_wait;
			given = fah_least(idle - no_core + early_idle, wanted);
			early_wait = fah_least(wanted - given, most);
		} else {
			early_wait = 0;
		}
		d->waited.scale[b] = waited > 0 ? given / waited : 0;
		left = idle - no_core + early_idle - given;
		more = fah_least(t->wants.more[b], left);
		early_idle = fah_least(left - more, most);
		ready += no_core + more;
	}
	fah_buckets_integrate(&d->waited);
	t->p->totals.ready_idle_s = ready * t->width_ns * 1e-9;
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

	if (fah_buckets_init(&d->waited, n) < 0 || fah_buckets_init(&d->covered, n) < 0)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < p->n_threads; i++)
		if (fah_thread_is_main(p, i))
			spread_waits(d, i);
	fah_buckets_settle(&d->waited);
	fah_buckets_settle(&d->covered);
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

	totals->idle_s = fah_positive(totals->wall_s - totals->on_cpu_s);
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
	fah_map_release(&d.by_place);
	totals->ready_s = totals->ready_idle_s + t->wants.of_lines_s;
	totals->ran_s = fah_positive(totals->on_cpu_s - t->wants.of_lines_s);
	totals->unknown_s = fah_positive(totals->idle_s - totals->waited_s - totals->ready_idle_s);
	return err;
}
