/*
 * ready.c - moments in which no thread of the tree runs and some thread wants a core: they are that
 * thread's, not what the main thread waits for. A join() is not blamed because other programs keep
 * the workers from running.
 *
 * A thread that never blocked claims its want with its sample (timeline.c). One that did, as all
 * that take turns with the GIL do, has it in its STATES only: so much in a second, somewhere.
 *
 * Where in that second: not where the thread is known to have waited. Its waits, and what lies
 * between them, are the pieces of a step; what a piece has beside its waiting was CPU, want of a
 * core or never seen, in the step's proportion.
 *
 * How much of it nobody ran in. In a moment in which nobody runs, a thread wants a core with the
 * chance that its own account gives: its want, of what it neither ran nor waited for the GIL (who
 * waits for that waits for a thread which runs or wants to). Threads are taken as independent, so
 * none of them wants a core with the product of the other chances; that part of the bucket's idle
 * time is waiting, the rest want, and never more than was wanted. With one thread that is exact;
 * with one GIL nobody waits for anything else, and all is want.
 *
 * Whose it is. A thread that has no core stands where it last ran, or where its wait has just
 * ended: a piece's want is divided by how long it ran (or wanted the GIL to) and waited. The first
 * part goes to the thread's samples of that step, or the next one that has any, by their CPU. The
 * second is no waiting and no running: it is nobody's, and the run's "no core".
 */
#include "model/timeline.h"

#include "core/err.h"

#define WINDOW_NS 1e9

struct piece { /* ns */
	double from, to, waited;
	bool gil;
};

/* The waits of a thread that were seen, as far as its pieces have not passed them. */
struct seen {
	struct fah_wait_iter it;
	struct fah_wait_item item;
	bool has;
};

struct amounts { /* of a piece, or of one thread in a bucket */
	double cpu, claimed, want, of_lines;
	double busy; /* CPU, claims and waits for the GIL */
};

struct bucket {
	double cpu, claimed, want, of_lines; /* of all threads, in widths of a fine bucket */
	double none; /* the chance that in an idle moment no thread wants a core */
	struct amounts one;
};

struct ready {
	struct fah_timeline *t;
	struct bucket *buckets; /* coarse */
	uint32_t from, to;	/* those that the thread at hand has something in */
	double given_s;		/* of the step at hand, once scales are known */
};

static bool next_piece(struct seen *s, double *at, double to, struct piece *ret)
{
	double begin, end = 0, length = 0;

	if (!(*at < to))
		return false;
	for (; s->has; s->has = fah_wait_next(&s->it, &s->item)) {
		end = fah_time_ns(s->item.time_ns);
		length = fah_time_ns(s->item.length_ns);
		if (end > *at)
			break;
	}
	begin = s->has ? end - length : to;
	*ret = (struct piece){.from = *at, .to = fah_least(begin, to)};
	if (begin <= *at) {
		ret->to = fah_least(end, to);
		ret->waited = fah_least(fah_time_ns(s->item.waited_ns) / length, 1) *
			      (ret->to - ret->from);
		ret->gil = s->item.reason == FAH_WAIT_GIL;
	}
	*at = ret->to;
	return true;
}

static struct amounts amounts_of(const struct fah_step *step, const struct fah_state_step *s,
				 const struct piece *p, double share, bool has_samples)
{
	double claimed = fah_least(fah_time_ns(step->claimed_ns), fah_time_ns(s->ready_ns));
	double length = p->to - p->from, beside;
	struct amounts a = {
		.busy = share * (fah_time_ns(s->cpu_ns) + claimed) + (p->gil ? p->waited : 0),
		.cpu = share * fah_time_ns(s->cpu_ns),
		.claimed = share * claimed,
		.want = share * (fah_time_ns(s->ready_ns) - claimed),
	};

	a.busy = fah_least(a.busy, length);
	a.want = fah_least(a.want, length - a.busy);
	beside = length - a.want;
	if (has_samples && beside > 0)
		a.of_lines = a.want * (a.busy / beside);
	return a;
}

static void add_one(struct ready *r, uint32_t b, const struct amounts *a, double part)
{
	struct amounts *one = &r->buckets[b].one;

	one->busy += a->busy * part;
	one->cpu += a->cpu * part;
	one->claimed += a->claimed * part;
	one->want += a->want * part;
	one->of_lines += a->of_lines * part;
	r->from = b < r->from ? b : r->from;
	r->to = b >= r->to ? b + 1 : r->to;
}

/* Over the buckets that a piece lies in; or what they give for it. */
static void spread(struct ready *r, const struct piece *p, const struct amounts *a, bool give)
{
	struct fah_timeline *t = r->t;
	double per = t->per_ns * t->per_coarse, from = p->from * per, to = p->to * per;

	for (uint32_t b = (uint32_t)from; b < t->coarse.n && to > b; b++) {
		double part = (fah_least(to, b + 1.0) - (from > b ? from : b)) / (to - from);

		if (give)
			r->given_s += a->of_lines * part * t->wants.scale[b] * 1e-9;
		else
			add_one(r, b, a, part * t->per_ns);
	}
}

/* The pieces of one step of a thread, each with its amounts. */
static void do_step(struct ready *r, uint32_t thread, const struct fah_step *step,
		    const struct fah_state_step *s, struct seen *seen, bool give)
{
	bool has_samples = r->t->p->threads[thread].sampled_cpu_ns &&
			   !(r->t->native.n && fah_thread_is_native(r->t, thread));
	double from = fah_time_ns(s->from_ns), to = fah_least(fah_time_ns(s->to_ns), r->t->wall_ns);
	double left = 1 - fah_time_ns(s->cpu_ns + s->ready_ns) / fah_time_ns(s->to_ns - s->from_ns);
	double waited = 0, length = 0, scale = 1, awake;
	struct seen again = *seen;
	struct piece p;

	for (double at = from; next_piece(&again, &at, to, &p);) {
		waited += p.waited;
		length += p.to - p.from;
	}
	/* Waits never have more than the kernel's account leaves. */
	if (waited > length * left)
		scale = length * left / waited;
	awake = length - waited * scale;
	if (!(awake > 0))
		return;
	for (double at = from; next_piece(seen, &at, to, &p);) {
		struct amounts a;

		p.waited *= scale;
		a = amounts_of(step, s, &p, (p.to - p.from - p.waited) / awake, has_samples);
		if (!give || a.of_lines > 0)
			spread(r, &p, &a, give);
	}
}

/* What the thread at hand wanted, joined to that of all. */
static void join(struct ready *r)
{
	for (uint32_t b = r->from; b < r->to; b++) {
		struct bucket *k = &r->buckets[b];
		double might = fah_coarse_width(r->t, b) - k->one.busy;

		k->cpu += k->one.cpu;
		k->claimed += k->one.claimed;
		k->want += k->one.want;
		k->of_lines += k->one.of_lines;
		if (k->one.want > 0)
			k->none *= k->one.want < might ? 1 - k->one.want / might : 0;
		k->one = (struct amounts){0};
	}
	r->from = UINT32_MAX;
	r->to = 0;
}

/* What a step was given goes to its samples, or to those of the next step that has any. */
static double give_step(struct fah_step *step, double given_s, struct fah_step **last)
{
	if (!step->sampled_ns)
		return given_s;
	step->per_ns += given_s / fah_time_ns(step->sampled_ns);
	*last = step;
	return 0;
}

static void do_thread(struct ready *r, uint32_t thread, bool give)
{
	struct fah_timeline *t = r->t;
	struct fah_step *step = &t->steps[t->first_step[thread]], *last = NULL;
	struct fah_state_iter it = fah_state_begin(t, thread);
	struct seen seen = {.it = fah_wait_begin(t->in, thread)};
	struct fah_state_step s;
	double pending = 0;

	seen.has = fah_wait_next(&seen.it, &seen.item);
	for (; fah_state_next(&it, &s); step++) {
		r->given_s = 0;
		if (s.ready_ns || (s.cpu_ns && !give))
			do_step(r, thread, step, &s, &seen, give);
		if (!give)
			continue;
		t->given_s[thread] += r->given_s;
		pending = give_step(step, pending + r->given_s, &last);
	}
	if (pending > 0 && last)
		give_step(last, pending, &last);
	if (!give)
		join(r);
}

/* What samples have claimed already, as far as they claim more than anybody ran. */
static double claimed_in(const struct ready *r, uint32_t from, uint32_t to)
{
	double claimed = 0, unrun = 0;

	for (uint32_t b = from; b < to; b++) {
		claimed += r->buckets[b].claimed;
		unrun += fah_coarse_width(r->t, b) - r->t->idle[b] - r->buckets[b].cpu;
	}
	return fah_positive(fah_least(claimed, unrun));
}

/*
 * Idle time of some buckets that was want of a core; what lines get is idle no more. STATES come
 * once a second: what was wanted is known for so long, not for one bucket.
 */
static void divide_window(struct ready *r, uint32_t from, uint32_t to)
{
	struct fah_timeline *t = r->t;
	double wanted = 0, might = 0, of_lines = 0, part, scale, lines;

	for (uint32_t b = from; b < to; b++) {
		wanted += r->buckets[b].want;
		of_lines += r->buckets[b].of_lines;
		might += t->idle[b] * (1 - r->buckets[b].none);
	}
	if (!(wanted > 0 && might > 0))
		return;
	part = fah_least(wanted / might, 1);
	scale = part * might / wanted;
	lines = of_lines / wanted;
	t->p->totals.on_cpu_s += of_lines * scale * t->width_ns * 1e-9;
	t->wants.of_lines_s += of_lines * scale * t->width_ns * 1e-9;
	for (uint32_t b = from; b < to; b++) {
		double want = t->idle[b] * (1 - r->buckets[b].none) * part;

		t->wants.scale[b] = scale;
		t->wants.no_core[b] = want * (1 - lines);
		t->wants.more[b] = fah_positive(r->buckets[b].want - want);
		t->idle[b] = fah_positive(t->idle[b] - want * lines);
	}
}

static void divide(struct ready *r)
{
	struct fah_timeline *t = r->t;
	uint32_t n = t->coarse.n, window = (uint32_t)(WINDOW_NS * t->per_ns * t->per_coarse + 0.5);

	if (!window) /* a very long run: buckets are wider than that */
		window = 1;
	for (uint32_t from = 0; from < n; from += window) {
		uint32_t to = n - from < window ? n : from + window;

		t->wants.of_lines_s += claimed_in(r, from, to) * t->width_ns * 1e-9;
		divide_window(r, from, to);
	}
}

int fah_steps_init(struct fah_timeline *t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		struct fah_state_iter it = fah_state_begin(t, i);
		struct fah_state_step s;

		for (n++; fah_state_next(&it, &s);)
			n++;
	}
	t->steps = calloc(n + 1, sizeof(*t->steps));
	t->first_step = calloc(t->p->n_threads + 1, sizeof(*t->first_step));
	t->given_s = calloc(t->p->n_threads + 1, sizeof(*t->given_s));
	if (!t->steps || !t->first_step || !t->given_s)
		return FAH_ERR_NOMEM;
	n = 0;
	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		struct fah_state_iter it = fah_state_begin(t, i);
		struct fah_state_step s;

		t->first_step[i] = n;
		while (fah_state_next(&it, &s))
			t->steps[n++].to_ns = s.to_ns;
		/* What comes behind the last one is in it; without any, all is in one. */
		n += n == t->first_step[i];
		t->steps[n - 1].to_ns = UINT64_MAX;
	}
	return 0;
}

int fah_ready_run(struct fah_timeline *t)
{
	struct ready r = {.t = t, .from = UINT32_MAX};
	uint32_t n = t->coarse.n;
	int err = 0;

	r.buckets = calloc(n, sizeof(*r.buckets));
	t->wants.scale = calloc((size_t)n * 3, sizeof(double));
	if (!r.buckets || !t->wants.scale) {
		err = FAH_ERR_NOMEM;
	} else {
		t->wants.no_core = t->wants.scale + n;
		t->wants.more = t->wants.no_core + n;
		for (uint32_t b = 0; b < n; b++)
			r.buckets[b].none = 1;
		for (uint32_t i = 0; i < t->p->n_threads; i++)
			do_thread(&r, i, false);
		divide(&r);
		for (uint32_t i = 0; i < t->p->n_threads; i++)
			do_thread(&r, i, true);
	}
	free(r.buckets);
	return err;
}
