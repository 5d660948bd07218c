/* exact_pace.c - what telling costs goes with the machine's speed. With the GIL. */
#include "agent/exact.h"
#include "agent/pace.h"

static struct fah_exact_costs measured; /* as at the start */

static struct fah_exact_cost paced_both(struct fah_exact_cost cost, double by)
{
	return (struct fah_exact_cost){fah_paced(cost.to_caller, by),
				       fah_paced(cost.to_callee, by)};
}

static void put_in_force(double by)
{
	struct fah_exact_costs *to = &fah_exacting.costs;

	to->call = paced_both(measured.call, by);
	to->quiet = paced_both(measured.quiet, by);
	to->from_c = paced_both(measured.from_c, by);
	to->resume = paced_both(measured.resume, by);
	to->c_call = paced_both(measured.c_call, by);
	to->len = paced_both(measured.len, by);
	to->isinstance = paced_both(measured.isinstance, by);
	to->append = paced_both(measured.append, by);
	to->unknown = fah_paced(measured.unknown, by);
	to->str = fah_paced(measured.str, by);
	to->type = fah_paced(measured.type, by);
}

void fah_exact_pace_set(const struct fah_exact_costs *costs)
{
	measured = *costs;
	put_in_force(1);
}

void fah_exact_pace_look(void)
{
	if (!fah_exacting.raw)
		put_in_force(fah_pace_of_late());
}
