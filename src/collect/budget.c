/* budget.c - see budget.h. */
#include "collect/budget.h"

#define SHORTEST_NS 200000000u /* what is measured over less says little */
#define STRETCH_MAX 25.0       /* a new process is known within half a second, whatever it costs */
#define LEAST 64	       /* samples never end altogether */

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

void fah_budget_init(struct fah_budget *b, double percent, uint64_t wall_ns, uint64_t own_ns)
{
	*b = (struct fah_budget){
		.share = percent / 100,
		.agents = percent / 200, /* half for each, until it is known what they use */
		.stretch = 1,
		.wall_ns = wall_ns,
		.own_ns = own_ns,
	};
}

bool fah_budget_look(struct fah_budget *b, uint64_t wall_ns, uint64_t own_ns, uint64_t handler_ns)
{
	double wall = (double)(wall_ns - b->wall_ns), own, handlers, left;

	if (!(b->share > 0) || wall_ns - b->wall_ns < SHORTEST_NS)
		return false;
	own = (double)(own_ns - b->own_ns) / wall;
	handlers = (double)(handler_ns - b->handler_ns) / wall;
	b->wall_ns = wall_ns;
	b->own_ns = own_ns;
	b->handler_ns = handler_ns;

	b->stretch = clamp(b->stretch * own / (b->share / 2), 1, STRETCH_MAX);
	/* What the tables of new code cost is over when it is seen here: a quarter stays. */
	left = clamp(b->share - own, b->share / 4, b->share);
	/*
	 * Threads on several cores use handlers' share several times, those that mostly wait less
	 * than once. The latter may compute at any moment, so no thread gets more than all there
	 * is.
	 */
	b->agents =
		handlers > 0 ? clamp(b->agents * left / handlers, b->share / LEAST, left) : left;
	return true;
}

uint32_t fah_budget_ppm(const struct fah_budget *b)
{
	double ppm = b->agents * 1e6;

	if (!(b->share > 0))
		return 0;
	return (uint32_t)clamp(ppm, 1, 1e6);
}
