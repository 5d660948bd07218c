/*
 * want.c - want of a core of samples whose thread blocked meanwhile.
 *
 * A sample that ran on claims all the time since the one before; of one that blocked, even for 50
 * us, nobody could say what of that time was waiting. On a busy machine, where samples are 40 ms
 * apart for 4 ms of CPU, most of a run that sleeps now and then was nobody's: of a function with 64
 * % of the wall time 23 were shown. The kernel does say how long a thread wanted a core, about each
 * second (STATES). What of that the samples that ran on have not claimed lies in the time before
 * the others, and is theirs, each for its part.
 *
 * Of a thread that is all but alone only. Where many take turns at the GIL, whoever waits for it
 * wakes now and then and wants a core for that, and would claim time in which another one works.
 */
#include "model/timeline.h"

#include "core/err.h"

#define ALONE 0.9 /* of all CPU */

struct fah_want {
	struct fah_want_step {
		uint64_t to_ns;
		double ready_ns;
		double claimed_ns; /* by samples that ran on */
		double between_ns; /* before those that blocked, without their CPU */
	} * steps;
	size_t n;
};

static double cpu_of(const struct fah_timeline *t, uint32_t thread, size_t *ret_steps)
{
	struct fah_state_iter it = fah_state_begin(t, thread);
	struct fah_state_step step;
	double cpu = 0;

	for (*ret_steps = 0; fah_state_next(&it, &step); ++*ret_steps)
		cpu += fah_time_ns(step.cpu_ns);
	return cpu;
}

static void take_steps(const struct fah_timeline *t, uint32_t thread, struct fah_want *want)
{
	struct fah_state_iter it = fah_state_begin(t, thread);
	struct fah_state_step step;

	while (fah_state_next(&it, &step))
		want->steps[want->n++] = (struct fah_want_step){
			.to_ns = step.to_ns, .ready_ns = fah_time_ns(step.ready_ns)};
}

static struct fah_want_step *step_at(struct fah_want_at *at, uint64_t time_ns)
{
	if (!at->want)
		return NULL;
	while (at->i < at->want->n && at->want->steps[at->i].to_ns < time_ns)
		at->i++;
	return at->i < at->want->n ? &at->want->steps[at->i] : NULL;
}

static void add_samples(const struct fah_timeline *t, uint32_t thread, struct fah_want *want)
{
	const struct fah_chain *chain = &t->in->chains[thread];
	uint64_t prev = t->p->threads[thread].start_ns;
	struct fah_want_at at = {want, 0};

	for (uint32_t i = chain->blocks.first; i != FAH_NO_BLOCK; i = t->in->blocks[i].next) {
		struct fah_samples_block block = t->in->blocks[i].samples;
		struct fah_sample_item item;

		while (fah_samples_next(&block, &item)) {
			uint64_t len = item.time_ns > prev ? item.time_ns - prev : 0;
			struct fah_want_step *step = step_at(&at, item.time_ns);

			prev = item.time_ns;
			if (!step || len <= item.cpu_ns)
				continue;
			*(item.flags & FAH_SAMPLE_RAN_ON ? &step->claimed_ns : &step->between_ns) +=
				fah_time_ns(len - item.cpu_ns);
		}
	}
}

double fah_want_part(struct fah_want_at *at, uint64_t time_ns)
{
	const struct fah_want_step *step = step_at(at, time_ns);
	double left = step ? step->ready_ns - step->claimed_ns : 0;

	if (left <= 0 || !(step->between_ns > 0))
		return 0;
	return left < step->between_ns ? left / step->between_ns : 1;
}

int fah_want_find(struct fah_timeline *t)
{
	double all = 0, most = 0;
	uint32_t who = 0;
	size_t n = 0, steps;

	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		double cpu = cpu_of(t, i, &steps);

		all += cpu;
		if (cpu <= most)
			continue;
		most = cpu;
		who = i;
		n = steps;
	}
	if (!n || most < ALONE * all)
		return 0;
	t->want = calloc(1, sizeof(*t->want));
	if (t->want)
		t->want->steps = calloc(n, sizeof(*t->want->steps));
	if (!t->want || !t->want->steps)
		return FAH_ERR_NOMEM;
	t->want_thread = who;
	take_steps(t, who, t->want);
	add_samples(t, who, t->want);
	return 0;
}

void fah_want_free(struct fah_want *want)
{
	if (want)
		free(want->steps);
	free(want);
}
