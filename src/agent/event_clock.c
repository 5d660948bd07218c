/* event_clock.c - see event_clock.h. */
#include "agent/event_clock.h"

#define TRIES 3

struct fah_event_clock fah_event_clock;

/* Both clocks at one moment: of a thread that was put aside between two readings the try is
 * dropped. */
static void read_both(uint64_t *ret_ns, int64_t *ret_ticks)
{
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = fah_now_mono();
		int64_t ticks = fah_event_ticks();
		uint64_t apart = fah_now_mono() - before;

		if (apart >= closest)
			continue;
		closest = apart;
		*ret_ns = before + apart / 2;
		*ret_ticks = ticks;
	}
}

void fah_event_clock_start(void)
{
	fah_event_clock.steady = fah_arch_ticks_are_steady();
	read_both(&fah_event_clock.ns_begun, &fah_event_clock.ticks_begun);
}

double fah_event_ns_a_tick(void)
{
	uint64_t ns = 0;
	int64_t ticks = 0;

	read_both(&ns, &ticks);
	ns -= fah_event_clock.ns_begun;
	ticks -= fah_event_clock.ticks_begun;
	return !fah_event_clock.steady || ticks <= 0 ? 1 : (double)ns / (double)ticks;
}
