/* event_cost.c - see event_cost.h. */
#include "collect/event_cost.h"

#include "core/time.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#define SLICE_NS 1000000u  /* of our own CPU */
#define SLICES 4	   /* with and without events, in turns */
#define INTERVAL_NS 50000u /* between the events that are tried */
#define MOST_NS (INTERVAL_NS - INTERVAL_NS / 10)

/* What can be done in a slice; other interrupts only ever take from it. */
static uint64_t work(void)
{
	uint64_t end = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) + SLICE_NS, done = 0;

	while (fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++, done++)
			__asm__ volatile("" ::: "memory");
	return done;
}

uint64_t fah_event_cost_ns(int fd)
{
	uint64_t period = INTERVAL_NS, without = 0, with = 0, done, cost;

	if (ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) < 0)
		return 0;
	for (int i = 0; i < SLICES; i++) {
		done = work();
		without = done > without ? done : without;
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return 0;
		done = work();
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		with = done > with ? done : with;
	}
	if (!without || with >= without)
		return 0;
	cost = (uint64_t)((double)INTERVAL_NS * (1 - (double)with / (double)without));
	return cost < MOST_NS ? cost : MOST_NS;
}
