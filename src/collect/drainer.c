/* drainer.c - see drainer.h. */
#include "collect/drainer.h"

#include "core/time.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static void do_job(struct fah_drainer *r, enum fah_drainer_job job)
{
	uint64_t before = fah_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	fah_turn_begin(r->turns);
	if (job == FAH_DRAINER_LOOK)
		fah_drain_look(r->d);
	else
		fah_drain_cycle(r->d);
	fah_turn_end(r->turns);
	if (job == FAH_DRAINER_CYCLE)
		r->cycles_ns += fah_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
}

static void *work(void *arg)
{
	struct fah_drainer *r = arg;

	pthread_mutex_lock(&r->mutex);
	for (;;) {
		enum fah_drainer_job job = r->job;

		if (job == FAH_DRAINER_IDLE) {
			pthread_cond_wait(&r->changed, &r->mutex);
			continue;
		}
		if (job == FAH_DRAINER_END)
			break;
		pthread_mutex_unlock(&r->mutex);
		do_job(r, job);
		pthread_mutex_lock(&r->mutex);
		r->job = FAH_DRAINER_IDLE;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->mutex);
	return NULL;
}

void fah_drainer_init(struct fah_drainer *r, struct fah_drain *d, struct fah_turns *turns)
{
	sigset_t all, old;

	memset(r, 0, sizeof(*r));
	r->d = d;
	r->turns = turns;
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->changed, NULL);
	fah_drain_share(d, turns);
	sigfillset(&all); /* signals are the owner's */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r->has_thread = pthread_create(&r->thread, NULL, work, r) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void begin(struct fah_drainer *r, enum fah_drainer_job job)
{
	if (!r->has_thread) {
		if (job != FAH_DRAINER_END)
			do_job(r, job);
		return;
	}
	pthread_mutex_lock(&r->mutex);
	while (r->job != FAH_DRAINER_IDLE)
		pthread_cond_wait(&r->changed, &r->mutex);
	r->job = job;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->mutex);
}

void fah_drainer_end(struct fah_drainer *r)
{
	begin(r, FAH_DRAINER_END);
	if (r->has_thread)
		pthread_join(r->thread, NULL);
	fah_drain_share(r->d, NULL);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->mutex);
}

bool fah_drainer_is_idle(struct fah_drainer *r)
{
	bool idle;

	pthread_mutex_lock(&r->mutex);
	idle = r->job == FAH_DRAINER_IDLE;
	pthread_mutex_unlock(&r->mutex);
	return idle;
}

void fah_drainer_look(struct fah_drainer *r)
{
	begin(r, FAH_DRAINER_LOOK);
}

void fah_drainer_cycle(struct fah_drainer *r)
{
	begin(r, FAH_DRAINER_CYCLE);
}

uint64_t fah_drainer_cycles_ns(const struct fah_drainer *r)
{
	return r->cycles_ns;
}
