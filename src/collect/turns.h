/*
 * turns.h - whose turn it is to work on what the collector knows. Two threads do: one drains, which
 * may take long, and one looks at threads that wait, which must not be late. Whoever has the turn
 * gives it up while it reads a file or works out a name; turns are taken in the order in which they
 * were asked for.
 */
#ifndef FAH_COLLECT_TURNS_H
#define FAH_COLLECT_TURNS_H

#include <pthread.h>
#include <stdint.h>

struct fah_turns {
	pthread_mutex_t mutex;
	pthread_cond_t next;
	uint64_t asked, ended; /* the turn with number `ended` is under way, if it was asked for */
};

#define FAH_TURNS_INIT \
	{ \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 \
	}

/* All of them: NULL is fine, there is one thread then. */
void fah_turn_begin(struct fah_turns *t);
void fah_turn_end(struct fah_turns *t);
/* Whoever waits goes first. */
void fah_turn_pass(struct fah_turns *t);

#endif
