/* heap_sums.c - see heap_sums.h. */
#include "agent/heap_sums.h"

#include "core/varint.h"

static _Atomic int64_t sums[2]; /* held: Python's, others' */
static _Atomic int64_t most;

int64_t fah_heap_held(int64_t *ret_python)
{
	int64_t python = atomic_load(&sums[0]), all = python + atomic_load(&sums[1]);

	if (ret_python)
		*ret_python = python;
	return all;
}

int64_t fah_heap_most(int64_t now)
{
	int64_t seen = atomic_load(&most);

	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	return now > seen ? now : seen;
}

void fah_heap_sums_join(struct fah_heap_thread *h)
{
	for (int i = 0; i < 2; i++) {
		int64_t delta = h->delta[i];

		h->delta[i] -= delta; /* a handler of the program's may allocate in between */
		atomic_fetch_add(&sums[i], delta);
	}
	fah_heap_most(fah_heap_held(NULL));
}

void fah_heap_sums(uint64_t *ret_held, uint64_t *ret_most)
{
	int64_t now = fah_heap_held(NULL) + fah_heap_thread.delta[0] + fah_heap_thread.delta[1];

	*ret_held = now > 0 ? (uint64_t)now : 0;
	*ret_most = (uint64_t)fah_heap_most(now);
}

uint8_t *fah_heap_sums_put(uint8_t *p)
{
	int64_t now;

	fah_heap_sums_join(&fah_heap_thread);
	now = fah_heap_held(NULL);
	now = now > 0 ? now : 0;
	p = fah_put_varint(p, (uint64_t)now);
	return fah_put_varint(p, (uint64_t)fah_heap_most(now));
}

int64_t fah_heap_sums_begin(void)
{
	int64_t now;

	fah_heap_sums_join(&fah_heap_thread);
	now = fah_heap_held(NULL);
	atomic_store(&most, now);
	return now;
}
