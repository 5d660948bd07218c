/*
 * race.c - threads without Python that ask for blocks in every way, resize them and give back each
 * other's, all at once. race() says how many were asked for, and leaves what each thread asks for
 * at its end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS 6
#define PLACES 64 /* of blocks that whoever comes by gives back */
#define LEFT 5	  /* that a thread leaves: 90001 bytes and its number */

static _Atomic(char *) places[PLACES];
static _Atomic long asked;

struct work {
	uint64_t seed;
	int number, rounds;
};

static uint32_t next(struct work *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 33) % n;
}

static char *counted(void *p)
{
	if (!p)
		abort();
	atomic_fetch_add(&asked, 1);
	*(char *)p = 1;
	return p;
}

static char *ask(struct work *w)
{
	size_t n = 1 + next(w, next(w, 20) ? 3000 : 300000);
	void *p;

	switch (next(w, 5)) {
	case 0:
		return counted(calloc(1, n));
	case 1:
		return posix_memalign(&p, 64, n) ? NULL : counted(p);
	case 2:
		return counted(realloc(NULL, n));
	case 3:
		return counted(aligned_alloc(32, n));
	default:
		return counted(malloc(n));
	}
}

static void *at_work(void *arg)
{
	struct work *w = arg;

	for (int i = 0; i < w->rounds; i++) {
		char *old = atomic_exchange(&places[next(w, PLACES)], ask(w));

		if (old && !next(w, 3))
			old = counted(realloc(old, 1 + next(w, 9000)));
		free(old);
	}
	for (int i = 0; i < LEFT; i++)
		counted(malloc((size_t)90001 + (size_t)w->number));
	return NULL;
}

long race(int rounds)
{
	pthread_t threads[THREADS];
	struct work work[THREADS];

	for (int i = 0; i < THREADS; i++) {
		work[i] = (struct work){(uint64_t)i + 1, i, rounds};
		if (pthread_create(&threads[i], NULL, at_work, &work[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PLACES; i++)
		free(atomic_exchange(&places[i], NULL));
	return atomic_load(&asked);
}
