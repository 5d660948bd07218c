/*
 * silent.c - for tests/targets/silent.py: a thread that no signal reaches, whether it was born so
 * or made itself so, and that computes for so much CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <time.h>

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *spin(void *seconds)
{
	while (used() < *(double *)seconds)
		;
	return NULL;
}

static void *block_and_spin(void *seconds)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return spin(seconds);
}

static int run(void *(*start)(void *), const pthread_attr_t *attr, double seconds)
{
	pthread_t thread;

	return pthread_create(&thread, attr, start, &seconds) || pthread_join(thread, NULL);
}

int silent_first_thing(double seconds)
{
	return run(block_and_spin, NULL, seconds);
}

/* pthread_attr_setsigmask_np is glibc 2.32's: this way, too, no instruction of it runs unblocked.
 */
int silent_born(double seconds)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = run(spin, NULL, seconds);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}
