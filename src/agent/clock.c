/* clock.c - time, randomness and digits for the agent. Signal-handler safe. */
#include "agent/agent.h"
#include "core/sys.h"
#include "core/time.h"

uint64_t fah_now_mono(void)
{
	return fah_clock_ns(CLOCK_MONOTONIC);
}

uint64_t fah_now_real(void)
{
	return fah_clock_ns(CLOCK_REALTIME);
}

uint64_t fah_now_thread_cpu(void)
{
	return fah_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t fah_now_process_cpu(void)
{
	return fah_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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

char *fah_put_decimal(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		*p++ = digits[--n];
	return p;
}
