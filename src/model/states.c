/*
 * states.c - what each thread did with its life: ran, was ready without a core, or waited.
 *
 * CPU and ready come from the kernel; what is left of the thread's time it waited. The waits that
 * were seen only say for what: they are scaled to that, but by no more than the stretches that they
 * stand for have room for. What they do not reach is waiting for an unknown reason.
 */
#include "model/timeline.h"

struct fah_state_iter fah_state_begin(const struct fah_timeline *t, uint32_t thread)
{
	return (struct fah_state_iter){
		.points = t->in->states,
		.last = {.time_ns = t->p->threads[thread].start_ns},
		.next = t->in->chains[thread].states.first,
	};
}

/* The counters may begin before the thread does for us (it was started before the agent was): no
 * step has more of them than time. */
bool fah_state_next(struct fah_state_iter *it, struct fah_state_step *ret)
{
	while (it->next != FAH_NO_BLOCK) {
		const struct fah_state_point *last = &it->last, *p = &it->points[it->next];
		uint64_t len;

		it->next = p->next;
		if (p->time_ns <= last->time_ns)
			continue;
		len = p->time_ns - last->time_ns;
		*ret = (struct fah_state_step){
			.from_ns = last->time_ns,
			.to_ns = p->time_ns,
			.cpu_ns = p->cpu_ns > last->cpu_ns ? p->cpu_ns - last->cpu_ns : 0,
			.ready_ns = p->ready_ns > last->ready_ns ? p->ready_ns - last->ready_ns : 0,
		};
		if (ret->cpu_ns > len)
			ret->cpu_ns = len;
		if (ret->ready_ns > len - ret->cpu_ns)
			ret->ready_ns = len - ret->cpu_ns;
		it->last = *p;
		return true;
	}
	return false;
}

/* Where the capture does not say when a thread ended, its process did end, or the run. */
static double life_ns(const struct fah_timeline *t, const struct fah_thread *thread)
{
	uint64_t process_end = t->p->processes[thread->process].end_ns;
	double end = thread->end_ns ? fah_time_ns(thread->end_ns)
		     : process_end  ? fah_time_ns(process_end)
				    : t->wall_ns;
	double start = fah_time_ns(thread->start_ns);

	return end > start ? end - start : 0;
}

static double cpu_ns(const struct fah_thread *thread, uint64_t by_states)
{
	uint64_t seen = thread->sampled_cpu_ns + thread->dropped_cpu_ns;
	uint64_t whole = thread->cpu_ns - thread->before_ns;

	seen = whole > seen ? whole : seen;
	return fah_time_ns(by_states > seen ? by_states : seen);
}

static void add_waits(const struct fah_timeline *t, uint32_t thread, struct fah_states *s)
{
	struct fah_wait_iter it = fah_wait_begin(t->in, thread);
	struct fah_wait_item item;
	double seen = 0, room = 0, known, rest;

	while (fah_wait_next(&it, &item)) {
		uint32_t reason = item.reason < FAH_WAIT_COUNT ? item.reason : FAH_WAIT_UNKNOWN;

		s->waited_by[reason] += fah_time_ns(item.waited_ns) * 1e-9;
		seen += fah_time_ns(item.waited_ns) * 1e-9;
		room += fah_time_ns(item.length_ns) * 1e-9;
	}
	known = room < s->waited_s ? room : s->waited_s;
	if (!(seen > 0))
		known = 0;
	rest = s->waited_s - known;
	for (int i = 0; i < FAH_WAIT_COUNT && seen > 0; i++)
		s->waited_by[i] *= known / seen;
	if (t->p->kept)
		t->p->kept->scales[thread].wait = seen > 0 ? known / seen : 0;
	s->waited_by[FAH_WAIT_UNKNOWN] += rest;
}

void fah_states_run(struct fah_timeline *t)
{
	for (uint32_t i = 0; i < t->p->n_threads; i++) {
		struct fah_thread *thread = &t->p->threads[i];
		struct fah_states *s = &thread->states;
		struct fah_state_iter it = fah_state_begin(t, i);
		struct fah_state_step step;
		uint64_t cpu = 0, ready = 0;

		while (fah_state_next(&it, &step)) {
			cpu += step.cpu_ns;
			ready += step.ready_ns;
		}
		s->wall_s = life_ns(t, thread) * 1e-9;
		s->cpu_s = cpu_ns(thread, cpu) * 1e-9;
		s->ready_s = fah_time_ns(ready) * 1e-9;
		if (s->cpu_s > s->wall_s)
			s->cpu_s = s->wall_s;
		if (s->ready_s > s->wall_s - s->cpu_s)
			s->ready_s = s->wall_s - s->cpu_s;
		s->waited_s = s->wall_s - s->cpu_s - s->ready_s;
		if (s->waited_s < 0) /* by rounding */
			s->waited_s = 0;
		add_waits(t, i, s);
	}
}
