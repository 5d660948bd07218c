/* turns.c - see turns.h. A plain mutex would go to whoever runs already, time after time. */
#include "collect/turns.h"

#include <stddef.h>

void fah_turn_begin(struct fah_turns *t)
{
	uint64_t mine;

	if (!t)
		return;
	pthread_mutex_lock(&t->mutex);
	mine = t->asked++;
	while (t->ended != mine)
		pthread_cond_wait(&t->next, &t->mutex);
	pthread_mutex_unlock(&t->mutex);
}

void fah_turn_end(struct fah_turns *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->mutex);
	if (++t->ended != t->asked)
		pthread_cond_broadcast(&t->next);
	pthread_mutex_unlock(&t->mutex);
}

void fah_turn_pass(struct fah_turns *t)
{
	fah_turn_end(t);
	fah_turn_begin(t);
}
