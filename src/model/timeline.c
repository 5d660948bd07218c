/*
 * timeline.c - from samples to seconds of the run.
 *
 * What a second means. A report divides the run's wall time: each moment among the threads of the
 * whole tree that run in it, by the CPU they use; a moment in which none runs is idle, and belongs
 * to the threads that want a core then (ready.c), or to what the main thread waits for (idle.c). A
 * sample of a thread at time t carries the CPU w that the thread used since its last record, dt
 * ago.
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
 * that only computes still shows all of its wall time where it computes. What others wanted is in
 * STATES only, and their samples get it from the moments that are left (ready.c).
 *
 * Threads without Python (the pools of numerical libraries) work for some Python code, which mostly
 * runs or spins beside them: they get the moments in which no Python thread runs, and no others.
 *
 * Bucket b of width W with CPU C_b: its CPU counts W / C_b where C_b > W, else 1. So a program with
 * one thread shows its CPU as it is, and parallel work is not counted twice.
 *
 * How much a sample weighs. The CPU since the thread's last record, measured, so that a late timer
 * (signals blocked, a long system call) still counts in full. Three corrections:
 *   - which tick of a thread, or which moment of its first period, has its first sample is drawn,
 * so every moment of CPU has the same chance of a sample, one in a period, and the first sample
 *     stands for a whole period, not for the short time before it. (By its measured CPU the late
 *     part of short threads weighed more.)
 *   - CPU without a stack (drops, the tail after a thread's last sample, threads that ended before
 *     their first) is shared out over samples of like threads: a long thread (8 periods and more)
 *     has its own samples scaled to its own CPU; short threads of a process are grouped by length
 *     in octaves, and a group's samples are scaled to the group's CPU. Threads of equal length have
 *     equal chances, so 1,000 threads of 3 ms, most without a sample, get what they used.
 *   - an agent writes nothing of a thread that ends before its first sample. What a process used by
 *     getrusage beyond its known threads is given to its groups of short threads, as far as their
 *     lengths make unseen threads likely; the rest is unseen_cpu_s.
 * Bias that stays: a group of short threads with fewer than 8 samples joins the next longer one.
 * CPU of groups without any sample is "unsampled".
 *
 * Passes over the bytes (walk.c): firm CPU; loose CPU, where there is so much that it was not kept;
 * seconds. A few ns a sample each. Between them settle.c finds what CPU counts, ready.c what want
 * of a core does; seconds.c gives the nodes theirs, idle.c the waiting, states.c each thread's.
 */
#include "model/timeline.h"

#include "base/cleanup.h"
#include "core/err.h"

#define FINE_NS 1e6
#define COARSE_NS 200e6
#define FINE_MAX 1000000 /* buckets; beyond 1,000 s they grow wider than 1 ms */
#define TURNS 4.0	 /* dt / w of a thread that takes turns, per thread alive */

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
static uint64_t last_time(const struct fah_timeline *t)
{
	const struct fah_profile *p = t->p;
	uint64_t last = 0;

	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct fah_thread *thread = &p->threads[i];
		struct fah_samples_block block;
		struct fah_sample_item item;
		struct fah_wait_iter waits = fah_wait_begin(t->in, i);
		struct fah_wait_item wait;
		uint32_t j;

		last = thread->start_ns > last ? thread->start_ns : last;
		last = thread->end_ns > last ? thread->end_ns : last;
		for (j = t->in->chains[i].blocks.first; j != FAH_NO_BLOCK;
		     j = t->in->blocks[j].next)
			for (block = t->in->blocks[j].samples; fah_samples_next(&block, &item);)
				last = item.time_ns > last ? item.time_ns : last;
		for (j = t->in->chains[i].drops.first; j != FAH_NO_BLOCK; j = t->in->drops[j].next)
			last = t->in->drops[j].time_ns > last ? t->in->drops[j].time_ns : last;
		for (j = t->in->chains[i].states.first; j != FAH_NO_BLOCK;
		     j = t->in->states[j].next)
			last = t->in->states[j].time_ns > last ? t->in->states[j].time_ns : last;
		while (fah_wait_next(&waits, &wait))
			last = wait.time_ns > last ? wait.time_ns : last;
	}
	for (size_t i = 0; i < p->n_processes; i++) {
		last = p->processes[i].start_ns > last ? p->processes[i].start_ns : last;
		last = p->processes[i].end_ns > last ? p->processes[i].end_ns : last;
	}
	return last;
}

static int divide(struct fah_timeline *t, uint32_t n)
{
	double *room = calloc((size_t)n + 3, sizeof(*room));
	bool native = false;
	int err;

	t->room_owned = room;
	for (uint32_t i = 0; i < t->p->n_threads; i++)
		native |= fah_thread_is_native(t, i);
	if (native && fah_buckets_init(&t->native, n) < 0)
		return FAH_ERR_NOMEM;
	if (!room || fah_buckets_init(&t->fine, n) < 0 ||
	    fah_buckets_init(&t->coarse, (n + t->ratio - 1) / t->ratio) < 0)
		return FAH_ERR_NOMEM;
	t->idle = calloc(t->coarse.n, sizeof(*t->idle));
	if (!t->idle)
		return FAH_ERR_NOMEM;
	err = fah_steps_init(t);
	if (err == 0)
		err = fah_settle(t, room);
	if (err == 0)
		err = fah_ready_run(t);
	if (err == 0)
		err = fah_seconds_run(t);
	return err < 0 ? err : fah_idle_run(t);
}

int fah_timeline_run(struct fah_profile *p, const struct fah_timeline_input *in)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	struct fah_timeline t = {.p = p, .in = in};
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
	p->totals.threads_at_once = alive < UINT32_MAX ? (uint32_t)alive : UINT32_MAX;
	/* A thread alone overlaps with nothing, wherever its CPU lies. */
	t.slept = alive > 1 ? TURNS * (double)alive : FAH_FIRM_RATIO;

	err = divide(&t, n);
	free(t.idle);
	t.idle = NULL;
	free(t.wants.scale);
	t.wants = (struct fah_wants){0};
	free(t.given_s);
	t.given_s = NULL;
	if (err == 0)
		fah_states_run(&t);
	if (p->kept)
		p->kept->t = t;
	else
		fah_timeline_release(&t);
	return err;
}

void fah_timeline_release(struct fah_timeline *t)
{
	fah_buckets_release(&t->fine);
	fah_buckets_release(&t->coarse);
	fah_buckets_release(&t->native);
	free(t->room_owned);
	free(t->steps);
	free(t->first_step);
}
