/*
 * maps.c - threads that map, grow, shrink and give back, all at once: what one leaves is another's
 * next place. storm() leaves nothing but what leave() does; forks() says how many children found
 * all of their memory as it was.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define PAGE 4096u
#define MAPS 16 /* that a thread has at a time */

static _Atomic int over;

static char *map(size_t n)
{
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

struct work {
	uint64_t seed;
	int rounds; /* 0: until it is over */
};

static uint32_t next(struct work *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 33) % n;
}

static void *at_work(void *arg)
{
	struct work *w = arg;
	char *p[MAPS] = {0};
	size_t n[MAPS] = {0};

	for (int i = 0; w->rounds ? i < w->rounds : !atomic_load(&over); i++) {
		uint32_t k = next(w, MAPS);
		size_t size = (1 + next(w, 24)) * PAGE - next(w, PAGE);

		if (!p[k]) {
			p[k] = map(size);
		} else if (next(w, 3)) {
			char *to = mremap(p[k], n[k], size, MREMAP_MAYMOVE);

			if (to == MAP_FAILED)
				abort();
			p[k] = to;
		} else {
			munmap(p[k], n[k]);
			p[k] = NULL;
			continue;
		}
		n[k] = size;
		p[k][0] = p[k][n[k] - 1] = (char)k;
	}
	for (int k = 0; k < MAPS; k++)
		if (p[k])
			munmap(p[k], n[k]);
	return NULL;
}

static void start(pthread_t *threads, struct work *work, int rounds)
{
	atomic_store(&over, 0);
	for (int i = 0; i < THREADS; i++) {
		work[i] = (struct work){(uint64_t)i + 1, rounds};
		if (pthread_create(&threads[i], NULL, at_work, &work[i]))
			abort();
	}
}

static void join(pthread_t *threads)
{
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int storm(int rounds)
{
	pthread_t threads[THREADS];
	struct work work[THREADS];

	start(threads, work, rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Mappings that no allocator and no other function here has: each of n bytes. */
int leave(int count, int n)
{
	while (count--)
		map((size_t)n);
	return 0;
}

/* More than are kept in a list: to the kernel, one. */
int many(int count)
{
	for (int i = 0; i < count; i++)
		map(PAGE);
	return 0;
}

int forks(int count)
{
	pthread_t threads[THREADS];
	struct work work[THREADS];
	int right = 0, status;

	start(threads, work, 0);
	for (int i = 0; i < count; i++) {
		char *p = map(10 * PAGE);
		pid_t child = fork();

		if (!child) {
			p = mremap(p, 10 * PAGE, 300 * PAGE, MREMAP_MAYMOVE);
			p[0] = 1;
			leave(2, 100003);
			_exit(munmap(p, 300 * PAGE) ? 1 : 0);
		}
		if (waitpid(child, &status, 0) == child && !status)
			right++;
		munmap(p, 10 * PAGE);
	}
	join(threads);
	return right;
}
