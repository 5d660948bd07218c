/*
 * native_thread.c - for tests/targets/native_thread.py: a thread without Python, with a name of its
 * own, that spends so much CPU in chain.c's chain. Returns what its own clock says, in seconds;
 * below 0: it could not start.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <time.h>

typedef long callback(long);
uint64_t chain_outer(uint64_t n, callback *back);

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *pool_worker(void *seconds)
{
	double until = *(double *)seconds;

	pthread_setname_np(pthread_self(), "number cruncher");
	while (used() < until)
		chain_outer(100000, NULL);
	*(double *)seconds = used();
	return NULL;
}

double run_native_thread(double seconds)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pool_worker, &seconds) || pthread_join(thread, NULL))
		return -1;
	return seconds;
}
