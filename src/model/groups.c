/*
 * groups.c - see groups.h, and the estimator at the head of timeline.c.
 */
#include "model/groups.h"

#include "base/cleanup.h"
#include "core/err.h"

#include <stdlib.h>

#define LONG_PERIODS 8.0
#define OCTAVES 5 /* of short threads: below 1/2, 1, 2, 4, 8 periods */
#define GROUP_SAMPLES 8
#define NONE FAH_NO_THREAD

/* Which group a thread's samples are scaled with. */
struct strata {
	uint64_t samples[OCTAVES];
	uint32_t threads[OCTAVES], group[OCTAVES];
};

static double thread_cpu(const struct fah_thread *thread)
{
	uint64_t seen = thread->sampled_cpu_ns + thread->dropped_cpu_ns;

	return (double)(thread->cpu_ns > seen ? thread->cpu_ns : seen);
}

static int octave(const struct fah_process *processes, const struct fah_thread *thread)
{
	double period = (double)processes[thread->process].period_ns;
	double periods = thread_cpu(thread) / period;
	int o = 0;

	if (!(period > 0) || periods >= LONG_PERIODS || !thread->cpu_ns)
		return -1;
	for (double limit = LONG_PERIODS / (1 << (OCTAVES - 1)); periods >= limit; limit *= 2)
		o++;
	return o;
}

static void number_strata(struct strata *s, uint32_t *n_groups)
{
	uint32_t open = NONE, closed = NONE;
	uint64_t samples = 0;

	for (int o = 0; o < OCTAVES; o++) {
		if (!s->threads[o])
			continue;
		if (open == NONE) {
			open = (*n_groups)++;
			samples = 0;
		}
		s->group[o] = open;
		samples += s->samples[o];
		if (samples >= GROUP_SAMPLES) {
			closed = open;
			open = NONE;
		}
	}
	for (int o = 0; o < OCTAVES && open != NONE && closed != NONE; o++)
		if (s->threads[o] && s->group[o] == open)
			s->group[o] = closed;
}

/* Per process: getrusage at its end, less its threads. A process that was killed has none. */
static void find_unknown(const struct fah_profile *p, const struct fah_process *processes, size_t n,
			 double *unknown_ns)
{
	size_t n_threads;
	const struct fah_thread *threads = fah_profile_threads(p, &n_threads);

	for (size_t i = 0; i < n; i++)
		unknown_ns[i] = (double)processes[i].user_ns + (double)processes[i].system_ns;
	for (size_t i = 0; i < n_threads; i++)
		unknown_ns[threads[i].process] -= thread_cpu(&threads[i]);
	for (size_t i = 0; i < n; i++)
		if (unknown_ns[i] < 0)
			unknown_ns[i] = 0;
}

int fah_groups_init(struct fah_groups *g, const struct fah_profile *p)
{
	size_t n_threads, n_processes;
	const struct fah_thread *threads = fah_profile_threads(p, &n_threads);
	const struct fah_process *processes = fah_profile_processes(p, &n_processes);
	_cleanup_(fah_freep) struct strata *strata = calloc(n_processes + 1, sizeof(*strata));

	*g = (struct fah_groups){0};
	g->next = calloc(n_threads + 1, sizeof(*g->next));
	g->unknown_ns = calloc(n_processes + 1, sizeof(*g->unknown_ns));
	if (!strata || !g->next || !g->unknown_ns)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n_threads; i++) {
		int o = octave(processes, &threads[i]);

		if (o >= 0) {
			strata[threads[i].process].samples[o] += threads[i].samples;
			strata[threads[i].process].threads[o]++;
		}
	}
	for (size_t i = 0; i < n_processes; i++)
		number_strata(&strata[i], &g->n);
	g->heads = malloc(((size_t)g->n + n_threads + 1) * sizeof(*g->heads));
	if (!g->heads)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < g->n; i++)
		g->heads[i] = NONE;
	for (uint32_t i = 0; i < n_threads; i++) {
		int o = octave(processes, &threads[i]);
		uint32_t group = o < 0 ? g->n++ : strata[threads[i].process].group[o];

		g->next[i] = o < 0 ? NONE : g->heads[group];
		g->heads[group] = i;
	}
	find_unknown(p, processes, n_processes, g->unknown_ns);
	return 0;
}

void fah_groups_release(struct fah_groups *g)
{
	free(g->heads);
	free(g->next);
	free(g->unknown_ns);
}

/* The chance that a thread which used so many periods of CPU has a sample: that of each of its
 * moments is the same. */
static double chance(double periods)
{
	return periods < 1 ? periods : 1;
}

double fah_groups_absent(struct fah_groups *g, const struct fah_profile *p, uint32_t group)
{
	size_t n;
	const struct fah_thread *threads = fah_profile_threads(p, &n);
	const struct fah_process *processes = fah_profile_processes(p, &n), *process;
	double expected = 0, *unknown;

	if (g->heads[group] == NONE || octave(processes, &threads[g->heads[group]]) < 0)
		return 0;
	process = &processes[threads[g->heads[group]].process];
	unknown = &g->unknown_ns[threads[g->heads[group]].process];
	for (uint32_t i = g->heads[group]; i != NONE; i = g->next[i]) {
		double cpu = thread_cpu(&threads[i]),
		       seen = chance(cpu / (double)process->period_ns);

		if (!threads[i].samples)
			return 0;
		if (cpu > 0)
			expected += cpu * (1 - seen) / seen;
	}
	if (expected > *unknown)
		expected = *unknown;
	*unknown -= expected;
	return expected;
}
