/* switches.c - see switches.h. */
#include "collect/switches.h"

#define OF_TIME 100.0
#define OF_CPU 20.0
#define OF_TIME_AT_LEAST 2000.0
#define SAVED_NS 1000000.0   /* at most: a tenth of a second's */
#define NEW_NS 15000000u     /* a new thread has none before the second look */
#define QUIET_NS 1000000000u /* one that had many switches, after so long without, */
#define QUIET_DOUBLED 6	     /* twice as long each time, so often */
#define LONG_AGO 8	     /* times that: what was before is no sign any more */

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* What is left; below 0: it was too much. */
static double left_after(const struct fah_switches *s, const struct fah_sched *sched,
			 uint64_t now_ns, uint64_t cost_ns)
{
	double time = now_ns > s->last_ns ? (double)(now_ns - s->last_ns) : 0;
	double cpu = (double)(sched->cpu_ns - s->last.cpu_ns) / OF_CPU;
	double cost = (double)(sched->slices - s->last.slices) * (double)cost_ns;

	cpu = cpu > time / OF_TIME_AT_LEAST ? cpu : time / OF_TIME_AT_LEAST;
	return least(s->left_ns + least(time / OF_TIME, cpu), SAVED_NS) - cost;
}

bool fah_switches_are_dear(const struct fah_switches *s, const struct fah_sched *sched,
			   uint64_t now_ns, uint64_t cost_ns)
{
	return s->last_ns && left_after(s, sched, now_ns, cost_ns) < 0;
}

static void take(struct fah_switches *s, uint64_t now_ns)
{
	if (s->may && now_ns - s->since_ns > LONG_AGO * s->quiet_ns)
		s->taken = 0;
	/* while it goes on without an event it is one time, not many */
	if (s->may || !s->taken)
		s->taken++;
	s->quiet_ns = (uint64_t)QUIET_NS
		      << (s->taken < QUIET_DOUBLED ? s->taken - 1 : QUIET_DOUBLED);
	s->may = false;
	s->calm_ns = now_ns;
	s->left_ns = 0;
}

bool fah_switches_look(struct fah_switches *s, const struct fah_sched *sched, uint64_t now_ns,
		       uint64_t cost_ns)
{
	if (!s->last_ns) {
		*s = (struct fah_switches){
			.calm_ns = now_ns, .quiet_ns = NEW_NS, .left_ns = SAVED_NS / 5};
	} else if (fah_switches_are_dear(s, sched, now_ns, cost_ns)) {
		take(s, now_ns);
	} else {
		s->left_ns = left_after(s, sched, now_ns, cost_ns);
		if (!s->may && now_ns - s->calm_ns >= s->quiet_ns) {
			s->may = true;
			s->since_ns = now_ns;
		}
	}
	s->last = *sched;
	s->last_ns = now_ns;
	return s->may;
}
