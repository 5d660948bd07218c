/* event_clock.c - see event_clock.h. */
#include "agent/event_clock.h"

struct fah_event_clock fah_event_clock;

void fah_event_clock_start(void)
{
	fah_event_clock.steady = fah_arch_ticks_are_steady();
	fah_event_clock.ns_begun = fah_now_mono();
	fah_event_clock.ticks_begun = fah_event_ticks();
}

double fah_event_ns_a_tick(void)
{
	uint64_t ns = fah_now_mono() - fah_event_clock.ns_begun;
	int64_t ticks = fah_event_ticks() - fah_event_clock.ticks_begun;

	return !fah_event_clock.steady || ticks <= 0 ? 1 : (double)ns / (double)ticks;
}
