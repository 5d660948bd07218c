/*
 * heap_map.c - anonymous memory that a program maps itself. Address space that is only reserved
 * (PROT_NONE, MAP_NORESERVE) is no memory, and what allocators map for their blocks is theirs.
 *
 * A mapping may be given back in parts, so all are kept, in the order of their addresses. What is
 * held is right after each part; a recorded mapping counts as its line's until the last of it goes.
 * The highest comes first: the kernel gives out places from above, so a new mapping stands at the
 * end and nothing has to move (lowest first, 65,000 of them took 16 s).
 */
#undef _FILE_OFFSET_BITS /* mmap and mmap64 are two names */
#include "agent/heap.h"

#include "agent/heap_every.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#define REGIONS_MAX 65536u
#define PAGE 4096u
#ifndef MREMAP_DONTUNMAP /* since Linux 5.7 */
#define MREMAP_DONTUNMAP 4
#endif

struct region {
	uint64_t start, end;
	uint64_t first; /* where the mapping began whose part it is: by that it is recorded */
	uint32_t slack; /* of its last page, which was not asked for */
	uint32_t pages; /* of that mapping when it was whole: its parts lie in there */
};

static struct region *regions; /* pages of our own; NULL: none yet */
static uint32_t n_regions;
static _Atomic bool locked;
static volatile bool changing; /* the list, in this moment: not to be read */

/* No handler of the program's comes between: it may map memory too. */
static void lock(uint64_t *ret_mask)
{
	uint64_t all = UINT64_MAX;

	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_mask, 8);
	while (atomic_exchange_explicit(&locked, true, memory_order_acquire))
		FAH_SYS0(SYS_sched_yield);
}

static void unlock(const uint64_t *mask)
{
	atomic_store_explicit(&locked, false, memory_order_release);
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, 8);
}

/* Another thread, which is not there any more, may have been at it: then what was mapped before is
 * not known. */
void fah_heap_maps_forked(void)
{
	if (changing) {
		fah_heap_lost(n_regions);
		n_regions = 0;
	}
	changing = false;
	atomic_store(&locked, false);
}

/* How many end behind start: they come first, and one that begins there belongs behind them. */
static uint32_t above(uint64_t start)
{
	uint32_t low = 0, high = n_regions;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (regions[middle].end > start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The lowest that ends behind start; NULL: none does. */
static struct region *find(uint64_t start)
{
	uint32_t n = above(start);

	return n ? &regions[n - 1] : NULL;
}

static bool insert(uint32_t at, struct region r)
{
	if (!regions)
		regions = fah_pages(REGIONS_MAX * sizeof(*regions));
	if (!regions || n_regions == REGIONS_MAX)
		return false;
	memmove(regions + at + 1, regions + at, (n_regions - at) * sizeof(*regions));
	regions[at] = r;
	n_regions++;
	return true;
}

static void drop(uint32_t at)
{
	n_regions--;
	memmove(regions + at, regions + at + 1, (n_regions - at) * sizeof(*regions));
}

/* Whether another part of that one's mapping is still there. */
static bool has_part(const struct region *r)
{
	uint64_t end = r->first + (uint64_t)r->pages * PAGE;

	for (uint32_t i = above(r->first); i-- > 0 && regions[i].start < end;)
		if (regions[i].first == r->first)
			return true;
	return false;
}

/* What is left of one that was cut. Where there is no room for it, it is no more: its bytes. */
static uint64_t keep(uint32_t at, struct region r)
{
	if (r.start >= r.end || insert(at, r))
		return 0;
	fah_heap_lost(1);
	return r.end - r.start;
}

/* Something that was counted, and has gone. */
struct gone {
	uint64_t bytes;
	uint64_t number; /* of a recorded mapping of which nothing is left; or 0 */
};

/* Takes what lies in there out of the list; with the lock. One mapping at a time; false: nothing is
 * there. Its number is taken here, too: the next one at that address may come at any time. */
static bool cut(uint64_t start, uint64_t end, struct gone *ret)
{
	struct region *found = find(start), r;
	uint32_t at;

	if (!found || found->start >= end)
		return false;
	changing = true;
	r = *found;
	at = (uint32_t)(found - regions);
	ret->bytes = (r.end < end ? r.end : end) - (r.start > start ? r.start : start);
	ret->number = 0;
	drop(at);
	ret->bytes += keep(at, (struct region){r.start, start, r.first, r.slack, r.pages});
	ret->bytes += keep(at, (struct region){end, r.end, r.first, r.slack, r.pages});
	if (!has_part(&r)) {
		ret->bytes -= r.slack;
		ret->number = fah_heap_table_take((void *)(uintptr_t)r.first);
	}
	changing = false;
	return true;
}

static uint64_t whole_pages(uint64_t len)
{
	return (len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static void unmapped(uint64_t start, uint64_t len)
{
	uint64_t end = start + whole_pages(len), mask;
	struct gone gone;
	bool found;

	if (!len)
		return;
	do {
		lock(&mask);
		found = cut(start, end, &gone);
		unlock(&mask);
		if (found)
			fah_heap_unmapped(gone.bytes, gone.number);
	} while (found);
}

/* With the lock. */
static bool add(void *at, size_t len)
{
	uint64_t start = (uint64_t)(uintptr_t)at, end = start + whole_pages(len);
	struct region r = {start, end, start, (uint32_t)(end - start - len),
			   (uint32_t)((end - start) / PAGE)};
	bool kept;

	changing = true;
	kept = insert(above(start), r);
	changing = false;
	return kept;
}

static void added(bool kept, void *at, size_t len)
{
	if (kept)
		fah_heap_mapped(at, len);
	else
		fah_heap_lost(1);
}

static void mapped(void *at, size_t len)
{
	uint64_t mask;
	bool kept;

	lock(&mask);
	kept = add(at, len);
	unlock(&mask);
	added(kept, at, len);
}

static bool is_memory(int prot, int flags)
{
	return flags & MAP_ANONYMOUS && !(flags & MAP_NORESERVE) && prot != PROT_NONE;
}

typedef void *map_fn(void *, size_t, int, int, int, off_t);
typedef int unmap_fn(void *, size_t);
typedef void *remap_fn(void *, size_t, size_t, int, ...);

static void *real_of(void *_Atomic *place, const char *name)
{
	void *found = atomic_load_explicit(place, memory_order_acquire);

	if (__builtin_expect(!found, 0)) {
		found = fah_real(name);
		atomic_store(place, found);
	}
	return found;
}

FAH_AGENT_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	static void *_Atomic real;
	map_fn *fn = (map_fn *)(uintptr_t)real_of(&real, "mmap");
	bool counts = fah_heap_counts();
	void *at;

	if (!fn) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	at = fn(addr, len, prot, flags, fd, offset);
	if (at == MAP_FAILED)
		return at;
	if (flags & MAP_FIXED && atomic_load(&fah_heap_on))
		unmapped((uint64_t)(uintptr_t)at,
			 len); /* what was there is gone; nobody else got it */
	if (counts && is_memory(prot, flags))
		mapped(at, len);
	return at;
}

FAH_AGENT_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

FAH_AGENT_EXPORT int munmap(void *addr, size_t len)
{
	static void *_Atomic real;
	unmap_fn *fn = (unmap_fn *)(uintptr_t)real_of(&real, "munmap");

	if (!fn) {
		errno = ENOSYS;
		return -1;
	}
	/* before it is gone: another thread may get the place. Where the kernel refuses, nothing of
	 * the kind was mapped there. An arena of before the start is given back by an allocator. */
	if (atomic_load_explicit(&fah_heap_on, memory_order_relaxed) && n_regions &&
	    !((uintptr_t)addr % PAGE))
		unmapped((uint64_t)(uintptr_t)addr, len);
	return fn(addr, len);
}

static void *remap(remap_fn *fn, void *addr, size_t len, size_t new_len, int flags, void *to)
{
	return flags & MREMAP_FIXED ? fn(addr, len, new_len, flags, to)
				    : fn(addr, len, new_len, flags);
}

#define PIECES_MAX 16u

struct pieces {
	struct gone gone[PIECES_MAX];
	uint32_t n;
};

/* With the lock. */
static void cut_all(uint64_t start, uint64_t len, struct pieces *p)
{
	struct gone one;

	while (cut(start, start + whole_pages(len), &one)) {
		if (p->n < PIECES_MAX) {
			p->gone[p->n++] = one;
		} else {
			p->gone[PIECES_MAX - 1].bytes += one.bytes;
			fah_heap_lost(one.number != 0);
		}
	}
}

/*
 * Of a mapping that is counted. The list is held meanwhile: whoever gets the old place next is put
 * into it behind us, and what the kernel refuses to move stays as it was. With a length of 0 the
 * same memory is mapped once more; with MREMAP_DONTUNMAP the old place stays.
 */
static void *remap_counted(remap_fn *fn, void *addr, size_t len, size_t new_len, int flags,
			   void *to)
{
	struct pieces pieces = {.n = 0};
	uint64_t mask;
	bool kept;
	void *at;

	lock(&mask);
	at = remap(fn, addr, len, new_len, flags, to);
	if (at == MAP_FAILED) {
		unlock(&mask);
		return at;
	}
	if (!(flags & MREMAP_DONTUNMAP))
		cut_all((uint64_t)(uintptr_t)addr, len, &pieces);
	if (to)
		cut_all((uint64_t)(uintptr_t)at, new_len, &pieces);
	kept = add(at, new_len);
	unlock(&mask);
	for (uint32_t i = 0; i < pieces.n; i++)
		fah_heap_unmapped(pieces.gone[i].bytes, pieces.gone[i].number);
	added(kept, at, new_len);
	return at;
}

static bool is_counted(uint64_t start)
{
	const struct region *found;
	uint64_t mask;
	bool yes;

	lock(&mask);
	found = find(start);
	yes = found && found->start <= start;
	unlock(&mask);
	return yes;
}

FAH_AGENT_EXPORT void *mremap(void *addr, size_t len, size_t new_len, int flags, ...)
{
	static void *_Atomic real;
	remap_fn *fn = (remap_fn *)(uintptr_t)real_of(&real, "mremap");
	void *at, *to = NULL;
	va_list args;

	va_start(args, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(args, void *);
	va_end(args);
	if (!fn) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	if (!atomic_load(&fah_heap_on))
		return remap(fn, addr, len, new_len, flags, to);
	if (len && is_counted((uint64_t)(uintptr_t)addr))
		return remap_counted(fn, addr, len, new_len, flags, to);
	at = remap(fn, addr, len, new_len, flags, to);
	if (at != MAP_FAILED && to)
		unmapped((uint64_t)(uintptr_t)at, new_len);
	return at;
}
