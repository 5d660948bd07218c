/*
 * timeline.c - from samples to seconds of the run.
 *
 * What a second means. A report divides the run's wall time: each moment among the threads of the
 * whole tree that run in it, by the CPU they use; a moment in which none runs is idle. A sample of
 * a thread at time t carries the CPU w that the thread used since its last record, dt ago.
 *
 * Where that CPU lies. dt close to w: the thread ran all the time, and its CPU is *firm*: spread
 * over [t - dt, t] with the resolution of a fine bucket (1 ms). dt a small multiple of w: the
 * thread shared a core or the GIL with others; where in [t - dt, t] it ran nobody knows, so its CPU
 * is *loose*: spread evenly, then, per coarse bucket (200 ms), put first where firm CPU leaves
 * room. (Spreading such intervals evenly over fine buckets instead makes densities that add up to 1
 * only on average: in a simulation of 4 threads on one GIL, 15 % of a fully busy run looked idle.
 * Now it is 0.5 %, and 1 % with 16 threads.) dt far above w: the thread slept, and woke shortly
 * before its timer fired: firm, over [t - w, t]. "Far" is four times the number of threads alive at
 * once, since so many may take turns; and a thread in whose interval firm CPU of others leaves no
 * room for its own did not take turns either. So loose CPU is thought not to overlap where it need
 * not: threads that each run at random for less than a period at a time count a little busier than
 * they are.
 *
 * A thread that never blocked since its last record (FAH_SAMPLE_RAN_ON) wanted a core all of dt:
 * what is not CPU then was want of a core, and it claims dt, not w. So on a busy machine a program
 * that only computes still shows all of its wall time where it computes.
 *
 * Threads without Python (the pools of numerical libraries) work for some Python code, which mostly
 * runs or spins beside them: they get the moments in which no Python thread runs, and no others.
 *
 * Bucket b of width W with CPU C_b: its CPU counts W / C_b where C_b > W, else 1. So a program with
 * one thread shows its CPU as it is, and parallel work is not counted twice.
 *
 * How much a sample weighs. The CPU since the thread's last record, measured, so that a late timer
 * (signals blocked, a long system call) still counts in full. Three corrections:
 *   - the first interval of a thread is drawn from (0, period), so every moment of CPU has the same
 *     chance of a sample, one in a period, and the first sample stands for a whole period, not for
 *     the short time before it. (By its measured CPU the late part of short threads weighed more.)
 *   - CPU without a stack (drops, the tail after a thread's last sample, threads that ended before
 *     their first) is shared out over samples of like threads: a long thread (8 periods and more)
 *     has its own samples scaled to its own CPU; short threads of a process are grouped by length
 *     in octaves, and a group's samples are scaled to the group's CPU. Threads of equal length have
 *     equal chances, so 1,000 threads of 3 ms, most without a sample, get what they used.
 *   - an agent writes nothing of a thread that ends before its first sample. What a process used by
 *     getrusage beyond its known threads is given to its groups of short threads, as far as their
 *     lengths make unseen threads likely; the rest is unseen_cpu_s.
 * Bias that stays: the kernel's tick delivers a timer late by up to a tick, so within a thread
 * shorter than a few ticks early code is seen less than late code; a group of short threads with
 * fewer than 8 samples joins the next longer one. CPU of groups without any sample is "unsampled".
 *
 * Passes over the bytes: firm CPU; loose CPU, where there is so much that it was not kept; seconds.
 * A few ns a sample each.
 */
#include "model/buckets.h"
#include "model/groups.h"
#include "model/internal.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "core/segment.h"

#define FINE_NS 1e6
#define COARSE_NS 200e6
#define FINE_MAX 1000000 /* buckets; beyond 1,000 s they grow wider than 1 ms */
#define FIRM_RATIO 1.25
#define TURNS 4.0 /* dt / w of a thread that takes turns, per thread alive */
#define PERIOD_MAX_NS 10000000000u
#define LOOSE_MAX (1u << 20) /* stretches kept; a thread that has no room is read again */
#define BATCH 64	     /* samples decoded at a time */

struct sums { /* of one group of threads */
	double cpu_s, true_s, weight_s, weight_s2;
};

struct scratch { /* by node, for the group at hand */
	double s[3];
	uint32_t samples;
};

enum pass { PASS_FIRM, PASS_LOOSE, PASS_SECONDS };

struct timeline {
	struct fah_profile *p;
	const struct fah_timeline_input *in;
	double wall_ns, width_ns, per_ns, per_coarse; /* per_: buckets a ns, coarse a fine one */
	uint32_t ratio;				      /* fine buckets in a coarse one */
	double slept;				      /* dt / w from which the thread slept */
	struct fah_buckets fine, coarse;
	struct fah_buckets
		native; /* fine ones, of threads without Python; n is 0 where there are none */
	bool in_native; /* the thread at hand is one of those */
	double *room; /* by fine bucket: what firm CPU leaves of all before it; NULL in PASS_FIRM */
	struct stretch *loose; /* loose CPU that PASS_FIRM met, up to LOOSE_MAX */
	size_t n_loose;
	bool loose_full; /* of the thread at hand: it needs a pass of its own */
	struct sums group;
	struct scratch *scratch;
	uint32_t *touched;
	size_t n_touched;
};

struct stretch { /* CPU w, somewhere between prev and now */
	uint64_t prev, now, w;
};

struct span { /* an interval in fine buckets */
	double from, to;
	bool loose;
};

static inline double room_at(const struct timeline *t, double x)
{
	uint32_t i = (uint32_t)x;

	return t->room[i] + (t->room[i + 1] - t->room[i]) * (x - (double)i);
}

/* Times below 2^63 convert in one instruction, others are no times. */
static inline double time_ns(uint64_t ns)
{
	return ns <= INT64_MAX ? (double)(int64_t)ns : 0;
}

static inline double since(uint64_t prev, uint64_t now)
{
	return now > prev ? time_ns(now - prev) : 0;
}

static inline bool takes_turns(const struct timeline *t, double len, double cpu)
{
	return len > cpu * FIRM_RATIO && len <= cpu * t->slept;
}

static inline struct span place(const struct timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	double end = time_ns(now), len = since(prev, now), cpu = time_ns(w);
	struct span s = {.loose = false};

	if (takes_turns(t, len, cpu))
		s.loose = true;
	else if (len < cpu || len > cpu * FIRM_RATIO)
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

static inline void put_firm(struct timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	struct span s = place(t, prev, now, w);

	if (t->in_native)
		fah_buckets_spread(&t->native, s.from, s.to, time_ns(w) * t->per_ns);
	else if (!s.loose)
		fah_buckets_spread(&t->fine, s.from, s.to, time_ns(w) * t->per_ns);
	else if (t->n_loose < LOOSE_MAX)
		t->loose[t->n_loose++] = (struct stretch){prev, now, w};
	else
		t->loose_full = true;
}

/* What put_firm left out. */
static inline void put_loose(struct timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	double cpu = time_ns(w) * t->per_ns;
	struct span s;

	if (!takes_turns(t, since(prev, now), time_ns(w)))
		return;
	s = place(t, prev, now, w);
	if (s.loose)
		fah_buckets_spread(&t->coarse, s.from * t->per_coarse, s.to * t->per_coarse, cpu);
	else
		fah_buckets_spread(&t->fine, s.from, s.to, cpu);
}

/* Seconds of the run that one ns of this CPU counts. */
static inline double put_seconds(struct timeline *t, uint64_t prev, uint64_t now, uint64_t w)
{
	struct span s = place(t, prev, now, w);
	double scale;

	if (t->in_native)
		scale = fah_buckets_scale(&t->native, s.from, s.to);
	else if (s.loose)
		scale = fah_buckets_scale(&t->coarse, s.from * t->per_coarse, s.to * t->per_coarse);
	else
		scale = fah_buckets_scale(&t->fine, s.from, s.to);

	t->group.cpu_s += time_ns(w) * 1e-9;
	t->group.true_s += time_ns(w) * 1e-9 * scale;
	return 1e-9 * scale;
}

static inline void add_sample(struct timeline *t, const struct fah_sample_item *item, double s)
{
	uint32_t in = item->flags & FAH_IN_MASK, node = item->node;
	struct scratch *c = &t->scratch[node];

	if (!c->samples++)
		t->touched[t->n_touched++] = node;
	if (__builtin_expect(item->system_ns != 0, 0)) {
		double system = s * (time_ns(item->system_ns) / time_ns(item->cpu_ns));

		c->s[FAH_IN_SYSTEM] += system;
		c->s[in > FAH_IN_SYSTEM ? FAH_IN_PYTHON : in] += s - system;
	} else {
		c->s[in > FAH_IN_SYSTEM ? FAH_IN_PYTHON : in] += s;
	}
	t->group.weight_s += s;
	t->group.weight_s2 += s * s;
}

static inline double event(struct timeline *t, enum pass pass, uint64_t prev, uint64_t now,
			   uint64_t w)
{
	if (pass == PASS_SECONDS)
		return put_seconds(t, prev, now, w);
	if (pass == PASS_FIRM)
		put_firm(t, prev, now, w);
	else
		put_loose(t, prev, now, w);
	return 0;
}

/* The next samples of a block. Node ids are checked here, and their scratch is on its way. */
static inline int take(struct timeline *t, struct fah_samples_block *block, enum pass pass,
		       struct fah_sample_item *items)
{
	int n = 0;

	while (n < BATCH && fah_samples_next(block, &items[n])) {
		if (pass == PASS_SECONDS) {
			if (items[n].node >= t->p->n_nodes ||
			    (items[n].flags & FAH_SAMPLE_NO_PYTHON))
				items[n].node = 0;
			__builtin_prefetch(&t->scratch[items[n].node], 1);
		}
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

/* All CPU of one thread in time order, drops between samples. pass is constant in each caller. */
static inline __attribute__((always_inline)) void walk(struct timeline *t, uint32_t index,
						       enum pass pass)
{
	struct fah_thread *thread = &t->p->threads[index];
	const struct fah_chain *chain = &t->in->chains[index];
	uint64_t prev = thread->start_ns, sampled = 0, dropped = 0, samples = 0, flagged = 0;
	uint64_t period = t->p->processes[thread->process].period_ns, tail, cut = 0;
	const struct fah_dropped *drop =
		chain->first_drop == FAH_NO_BLOCK ? NULL : &t->in->drops[chain->first_drop];
	uint64_t drop_at = drop ? drop->time_ns : UINT64_MAX;
	bool first = period && period < PERIOD_MAX_NS;

	for (uint32_t i = chain->first_block; i != FAH_NO_BLOCK; i = t->in->blocks[i].next) {
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
			if (pass == PASS_FIRM) {
				flagged += (item->flags & FAH_SAMPLE_RECOVERED) != 0;
				cut += (item->flags & FAH_SAMPLE_TRUNCATED) != 0;
			} else if (pass == PASS_SECONDS) {
				if (first && w < period)
					w = period;
				add_sample(t, item, time_ns(w) * per);
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
		thread->sampled_cpu_ns = sampled;
		thread->dropped_cpu_ns = dropped;
		thread->samples = samples;
		t->p->totals.samples += samples;
		t->p->totals.recovered += flagged;
		t->p->totals.truncated += cut;
		t->p->totals.dropped_cpu_s += (double)dropped * 1e-9;
	}
}

/* Threads without Python get what the others leave of a bucket; how much that is. */
static double fill_native(struct fah_buckets *b, uint32_t i, double left)
{
	double cpu = b->cpu[i];

	b->scale[i] = cpu > left ? left / cpu : 1;
	return cpu > left ? left : cpu;
}

/* Put the loose CPU of one coarse bucket where the firm leaves room, and set all scales in it. */
static double fill(struct timeline *t, uint32_t coarse)
{
	uint32_t from = coarse * t->ratio, to = from + t->ratio, i;
	double loose = t->coarse.cpu[coarse], room = 0, rest = 0, kept = 0, busy = 0;

	if (to > t->fine.n)
		to = t->fine.n;
	for (i = from; i < to; i++)
		if (t->fine.cpu[i] < 1)
			room += 1 - t->fine.cpu[i];
	if (loose > room)
		rest = (loose - room) / (double)(to - from);
	for (i = from; i < to; i++) {
		double firm = t->fine.cpu[i], here = firm < 1 ? 1 - firm : 0, cpu;

		here = loose > room ? here + rest : room > 0 ? here * (loose / room) : 0;
		cpu = firm + here;
		t->fine.scale[i] = cpu > 1 ? 1 / cpu : 1;
		kept += here * t->fine.scale[i];
		busy += cpu > 1 ? 1 : cpu;
		if (t->native.n)
			busy += fill_native(&t->native, i, cpu > 1 ? 0 : 1 - cpu);
	}
	t->coarse.scale[coarse] = loose > 0 ? kept / loose : 1;
	return busy;
}

/* A thread whose first sample found no Python state never has one: pools don't turn to Python. */
static bool is_native(const struct timeline *t, uint32_t thread)
{
	uint32_t first = t->in->chains[thread].first_block;
	struct fah_samples_block block;
	struct fah_sample_item item;

	if (first == FAH_NO_BLOCK)
		return false;
	block = t->in->blocks[first].samples;
	return fah_samples_next(&block, &item) && item.flags & FAH_SAMPLE_NO_PYTHON;
}

/* PASS_FIRM and PASS_LOOSE. */
static int place_cpu(struct timeline *t, double *room)
{
	_cleanup_(fah_freep) bool *again = calloc(t->p->n_threads + 1, sizeof(*again));
	_cleanup_(fah_freep) struct stretch *loose = malloc(LOOSE_MAX * sizeof(*loose));

	if (!again || !loose)
		return FAH_ERR_NOMEM;
	t->loose = loose;
	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		size_t before = t->n_loose;

		t->loose_full = false;
		t->in_native = t->native.n && is_native(t, i);
		walk(t, i, PASS_FIRM);
		again[i] = t->loose_full;
		if (t->loose_full)
			t->n_loose = before;
	}
	t->in_native = false;
	fah_buckets_settle(&t->fine);
	if (t->native.n)
		fah_buckets_settle(&t->native);
	for (uint32_t i = 0; i < t->fine.n + 2; i++)
		room[i + 1] = room[i] + (t->fine.cpu[i] < 1 ? 1 - t->fine.cpu[i] : 0);
	t->room = room;
	for (size_t i = 0; i < t->n_loose; i++)
		put_loose(t, loose[i].prev, loose[i].now, loose[i].w);
	for (uint32_t i = 0; i < t->p->n_threads; i++)
		if (again[i])
			walk(t, i, PASS_LOOSE);
	fah_buckets_settle(&t->fine);
	fah_buckets_settle(&t->coarse);
	return 0;
}

static void settle(struct timeline *t)
{
	double busy = 0;

	for (uint32_t i = 0; i < t->coarse.n; i++)
		busy += fill(t, i);
	fah_buckets_integrate(&t->fine);
	fah_buckets_integrate(&t->coarse);
	if (t->native.n)
		fah_buckets_integrate(&t->native);
	t->p->totals.on_cpu_s = busy * t->width_ns * 1e-9;
}

static int by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int most_alive(const struct fah_profile *p, size_t *ret)
{
	_cleanup_(fah_freep) uint64_t *starts = calloc(p->n_threads + 1, sizeof(*starts));
	_cleanup_(fah_freep) uint64_t *ends = calloc(p->n_threads + 1, sizeof(*ends));
	size_t alive = 0, most = 0, j = 0;

	if (!starts || !ends)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < p->n_threads; i++) {
		starts[i] = p->threads[i].start_ns;
		ends[i] = p->threads[i].end_ns ? p->threads[i].end_ns : UINT64_MAX;
	}
	qsort(starts, p->n_threads, sizeof(*starts), by_u64);
	qsort(ends, p->n_threads, sizeof(*ends), by_u64);
	for (size_t i = 0; i < p->n_threads; i++) {
		while (j < p->n_threads && ends[j] <= starts[i]) {
			j++;
			if (alive)
				alive--;
		}
		if (++alive > most)
			most = alive;
	}
	*ret = most;
	return 0;
}

/* A capture without its end: the run lasted at least until its last record. */
static uint64_t last_time(const struct timeline *t)
{
	const struct fah_profile *p = t->p;
	uint64_t last = 0;

	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct fah_thread *thread = &p->threads[i];
		struct fah_samples_block block;
		struct fah_sample_item item;
		uint32_t j;

		last = thread->start_ns > last ? thread->start_ns : last;
		last = thread->end_ns > last ? thread->end_ns : last;
		for (j = t->in->chains[i].first_block; j != FAH_NO_BLOCK; j = t->in->blocks[j].next)
			for (block = t->in->blocks[j].samples; fah_samples_next(&block, &item);)
				last = item.time_ns > last ? item.time_ns : last;
		for (j = t->in->chains[i].first_drop; j != FAH_NO_BLOCK; j = t->in->drops[j].next)
			last = t->in->drops[j].time_ns > last ? t->in->drops[j].time_ns : last;
	}
	for (size_t i = 0; i < p->n_processes; i++) {
		last = p->processes[i].start_ns > last ? p->processes[i].start_ns : last;
		last = p->processes[i].end_ns > last ? p->processes[i].end_ns : last;
	}
	return last;
}

/* The group's scratch, scaled to the group's CPU, into the profile. Adds to the sums of weights. */
static void flush(struct timeline *t, double *weight, double *weight2)
{
	double factor = t->group.weight_s > 0 ? t->group.true_s / t->group.weight_s : 0;

	for (size_t i = 0; i < t->n_touched; i++) {
		struct scratch *c = &t->scratch[t->touched[i]];
		struct fah_node_cost *cost = &t->p->costs[t->touched[i]];

		for (int k = 0; k < 3; k++)
			cost->seconds[k] += c->s[k] * factor;
		cost->samples += c->samples;
		*c = (struct scratch){0};
	}
	t->n_touched = 0;
	*weight += t->group.weight_s * factor;
	*weight2 += t->group.weight_s2 * factor * factor;
}

static int run_groups(struct timeline *t)
{
	_cleanup_(fah_groups_release) struct fah_groups g = {0};
	struct fah_totals *totals = &t->p->totals;
	double weight = 0, weight2 = 0;
	int err = fah_groups_init(&g, t->p);

	if (err < 0)
		return err;
	for (uint32_t group = 0; group < g.n; group++) {
		double absent = fah_groups_absent(&g, t->p, group) * 1e-9;
		uint32_t threads = 0;

		t->group = (struct sums){0};
		for (uint32_t i = g.heads[group]; i != FAH_NO_THREAD; i = g.next[i]) {
			double before = t->group.true_s;

			t->in_native = t->native.n && is_native(t, i);
			walk(t, i, PASS_SECONDS);
			threads += t->group.true_s > before;
		}
		if (!(t->group.weight_s > 0)) {
			totals->unsampled_threads += threads;
			totals->unsampled_s += t->group.true_s;
		} else if (absent > 0) {
			/* They ran among those of the group, so they count as much. */
			totals->absent_cpu_s += absent;
			absent *= t->group.true_s / t->group.cpu_s;
			if (absent > totals->wall_s - totals->on_cpu_s)
				absent = totals->wall_s - totals->on_cpu_s;
			t->group.true_s += absent;
			totals->on_cpu_s += absent;
		}
		flush(t, &weight, &weight2);
	}
	totals->effective_samples = weight2 > 0 ? weight * weight / weight2 : 0;
	return 0;
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

static int divide(struct timeline *t, uint32_t n)
{
	_cleanup_(fah_freep) double *room = calloc((size_t)n + 3, sizeof(*room));
	bool native = false;
	int err;

	for (uint32_t i = 0; i < t->p->n_threads; i++)
		native |= is_native(t, i);
	if (native && fah_buckets_init(&t->native, n) < 0)
		return FAH_ERR_NOMEM;
	if (!room || fah_buckets_init(&t->fine, n) < 0 ||
	    fah_buckets_init(&t->coarse, (n + t->ratio - 1) / t->ratio) < 0)
		return FAH_ERR_NOMEM;
	err = place_cpu(t, room);
	if (err < 0)
		return err;
	settle(t);
	return run_groups(t);
}

int fah_timeline_run(struct fah_profile *p, const struct fah_timeline_input *in)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	struct timeline t = {.p = p, .in = in};
	uint64_t wall_ns = in->wall_ns ? in->wall_ns : last_time(&t);
	size_t alive = 0;
	uint32_t n;
	int err;

	p->totals.wall_s = (double)wall_ns * 1e-9;
	t.wall_ns = wall_ns ? (double)wall_ns : 1;
	n = t.wall_ns / FINE_NS > FINE_MAX ? FINE_MAX : (uint32_t)(t.wall_ns / FINE_NS) + 1;
	t.width_ns = t.wall_ns / n;
	t.per_ns = 1 / t.width_ns;
	t.ratio = t.width_ns < COARSE_NS ? (uint32_t)(COARSE_NS / t.width_ns) : 1;
	t.per_coarse = 1.0 / t.ratio;

	p->costs = calloc(p->n_nodes, sizeof(*p->costs));
	t.scratch = fah_arena_array(&arena, p->n_nodes, sizeof(*t.scratch));
	t.touched = fah_arena_array(&arena, p->n_nodes, sizeof(*t.touched));
	if (!p->costs || !t.scratch || !t.touched)
		return FAH_ERR_NOMEM;
	err = most_alive(p, &alive);
	if (err < 0)
		return err;
	/* A thread alone overlaps with nothing, wherever its CPU lies. */
	t.slept = alive > 1 ? TURNS * (double)alive : FIRM_RATIO;

	err = divide(&t, n);
	fah_buckets_release(&t.fine);
	fah_buckets_release(&t.coarse);
	fah_buckets_release(&t.native);
	if (err < 0)
		return err;
	p->totals.idle_s = p->totals.wall_s - p->totals.on_cpu_s;
	if (p->totals.idle_s < 0)
		p->totals.idle_s = 0;
	p->totals.interval_points = 100 * widest_interval(&p->totals);
	return 0;
}
