/* clock.c - time, randomness and memory for the agent. Signal-handler safe. */
#include "agent/agent.h"
#include "core/sys.h"

#include <sys/mman.h>
#include <time.h>

static uint64_t now(clockid_t clock)
{
	struct timespec ts = {0, 0};

	/* libc's, for the vdso: 25 ns instead of 200; async-signal-safe */
	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t fah_now_mono(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t fah_now_real(void)
{
	return now(CLOCK_REALTIME);
}

uint64_t fah_now_thread_cpu(void)
{
	return now(CLOCK_THREAD_CPUTIME_ID);
}

/* Good enough to spread the phases of timers; the program's own generators stay untouched. */
uint64_t fah_random(void)
{
	uint64_t x = fah_now_mono() ^ ((uint64_t)FAH_SYS0(SYS_gettid) << 40);

	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ (x >> 33);
}

void *fah_pages(size_t size)
{
	long p = FAH_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}
