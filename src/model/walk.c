/*
 * walk.c - the samples of a thread, read from the capture's bytes, once a pass: where its CPU lies,
 * and what it counts. Hot: a few ns a sample each; timeline.c says what the passes are for.
 */
#include "model/timeline.h"

#define PERIOD_MAX_NS 10000000000u
#define BATCH 64 /* samples decoded at a time */

enum pass { PASS_FIRM, PASS_LOOSE, PASS_SECONDS, PASS_VISIT };

struct span { /* an interval in fine buckets */
	double from, to;
	bool loose;
};

static inline double room_at(const struct fah_timeline *t, double x)
{
	uint32_t i = (uint32_t)x;

	return t->room[i] + (t->room[i + 1] - t->room[i]) * (x - (double)i);
}

static inline double since(uint64_t prev, uint64_t now)
{
	return now > prev ? fah_time_ns(now - prev) : 0;
}

static inline bool takes_turns(const struct fah_timeline *t, double len, double cpu)
{
	return len > cpu * FAH_FIRM_RATIO && len <= cpu * t->slept;
}

static inline struct span place(const struct fah_timeline *t, uint64_t prev, uint64_t now,
				uint64_t w)
{
	double end = fah_time_ns(now), len = since(prev, now), cpu = fah_time_ns(w);
	struct span s = {.loose = false};

	if (takes_turns(t, len, cpu))
		s.loose = true;
	else if (len < cpu || len > cpu * FAH_FIRM_RATIO)
		len = cpu;
	if (end > t->wall_ns)
		end = t->wall_ns;
	s.to = end * t->per_ns;
	s.from = end > len ? (end - len) * t->per_ns : 0;
	if (s.loose && t->room && room_at(t, s.to) - room_at(t, s.from) < cpu * t->per_ns) {
		s.loose = false;
		s.from = end > cpu ? (end - cpu) * t->per_ns : 0;
	}
	return s;
}

static inline void put_firm(struct fah_timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	struct span s = place(t, prev, now, w);

	if (t->in_native)
		fah_buckets_spread(&t->native, s.from, s.to, fah_time_ns(w) * t->per_ns);
	else if (!s.loose)
		fah_buckets_spread(&t->fine, s.from, s.to, fah_time_ns(w) * t->per_ns);
	else if (t->n_loose < FAH_LOOSE_MAX && now - prev <= UINT32_MAX)
		t->loose[t->n_loose++] =
			(struct fah_stretch){now, (uint32_t)(now - prev), (uint32_t)w};
	else
		t->loose_full = true;
}

/* What put_firm left out. */
static inline void put_loose(struct fah_timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	double cpu = fah_time_ns(w) * t->per_ns;
	struct span s;

	if (!takes_turns(t, since(prev, now), fah_time_ns(w)))
		return;
	s = place(t, prev, now, w);
	if (s.loose)
		fah_buckets_spread(&t->coarse, s.from * t->per_coarse, s.to * t->per_coarse, cpu);
	else
		fah_buckets_spread(&t->fine, s.from, s.to, cpu);
}

/* Seconds of the run that one ns of this CPU counts. */
static inline double put_seconds(struct fah_timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	struct span s = place(t, prev, now, w);
	double scale;

	if (t->in_native)
		scale = fah_buckets_scale(&t->native, s.from, s.to);
	else if (s.loose)
		scale = fah_buckets_scale(&t->coarse, s.from * t->per_coarse, s.to * t->per_coarse);
	else
		scale = fah_buckets_scale(&t->fine, s.from, s.to);

	t->group.cpu_s += fah_time_ns(w) * 1e-9;
	t->group.true_s += fah_time_ns(w) * 1e-9 * scale;
	return 1e-9 * scale;
}

static inline void add_sample(struct fah_timeline *t, const struct fah_sample_item *item, double s)
{
	uint32_t in = item->flags & FAH_IN_MASK, node = item->node;
	struct fah_scratch *c = &t->scratch[node];

	if (!c->samples++)
		t->touched[t->n_touched++] = node;
	if (__builtin_expect(item->system_ns != 0, 0)) {
		double system = s * (fah_time_ns(item->system_ns) / fah_time_ns(item->cpu_ns));

		c->s[FAH_IN_SYSTEM] += system;
		c->s[in > FAH_IN_SYSTEM ? FAH_IN_PYTHON : in] += s - system;
	} else {
		c->s[in > FAH_IN_SYSTEM ? FAH_IN_PYTHON : in] += s;
	}
	t->group.weight_s += s;
	t->group.weight_s2 += s * s;
}

static inline double event(struct fah_timeline *t, enum pass pass, uint64_t prev, uint64_t now,
			   uint64_t w)
{
	if (pass == PASS_SECONDS || pass == PASS_VISIT)
		return put_seconds(t, prev, now, w);
	if (pass == PASS_FIRM)
		put_firm(t, prev, now, w);
	else
		put_loose(t, prev, now, w);
	return 0;
}

/* The next samples of a block. Node ids are checked here, and their scratch is on its way. */
static inline int take(struct fah_timeline *t, struct fah_samples_block *block, enum pass pass,
		       struct fah_sample_item *items)
{
	int n = 0;

	while (n < BATCH && fah_samples_next(block, &items[n])) {
		if ((pass == PASS_SECONDS || pass == PASS_VISIT) && items[n].node >= t->p->n_nodes)
			items[n].node = 0;
		if (pass == PASS_SECONDS)
			__builtin_prefetch(&t->scratch[items[n].node], 1);
		n++;
	}
	return n;
}

/* What a sample stands for: its CPU, or all the time since prev in which it wanted a core. */
static inline uint64_t claim(const struct fah_sample_item *item, uint64_t prev)
{
	uint64_t len = item->time_ns > prev ? item->time_ns - prev : 0;

	return item->flags & FAH_SAMPLE_RAN_ON && len > item->cpu_ns ? len : item->cpu_ns;
}

/* Seconds of the run of a sample, with its part of what its step has for want of a core. */
static inline double run_of(const struct fah_sample_item *item, uint64_t w, double per,
			    double step_per)
{
	double s = fah_time_ns(w) * per;

	return __builtin_expect(step_per > 0, 0) ? s + fah_time_ns(item->cpu_ns) * step_per : s;
}

/* PASS_FIRM, of the step at hand: CPU of samples, and what they claim beside it. */
static void close_step(struct fah_step *step, uint64_t sampled, uint64_t claimed)
{
	step->sampled_ns = sampled;
	step->claimed_ns += claimed;
}

/* The step that now is in. What was claimed since prev belongs to all steps from there on; that of
 * the last one is returned. */
static uint64_t later_step(struct fah_step **step, uint64_t prev, uint64_t now, uint64_t claimed)
{
	for (; now > (*step)->to_ns; ++*step) {
		uint64_t part;

		if ((*step)->to_ns <= prev)
			continue;
		part = (uint64_t)((double)claimed *
				  (since(prev, (*step)->to_ns) / since(prev, now)));
		part = part < claimed ? part : claimed;
		(*step)->claimed_ns += part;
		claimed -= part;
		prev = (*step)->to_ns;
	}
	return claimed;
}

/* All CPU of one thread in time order, drops between samples. pass is constant in each caller. */
static inline __attribute__((always_inline)) void walk(struct fah_timeline *t, uint32_t index,
						       enum pass pass)
{
	struct fah_thread *thread = &t->p->threads[index];
	const struct fah_chain *chain = &t->in->chains[index];
	uint64_t prev = thread->start_ns, sampled = 0, dropped = 0, samples = 0, flagged = 0;
	uint64_t period = t->p->processes[thread->process].period_ns, tail, cut = 0, in_jit = 0;
	const struct fah_dropped *drop =
		chain->drops.first == FAH_NO_BLOCK ? NULL : &t->in->drops[chain->drops.first];
	uint64_t drop_at = drop ? drop->time_ns : UINT64_MAX;
	bool first = period && period < PERIOD_MAX_NS;
	struct fah_step *step = &t->steps[t->first_step[index]];
	uint64_t step_to = step->to_ns, before = 0, claimed = 0;
	double step_per = step->per_ns;

	for (uint32_t i = chain->blocks.first; i != FAH_NO_BLOCK; i = t->in->blocks[i].next) {
		struct fah_samples_block block = t->in->blocks[i].samples;
		struct fah_sample_item items[BATCH], *item = items, *end = items;

		for (;; item++) {
			uint64_t w;
			double per;

			if (item == end) {
				item = items;
				end = items + take(t, &block, pass, items);
				if (item == end)
					break;
			}
			while (drop_at <= item->time_ns && drop) {
				event(t, pass, prev, drop->time_ns, drop->cpu_ns);
				dropped += drop->cpu_ns;
				prev = drop->time_ns;
				first = false;
				drop = drop->next == FAH_NO_BLOCK ? NULL
								  : &t->in->drops[drop->next];
				drop_at = drop ? drop->time_ns : UINT64_MAX;
			}
			w = claim(item, prev);
			per = event(t, pass, prev, item->time_ns, w);
			if (__builtin_expect(item->time_ns > step_to, 0)) {
				if (pass == PASS_FIRM)
					close_step(step, sampled - before, claimed);
				claimed = later_step(&step, prev, item->time_ns,
						     pass == PASS_FIRM ? w - item->cpu_ns : 0);
				before = sampled;
				step_to = step->to_ns;
				step_per = step->per_ns;
			} else if (pass == PASS_FIRM) {
				claimed += w - item->cpu_ns;
			}
			if (pass == PASS_FIRM) {
				flagged += (item->flags & FAH_SAMPLE_RECOVERED) != 0;
				cut += (item->flags & FAH_SAMPLE_TRUNCATED) != 0;
				in_jit += (item->flags & (FAH_SAMPLE_IN_JIT | FAH_IN_MASK)) ==
					  (FAH_SAMPLE_IN_JIT | FAH_IN_PYTHON);
			} else if (pass == PASS_SECONDS) {
				if (first && w < period)
					w = period;
				if (first && item->cpu_ns < period)
					t->group.first_ns += period - item->cpu_ns;
				add_sample(t, item, run_of(item, w, per, step_per));
			} else if (pass == PASS_VISIT) {
				uint64_t own = item->cpu_ns;

				if (first && w < period)
					w = period;
				if (first && own < period)
					own = period;
				t->visit(t->context, item, run_of(item, w, per, step_per),
					 fah_time_ns(own));
			}
			first = false;
			sampled += item->cpu_ns;
			samples++;
			prev = item->time_ns;
		}
	}
	for (; drop; drop = drop->next == FAH_NO_BLOCK ? NULL : &t->in->drops[drop->next]) {
		event(t, pass, prev, drop->time_ns, drop->cpu_ns);
		dropped += drop->cpu_ns;
		prev = drop->time_ns;
	}
	tail = thread->cpu_ns > sampled + dropped ? thread->cpu_ns - sampled - dropped : 0;
	if (tail)
		event(t, pass, prev, thread->end_ns > prev ? thread->end_ns : prev, tail);
	if (pass == PASS_FIRM) {
		close_step(step, sampled - before, claimed);
		thread->sampled_cpu_ns = sampled;
		thread->dropped_cpu_ns = dropped;
		thread->samples = samples;
		t->p->totals.samples += samples;
		t->p->totals.recovered += flagged;
		t->p->totals.truncated += cut;
		t->p->totals.in_jit += in_jit;
		t->p->totals.dropped_cpu_s += (double)dropped * 1e-9;
	}
}

void fah_walk_firm(struct fah_timeline *t, uint32_t thread)
{
	walk(t, thread, PASS_FIRM);
}

void fah_walk_loose(struct fah_timeline *t, uint32_t thread)
{
	walk(t, thread, PASS_LOOSE);
}

void fah_walk_seconds(struct fah_timeline *t, uint32_t thread)
{
	walk(t, thread, PASS_SECONDS);
}

void fah_walk_visit(struct fah_timeline *t, uint32_t thread)
{
	walk(t, thread, PASS_VISIT);
}

void fah_walk_kept(struct fah_timeline *t)
{
	for (const struct fah_stretch *s = t->loose; s < t->loose + t->n_loose; s++)
		put_loose(t, s->now - s->length, s->now, s->w);
}
