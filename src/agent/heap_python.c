/*
 * heap_python.c - the interpreter's own allocators (PyMem_SetAllocator): a block that comes through
 * them is Python's, whatever they ask of malloc and mmap for it.
 *
 * Ours stand in front of what is there, of debugging too, and stay: blocks of before and after are
 * handed on alike.
 */
#include "agent/heap.h"
#include "agent/pyapi.h"

struct allocator { /* PyMemAllocatorEx, public */
	void *ctx;
	void *(*malloc)(void *, size_t);
	void *(*calloc)(void *, size_t, size_t);
	void *(*realloc)(void *, void *, size_t);
	void (*free)(void *, void *);
};

enum { RAW, MEM, OBJECT, N_DOMAINS }; /* PyMemAllocatorDomain */

static struct allocator theirs[N_DOMAINS];

static void *on_malloc(void *ctx, size_t n)
{
	const struct allocator *a = ctx;
	void *block;

	if (!fah_heap_counts())
		return a->malloc(a->ctx, n);
	fah_heap_thread.inside++;
	block = a->malloc(a->ctx, n);
	fah_heap_thread.inside--;
	if (block)
		fah_heap_take(block, n, FAH_MEMORY_PYTHON);
	return block;
}

static void *on_calloc(void *ctx, size_t count, size_t n)
{
	const struct allocator *a = ctx;
	void *block;

	if (!fah_heap_counts())
		return a->calloc(a->ctx, count, n);
	fah_heap_thread.inside++;
	block = a->calloc(a->ctx, count, n);
	fah_heap_thread.inside--;
	if (block)
		fah_heap_take(block, count * n, FAH_MEMORY_PYTHON);
	return block;
}

static void *on_realloc(void *ctx, void *from, size_t n)
{
	const struct allocator *a = ctx;
	struct fah_heap_moved was;
	void *block;

	if (!from)
		return on_malloc(ctx, n);
	if (!fah_heap_counts())
		return a->realloc(a->ctx, from, n);
	was = fah_heap_move(from);
	fah_heap_thread.inside++;
	block = a->realloc(a->ctx, from, n);
	fah_heap_thread.inside--;
	if (block)
		fah_heap_moved_to(was, from, block, n, FAH_MEMORY_PYTHON);
	else
		fah_heap_not_moved(was, from);
	return block;
}

static void on_free(void *ctx, void *block)
{
	const struct allocator *a = ctx;

	if (!block || !fah_heap_counts()) {
		a->free(a->ctx, block);
		return;
	}
	fah_heap_give(block, FAH_MEMORY_PYTHON);
	fah_heap_thread.inside++;
	a->free(a->ctx, block);
	fah_heap_thread.inside--;
}

void fah_heap_watch_python(void)
{
	void (*get)(int, struct allocator *) =
		(void (*)(int, struct allocator *))(uintptr_t)fah_global("PyMem_GetAllocator");
	void (*set)(int, struct allocator *) =
		(void (*)(int, struct allocator *))(uintptr_t)fah_global("PyMem_SetAllocator");

	for (int i = 0; get && set && i < N_DOMAINS; i++) {
		struct allocator ours = {&theirs[i], on_malloc, on_calloc, on_realloc, on_free};

		get(i, &theirs[i]);
		set(i, &ours);
	}
}
