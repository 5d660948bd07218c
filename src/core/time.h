/*
 * time.h - the kernel's ways to write a time, as nanoseconds. Agent and tool.
 */
#ifndef FAH_CORE_TIME_H
#define FAH_CORE_TIME_H

#include "core/sys.h"

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

static inline uint64_t fah_timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

static inline uint64_t fah_timespec_ns(struct timespec ts)
{
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Of a clock that is always there. libc's call, for the vdso: 25 ns instead of 200, and
 * async-signal-safe. */
static inline uint64_t fah_clock_ns(clockid_t clock)
{
	struct timespec ts = {0, 0};

	clock_gettime(clock, &ts);
	return fah_timespec_ns(ts);
}

/* The kernel's tick, to which the timers of threads are bound: it sets the coarse clocks. 0: the
 * kernel does not say. */
static inline uint64_t fah_tick_ns(void)
{
	struct timespec ts = {0, 0};

	return FAH_SYS2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &ts) < 0 ? 0
									   : fah_timespec_ns(ts);
}

#endif
