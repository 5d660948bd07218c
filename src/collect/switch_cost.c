/* switch_cost.c - see switch_cost.h. */
#include "collect/switch_cost.h"

#include "core/time.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Longer than a slice, so that none comes; and mostly before the next tick: where that is first
 * the kernel leaves the hardware as it is, and a switch costs next to nothing. */
#define INTERVAL_NS 300000u
#define SLICES 12	     /* with and without events, in turns */
#define ROUNDS 10	     /* of a slice: there and back */
#define SWITCHES 2	     /* of a round */
#define LONGEST_NS 40000000u /* by the wall clock: nobody looks at the program meanwhile */
#define ANSWER_MS 20

struct pair {
	int there[2], back[2];
	_Atomic uint32_t tid; /* of the other thread */
	int events[2];	      /* -1: none */
};

static void *answer(void *arg)
{
	struct pair *p = arg;
	char byte;

	atomic_store(&p->tid, (uint32_t)syscall(SYS_gettid));
	while (read(p->there[0], &byte, 1) == 1)
		if (write(p->back[1], &byte, 1) != 1)
			break;
	return NULL;
}

static bool one_round(const struct pair *p)
{
	struct pollfd answered = {.fd = p->back[0], .events = POLLIN};
	char byte = 0;

	return write(p->there[1], &byte, 1) == 1 && poll(&answered, 1, ANSWER_MS) == 1 &&
	       read(p->back[0], &byte, 1) == 1;
}

/* The CPU of both threads for a slice; false: there is no end to it. */
static bool one_slice(const struct pair *p, clockid_t other, uint64_t end_ns, uint64_t *sum_ns)
{
	uint64_t before = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) + fah_clock_ns(other);

	for (int i = 0; i < ROUNDS; i++)
		if (!one_round(p) || fah_clock_ns(CLOCK_MONOTONIC) > end_ns)
			return false;
	*sum_ns += fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) + fah_clock_ns(other) - before;
	return true;
}

static bool turn_events(const struct pair *p, unsigned long how)
{
	return ioctl(p->events[0], how, 0) == 0 && ioctl(p->events[1], how, 0) == 0;
}

static uint64_t measure(const struct pair *p, clockid_t other)
{
	uint64_t end = fah_clock_ns(CLOCK_MONOTONIC) + LONGEST_NS, without = 0, with = 0;

	/* the first has what both threads need to get going */
	if (!one_round(p))
		return FAH_SWITCH_COST_GUESS_NS;
	for (int i = 0; i < SLICES; i++)
		if (!one_slice(p, other, end, &without) || !turn_events(p, PERF_EVENT_IOC_ENABLE) ||
		    !one_slice(p, other, end, &with) || !turn_events(p, PERF_EVENT_IOC_DISABLE))
			return FAH_SWITCH_COST_GUESS_NS;
	return with > without ? (with - without) / (SLICES * ROUNDS * SWITCHES) : 0;
}

/* On one core, or each would be given another one that has nothing to stop. */
static uint64_t measure_on_one_core(struct pair *p, pthread_t thread)
{
	cpu_set_t before, one;
	uint64_t ns = FAH_SWITCH_COST_GUESS_NS;
	clockid_t other;
	int core = sched_getcpu();

	if (core < 0 || core >= CPU_SETSIZE || pthread_getcpuclockid(thread, &other) != 0 ||
	    sched_getaffinity(0, sizeof(before), &before) < 0)
		return ns;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	if (pthread_setaffinity_np(thread, sizeof(one), &one) == 0 &&
	    sched_setaffinity(0, sizeof(one), &one) == 0)
		ns = measure(p, other);
	sched_setaffinity(0, sizeof(before), &before);
	return ns;
}

static uint64_t with_events(struct pair *p, pthread_t thread,
			    int (*open_event)(void *arg, uint32_t tid, uint64_t interval_ns),
			    void *arg)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	uint64_t ns = FAH_SWITCH_COST_GUESS_NS;

	for (int i = 0; i < ANSWER_MS && !atomic_load(&p->tid); i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	if (!atomic_load(&p->tid))
		return ns;
	p->events[0] = open_event(arg, self, INTERVAL_NS);
	p->events[1] = open_event(arg, atomic_load(&p->tid), INTERVAL_NS);
	if (p->events[0] >= 0 && p->events[1] >= 0)
		ns = measure_on_one_core(p, thread);
	for (int i = 0; i < 2; i++)
		if (p->events[i] >= 0)
			close(p->events[i]);
	return ns;
}

uint64_t fah_switch_cost_ns(int (*open_event)(void *arg, uint32_t tid, uint64_t interval_ns),
			    void *arg)
{
	struct pair p = {.events = {-1, -1}};
	uint64_t ns = FAH_SWITCH_COST_GUESS_NS;
	pthread_t thread;

	if (pipe2(p.there, O_CLOEXEC) < 0)
		return ns;
	if (pipe2(p.back, O_CLOEXEC) < 0) {
		close(p.there[0]);
		close(p.there[1]);
		return ns;
	}
	/* signals are blocked in us, and so in what we start */
	if (pthread_create(&thread, NULL, answer, &p) == 0) {
		ns = with_events(&p, thread, open_event, arg);
		close(p.there[1]);
		pthread_join(thread, NULL);
		p.there[1] = -1;
	}
	close(p.there[0]);
	if (p.there[1] >= 0)
		close(p.there[1]);
	close(p.back[0]);
	close(p.back[1]);
	return ns;
}
