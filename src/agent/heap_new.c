/*
 * heap_new.c - C++'s operators new and delete. libstdc++'s call malloc, which counts; those of an
 * allocator that the program was started with do not, so what no one has counted is counted here.
 *
 * new throws through us where there is no memory: nothing is held meanwhile that would have to be
 * given back.
 */
#include "agent/heap.h"

typedef void *new_fn(size_t, size_t, const void *);
typedef void delete_fn(void *, size_t, size_t);

/* By who has it for the caller; the first answer serves all: copies of it share malloc. */
static void *real_of(void *_Atomic *place, const char *name, uintptr_t caller)
{
	void *found = atomic_load_explicit(place, memory_order_acquire);

	if (__builtin_expect(!found, 0)) {
		fah_heap_thread.inside++;
		found = fah_real_for(name, caller);
		fah_heap_thread.inside--;
		atomic_store(place, found);
	}
	return found;
}

static void *counted(void *block, size_t n)
{
	const uint16_t *entry;

	if (block && fah_heap_counts()) {
		entry = fah_shadow_make(block);
		if (entry && !*entry)
			fah_heap_take(block, n, FAH_MEMORY_NATIVE);
	}
	return block;
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* Arguments beyond those that the operator has are nobody's. */
#define NEW(symbol) \
	void *symbol(size_t n, size_t b, const void *c); \
	FAH_AGENT_EXPORT void *symbol(size_t n, size_t b, const void *c) \
	{ \
		static void *_Atomic real; \
		new_fn *fn = (new_fn *)(uintptr_t)real_of(&real, #symbol, CALLER); \
\
		return fn ? counted(fn(n, b, c), n) : NULL; \
	}

#define DELETE(symbol) \
	void symbol(void *block, size_t b, size_t c); \
	FAH_AGENT_EXPORT void symbol(void *block, size_t b, size_t c) \
	{ \
		static void *_Atomic real; \
		delete_fn *fn = (delete_fn *)(uintptr_t)real_of(&real, #symbol, CALLER); \
\
		if (block && fah_heap_counts()) \
			fah_heap_give(block, FAH_MEMORY_NATIVE); \
		if (fn) \
			fn(block, b, c); \
	}

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
