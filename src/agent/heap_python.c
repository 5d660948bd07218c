/*
 * heap_python.c - the interpreter's own allocators (PyMem_SetAllocator): a block that comes through
 * them is Python's, whatever they ask of malloc and mmap for it.
 *
 * Ours stand in front of what is there, of debugging too, and stay: blocks of before and after are
 * handed on alike.
 *
 * Small blocks, by the million, have a way of their own, where the interpreter's pools are right
 * behind us. Those ask nobody, but for their arenas, which are looked after, and where there is no
 * memory for one; then whoever they asked has counted the block.
 *
 * Or small blocks are not looked at, and the arenas are (--exact=malloc).
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

struct arenas { /* PyObjectArenaAllocator, public */
	void *ctx;
	void *(*alloc)(void *, size_t);
	void (*free)(void *, void *, size_t);
};

#define SMALL 512u /* that pools have */

static struct arenas their_arenas;
static bool arenas_count;

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

static void *on_small_malloc(void *ctx, size_t n)
{
	const struct allocator *a = ctx;
	uint16_t *entry;
	void *block;

	if (__builtin_expect(n > SMALL, 0) ||
	    !atomic_load_explicit(&fah_heap_on, memory_order_relaxed))
		return on_malloc(ctx, n);
	block = a->malloc(a->ctx, n);
	if (__builtin_expect(!block, 0))
		return NULL;
	entry = fah_shadow_find(block);
	if (__builtin_expect(!entry, 0))
		fah_heap_take(block, n, FAH_MEMORY_PYTHON);
	else if (__builtin_expect(!*entry, 1))
		fah_heap_take_small(block, n, entry);
	return block;
}

static void on_small_free(void *ctx, void *block)
{
	const struct allocator *a = ctx;
	uint16_t *entry = fah_shadow_find(block);

	if (__builtin_expect(!entry || *entry - 1u > SMALL ||
				     !atomic_load_explicit(&fah_heap_on, memory_order_relaxed),
			     0)) {
		on_free(ctx, block);
		return;
	}
	fah_heap_give_small(entry);
	a->free(a->ctx, block);
}

/* Small blocks pass by from here on. */
static void *on_large_malloc(void *ctx, size_t n)
{
	const struct allocator *a = ctx;

	return n > SMALL ? on_malloc(ctx, n) : a->malloc(a->ctx, n);
}

static void *on_large_calloc(void *ctx, size_t count, size_t n)
{
	const struct allocator *a = ctx;

	return n && count > SMALL / n ? on_calloc(ctx, count, n) : a->calloc(a->ctx, count, n);
}

static void *on_large_realloc(void *ctx, void *from, size_t n)
{
	const struct allocator *a = ctx;
	struct fah_heap_moved was;
	void *block;

	if (!from)
		return on_large_malloc(ctx, n);
	if (n > SMALL || !fah_heap_counts())
		return on_realloc(ctx, from, n);
	was = fah_heap_move(from);
	block = a->realloc(a->ctx, from, n);
	if (block)
		fah_heap_moved_to(was, from, NULL, 0, FAH_MEMORY_PYTHON);
	else
		fah_heap_not_moved(was, from);
	return block;
}

static void on_large_free(void *ctx, void *block)
{
	const struct allocator *a = ctx;
	const uint16_t *entry = fah_shadow_find(block);

	if (entry && *entry)
		on_free(ctx, block);
	else
		a->free(a->ctx, block);
}

/* Arenas: no blocks where what is in them is; else mmap's, whoever asks for them. What `inside`
 * was.
 */
static uint32_t arena_begin(void)
{
	uint32_t inside = fah_heap_thread.inside;

	fah_heap_thread.inside = arenas_count ? 0 : inside + 1;
	return inside;
}

static void *on_arena(void *ctx, size_t n)
{
	uint32_t inside = arena_begin();
	void *arena;

	(void)ctx;
	arena = their_arenas.alloc(their_arenas.ctx, n);
	fah_heap_thread.inside = inside;
	return arena;
}

static void on_arena_free(void *ctx, void *arena, size_t n)
{
	uint32_t inside = arena_begin();

	(void)ctx;
	their_arenas.free(their_arenas.ctx, arena, n);
	fah_heap_thread.inside = inside;
}

static bool watch_arenas(void)
{
	void (*get)(struct arenas *) =
		(void (*)(struct arenas *))(uintptr_t)fah_global("PyObject_GetArenaAllocator");
	void (*set)(struct arenas *) =
		(void (*)(struct arenas *))(uintptr_t)fah_global("PyObject_SetArenaAllocator");
	struct arenas ours = {NULL, on_arena, on_arena_free};

	if (!get || !set)
		return false;
	get(&their_arenas);
	set(&ours);
	return true;
}

void fah_heap_watch_python(bool small)
{
	void (*get)(int, struct allocator *) =
		(void (*)(int, struct allocator *))(uintptr_t)fah_global("PyMem_GetAllocator");
	void (*set)(int, struct allocator *) =
		(void (*)(int, struct allocator *))(uintptr_t)fah_global("PyMem_SetAllocator");

	bool arenas;

	arenas_count = !small;
	arenas = watch_arenas();

	for (int i = 0; get && set && i < N_DOMAINS; i++) {
		struct allocator ours = {&theirs[i], on_malloc, on_calloc, on_realloc, on_free};
		bool pools;

		get(i, &theirs[i]);
		pools = theirs[i].malloc != theirs[RAW].malloc; /* not with PYTHONMALLOC=malloc */
		if (pools && !small) {
			ours = (struct allocator){&theirs[i], on_large_malloc, on_large_calloc,
						  on_large_realloc, on_large_free};
		} else if (pools && arenas && !theirs[i].ctx) {
			/* those of debugging, and of others in front of pools, have a context */
			ours.malloc = on_small_malloc;
			ours.free = on_small_free;
		}
		set(i, &ours);
	}
}
