/* budget.c - see budget.h. */
#include "collect/budget.h"

#define SHORTEST_NS 200000000u /* what is measured over less says little */
#define STRETCH_MAX 25.0       /* a new process is known within half a second, whatever it costs */
#define DEFAULT_STRETCH_MAX 4.0
#define DEFAULT_FREE_NS 50000000u /* 600 samples or more: three seconds at the default rate */
#define LEAST 64		  /* samples never end altogether */

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

void fah_budget_init(struct fah_budget *b, double percent, const struct fah_budget_use *now)
{
	*b = (struct fah_budget){
		.share = percent / 100,
		.agents = percent / 200, /* half for each, until it is known what they use */
		.stretch = 1,
		.stretch_to = STRETCH_MAX,
		.last = *now,
	};
}

void fah_budget_init_default(struct fah_budget *b, const struct fah_budget_use *now)
{
	fah_budget_init(b, FAH_BUDGET_DEFAULT, now);
	b->each_core = true;
	b->free_ns = DEFAULT_FREE_NS;
	b->agents = 0;
	b->stretch_to = DEFAULT_STRETCH_MAX;
}

bool fah_budget_look(struct fah_budget *b, const struct fah_budget_use *now)
{
	double wall = (double)(now->wall - b->last.wall), own, handlers, told, left;

	if (!(b->share > 0) || now->wall - b->last.wall < SHORTEST_NS)
		return false;
	if (b->each_core && (double)(now->program - b->last.program) > wall)
		wall = (double)(now->program - b->last.program);
	own = (double)(now->own - b->last.own) / wall;
	handlers = (double)(now->handler - b->last.handler) / wall;
	/* what nobody asked for has a limit for samples, and another for counting */
	told = b->each_core ? 0 : (double)(now->told - b->last.told) / wall;
	b->last = *now;
	if (now->handler < b->free_ns)
		return false;

	b->stretch = clamp(b->stretch * own / (b->share / 2), 1, b->stretch_to);
	/* What the tables of new code cost is over when it is seen here: a quarter stays. */
	left = clamp(b->share - own - told, b->share / 4, b->share);
	/*
	 * Threads on several cores use handlers' share several times, those that mostly wait less
	 * than once. The latter may compute at any moment, so no thread gets more than all there
	 * is.
	 */
	b->agents = handlers > 0 && b->agents > 0
			    ? clamp(b->agents * left / handlers, b->share / LEAST, left)
			    : left;
	return true;
}

uint32_t fah_budget_ppm(const struct fah_budget *b)
{
	double ppm = b->agents * 1e6;

	if (!(b->share > 0) || !(b->agents > 0))
		return 0;
	return (uint32_t)clamp(ppm, 1, 1e6);
}
