/*
 * drainer.h - the drain in a thread of its own. To name code may take a second (debug information,
 * tables for unwinding), in which threads must still be looked at: what they wait for is known only
 * from looks. One thread owns it.
 */
#ifndef FAH_COLLECT_DRAINER_H
#define FAH_COLLECT_DRAINER_H

#include "collect/drain.h"
#include "collect/turns.h"

enum fah_drainer_job { FAH_DRAINER_IDLE, FAH_DRAINER_LOOK, FAH_DRAINER_CYCLE, FAH_DRAINER_END };

struct fah_drainer {
	struct fah_drain *d;
	struct fah_turns *turns;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	enum fah_drainer_job job; /* under the mutex; whoever did it sets FAH_DRAINER_IDLE */
	uint64_t cycles_ns;
};

/* d is borrowed, and turns, which d shares (fah_drain_share) until the end. Where no thread is to
 * be had, all is done at once by whoever asks. */
void fah_drainer_init(struct fah_drainer *r, struct fah_drain *d, struct fah_turns *turns);
/* Waits for what is under way. From here on d is the caller's alone. */
void fah_drainer_end(struct fah_drainer *r);

/* Nothing is under way: what follows may be called, and d be read without a turn. */
bool fah_drainer_is_idle(struct fah_drainer *r);
/* fah_drain_look or fah_drain_cycle, begun; not within a turn. */
void fah_drainer_look(struct fah_drainer *r);
void fah_drainer_cycle(struct fah_drainer *r);
/* CPU that the cycles took so far. */
uint64_t fah_drainer_cycles_ns(const struct fah_drainer *r);

#endif
