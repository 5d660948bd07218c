/* threads.c - see threads.h. */
#include "collect/threads.h"

#include <stdlib.h>
#include <string.h>

/* A thread's life begins when it is asked for; whoever asks may lose its core before the kernel
 * makes it. No number is given anew so soon. */
#define ASKED_NS 1000000000u

static struct fah_thread_known *add(struct fah_threads *t, uint32_t tid, uint32_t id)
{
	struct fah_thread_known *k, *grown;

	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 16;

		grown = realloc(t->list, cap * sizeof(*grown));
		if (!grown)
			return NULL;
		t->list = grown;
		t->cap = cap;
	}
	k = &t->list[t->n++];
	*k = (struct fah_thread_known){.tid = tid, .id = id};
	return k;
}

/* One that nobody has met before. */
static uint32_t define(struct fah_threads *t, const struct fah_thread_seen *s,
		       uint64_t agent_start_ns, uint64_t kernel_start_ns)
{
	uint64_t start = s->start_ns > s->run_start_ns ? s->start_ns - s->run_start_ns : 0;
	uint32_t id = fah_writer_thread(s->w, s->process, s->tid, start, s->name, s->name_len);
	struct fah_thread_known *k = add(t, s->tid, id);

	if (k) {
		k->agent_start_ns = agent_start_ns;
		k->kernel_start_ns = kernel_start_ns;
	}
	return id;
}

void fah_threads_known(struct fah_threads *t, uint32_t tid, uint32_t id, uint64_t start_ns)
{
	struct fah_thread_known *k = add(t, tid, id);

	if (k)
		k->kernel_start_ns = start_ns;
}

/* A tid may have been several threads: the newest one that fits. */
uint32_t fah_threads_of_agent(struct fah_threads *t, const struct fah_thread_seen *seen)
{
	struct fah_thread_known *k;
	uint64_t start = seen->start_ns;

	for (size_t i = t->n; i-- > 0;) {
		k = &t->list[i];
		if (k->tid != seen->tid)
			continue;
		if (k->agent_start_ns == start)
			return k->id;
		if (!k->agent_start_ns && k->kernel_start_ns <= start + ASKED_NS &&
		    (!k->end_ns || start <= k->end_ns)) {
			k->agent_start_ns = start;
			return k->id;
		}
	}
	return define(t, seen, start, 0);
}

uint32_t fah_threads_of_kernel(struct fah_threads *t, const struct fah_thread_seen *seen,
			       uint64_t kernel_start_ns)
{
	struct fah_thread_known *k;

	for (size_t i = t->n; i-- > 0;) {
		k = &t->list[i];
		if (k->tid != seen->tid || k->end_ns)
			continue;
		if (k->kernel_start_ns == kernel_start_ns ||
		    (!k->kernel_start_ns && k->agent_start_ns + ASKED_NS >= kernel_start_ns)) {
			k->kernel_start_ns = kernel_start_ns;
			return k->id;
		}
	}
	return define(t, seen, 0, kernel_start_ns);
}

void fah_threads_ended(struct fah_threads *t, uint32_t id, uint64_t now_ns)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->list[i].id == id)
			t->list[i].end_ns = now_ns;
}

void fah_threads_release(struct fah_threads *t)
{
	free(t->list);
	memset(t, 0, sizeof(*t));
}
