/*
 * heap_malloc.c - malloc and its like, in front of whose they are: libc's, or an allocator's that
 * the program was started with.
 *
 * They are called before our constructor, and by the look-up of the real ones: then a few bytes of
 * our own serve, which are never given back.
 */
#include "agent/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_BYTES 65536u

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} real;
static _Atomic int state; /* 0: not looked up; 1: somebody is at it; 2: done */

static uint8_t early[EARLY_BYTES] __attribute__((aligned(16)));
static _Atomic size_t early_used;

static bool is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early < sizeof(early);
}

static void *early_take(size_t n)
{
	size_t at;

	if (n > sizeof(early))
		return NULL;
	n = (n + 31) & ~(size_t)15; /* its size stands before it */
	at = atomic_fetch_add(&early_used, n);
	if (at + n > sizeof(early))
		return NULL;
	memcpy(early + at, &n, sizeof(n));
	return early + at + 16;
}

static void look_up(void)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&state, &none, 1))
		return; /* by the look-up itself; or by another thread: there is none yet */
	*(void **)&real.calloc = fah_real("calloc");
	*(void **)&real.realloc = fah_real("realloc");
	*(void **)&real.free = fah_real("free");
	*(void **)&real.aligned_alloc = fah_real("aligned_alloc");
	*(void **)&real.memalign = fah_real("memalign");
	*(void **)&real.posix_memalign = fah_real("posix_memalign");
	*(void **)&real.valloc = fah_real("valloc");
	*(void **)&real.pvalloc = fah_real("pvalloc");
	*(void **)&real.malloc = fah_real("malloc");
	atomic_store(&state, 2);
}

static inline bool ready(void)
{
	if (__builtin_expect(atomic_load_explicit(&state, memory_order_acquire) != 2, 0))
		look_up();
	return __builtin_expect(atomic_load_explicit(&state, memory_order_acquire) == 2, 1);
}

/* Counted where it is to be; NULL stays NULL. */
static inline void *taken(bool counts, void *block, size_t n)
{
	if (!counts)
		return block;
	fah_heap_thread.inside--;
	if (block)
		fah_heap_take(block, n, FAH_MEMORY_NATIVE);
	return block;
}

static inline bool begin(void)
{
	bool counts = fah_heap_counts();

	if (counts)
		fah_heap_thread.inside++;
	return counts;
}

FAH_AGENT_EXPORT void *malloc(size_t n)
{
	bool counts;

	if (!ready())
		return early_take(n);
	counts = begin();
	return taken(counts, real.malloc(n), n);
}

FAH_AGENT_EXPORT void *calloc(size_t count, size_t n)
{
	bool counts;

	if (!ready()) /* never used before, so zero */
		return n && count > EARLY_BYTES / n ? NULL : early_take(count * n);
	counts = begin();
	return taken(counts, real.calloc(count, n), count * n);
}

FAH_AGENT_EXPORT void free(void *block)
{
	bool counts;

	if (!block || is_early(block) || !ready())
		return;
	counts = fah_heap_counts();
	if (counts) {
		fah_heap_give(block, FAH_MEMORY_NATIVE);
		fah_heap_thread.inside++;
	}
	real.free(block);
	if (counts)
		fah_heap_thread.inside--;
}

FAH_AGENT_EXPORT void *realloc(void *from, size_t n)
{
	struct fah_heap_moved was;
	void *block;

	if (!from)
		return malloc(n);
	if (is_early(from) || !ready()) {
		size_t had;

		memcpy(&had, (uint8_t *)from - 16, sizeof(had));
		block = malloc(n);
		if (block)
			memcpy(block, from, had - 16 < n ? had - 16 : n);
		return block;
	}
	if (!fah_heap_counts())
		return real.realloc(from, n);
	was = fah_heap_move(from);
	fah_heap_thread.inside++;
	block = real.realloc(from, n);
	fah_heap_thread.inside--;
	if (block)
		fah_heap_moved_to(was, from, block, n, FAH_MEMORY_NATIVE);
	else if (n)
		fah_heap_not_moved(was, from);
	else /* realloc to 0 bytes gave it back */
		fah_heap_moved_to(was, from, NULL, 0, FAH_MEMORY_NATIVE);
	return block;
}

FAH_AGENT_EXPORT void *reallocarray(void *from, size_t count, size_t n)
{
	if (n && count > SIZE_MAX / n) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(from, count * n);
}

FAH_AGENT_EXPORT void *aligned_alloc(size_t alignment, size_t n)
{
	bool counts;

	if (!ready() || !real.aligned_alloc)
		return NULL;
	counts = begin();
	return taken(counts, real.aligned_alloc(alignment, n), n);
}

FAH_AGENT_EXPORT void *memalign(size_t alignment, size_t n)
{
	bool counts;

	if (!ready() || !real.memalign)
		return NULL;
	counts = begin();
	return taken(counts, real.memalign(alignment, n), n);
}

FAH_AGENT_EXPORT int posix_memalign(void **ret, size_t alignment, size_t n)
{
	bool counts;
	int err;

	if (!ready() || !real.posix_memalign)
		return ENOMEM;
	counts = begin();
	err = real.posix_memalign(ret, alignment, n);
	taken(counts, err ? NULL : *ret, n);
	return err;
}

FAH_AGENT_EXPORT void *valloc(size_t n)
{
	bool counts;

	if (!ready() || !real.valloc)
		return NULL;
	counts = begin();
	return taken(counts, real.valloc(n), n);
}

FAH_AGENT_EXPORT void *pvalloc(size_t n)
{
	bool counts;

	if (!ready() || !real.pvalloc)
		return NULL;
	counts = begin();
	return taken(counts, real.pvalloc(n), n);
}
