/*
 * living.c - see living.h. A child that was waited for is in its parent's account already, so only
 * those that live are added up.
 */
#include "collect/living.h"

#include "collect/process.h"

#include <string.h>

static void add(uint32_t pid, struct fah_usage *sum)
{
	struct fah_usage one;

	if (fah_process_usage(pid, &one) < 0)
		return;
	sum->user_ns += one.user_ns;
	sum->system_ns += one.system_ns;
	if (one.rss_bytes > sum->rss_bytes)
		sum->rss_bytes = one.rss_bytes;
	if (one.max_rss_bytes > sum->max_rss_bytes)
		sum->max_rss_bytes = one.max_rss_bytes;
}

void fah_living_usage(struct fah_drain *d, uint32_t pid, struct fah_usage *ret)
{
	memset(ret, 0, sizeof(*ret));
	add(pid, ret);
	for (struct fah_collected *p = fah_drain_processes(d); p; p = p->next) {
		uint32_t outer = p->done || p->seen_dead ? 0 : fah_collected_outer_pid(p);

		if (outer && outer != pid && !fah_collected_is_replaced(fah_drain_processes(d), p))
			add(outer, ret);
	}
}
