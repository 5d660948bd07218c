/*
 * moments.c - one more pass over the samples, with all scales known: see moments.h.
 */
#include "model/moments.h"

#include "model/timeline.h"

struct visitor {
	struct fah_profile *p;
	fah_moment_fn *fn;
	void *context;
	enum fah_measure measure;
	struct fah_scales scales;
	bool is_main, has_wait;
	struct fah_wait_iter waits;
	struct fah_wait_item wait; /* the next one */
};

static void give_wait(struct visitor *v)
{
	const struct fah_wait_item *item = &v->wait;
	struct fah_moment m = {
		.time_ns = item->time_ns,
		.length_ns = item->length_ns,
		.node = item->node < v->p->n_nodes ? item->node : 0,
		.reason = item->reason < FAH_WAIT_COUNT ? item->reason : FAH_WAIT_UNKNOWN,
		.is_wait = true,
	};

	m.own_s = fah_time_ns(item->waited_ns) * 1e-9 * v->scales.wait;
	if (v->is_main && v->p->kept->waited.n)
		m.run_s = fah_wait_seconds(&v->p->kept->t, &v->p->kept->waited, item);
	m.seconds = v->measure == FAH_OWN_TIME ? m.own_s : m.run_s;
	if (m.seconds > 0)
		v->fn(v->context, &m);
}

static void give_waits_until(struct visitor *v, uint64_t time_ns)
{
	while (v->has_wait && v->wait.time_ns <= time_ns) {
		give_wait(v);
		v->has_wait = fah_wait_next(&v->waits, &v->wait);
	}
}

static void give_sample(void *context, const struct fah_sample_item *item, double run_s,
			double own_ns)
{
	struct visitor *v = context;
	struct fah_moment m = {
		.time_ns = item->time_ns,
		.length_ns = item->cpu_ns,
		.node = item->node,
		.flags = item->flags,
		.run_s = run_s * v->scales.run,
		.own_s = own_ns * 1e-9 * v->scales.own,
	};

	m.seconds = v->measure == FAH_OWN_TIME ? m.own_s : m.run_s;
	if ((item->flags & FAH_IN_MASK) == FAH_IN_SYSTEM)
		m.system = m.seconds;
	else if (item->system_ns)
		m.system = m.seconds * (fah_time_ns(item->system_ns) / fah_time_ns(item->cpu_ns));
	if (__builtin_expect(v->has_wait, 0))
		give_waits_until(v, item->time_ns);
	v->fn(v->context, &m);
}

void fah_profile_moments(struct fah_profile *p, uint32_t thread, enum fah_measure measure,
			 bool waits, fah_moment_fn *fn, void *context)
{
	struct fah_kept *kept = p->kept;
	struct visitor v = {.p = p, .fn = fn, .context = context, .measure = measure};

	if (!kept || thread >= p->n_threads)
		return;
	v.scales = kept->scales[thread];
	v.is_main = fah_thread_is_main(p, thread);
	if (waits) {
		v.waits = fah_wait_begin(&kept->in, thread);
		v.has_wait = fah_wait_next(&v.waits, &v.wait);
	}
	kept->t.in_native = kept->t.native.n && fah_thread_is_native(&kept->t, thread);
	kept->t.visit = give_sample;
	kept->t.context = &v;
	fah_walk_visit(&kept->t, thread);
	give_waits_until(&v, UINT64_MAX);
}

void fah_kept_free(struct fah_kept *kept)
{
	if (!kept)
		return;
	fah_timeline_release(&kept->t);
	fah_buckets_release(&kept->waited);
	free(kept->scales);
	free(kept->chains);
	free(kept->blocks);
	free(kept->drops);
	free(kept->waits);
	free(kept->states);
	free(kept);
}
