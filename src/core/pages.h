/* pages.h - memory of our own from the kernel, never the program's malloc. Signal-handler safe. */
#ifndef FAH_CORE_PAGES_H
#define FAH_CORE_PAGES_H

#include "core/sys.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/* Zeroed; NULL: none to be had. */
static inline void *fah_pages(size_t size)
{
	long p = FAH_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

/* What the place points to: made by whoever comes first, and there for good. NULL as above. */
static inline void *fah_pages_once(void *_Atomic *place, size_t size)
{
	void *there = atomic_load_explicit(place, memory_order_acquire), *made;

	if (there)
		return there;
	made = fah_pages(size);
	if (made && !atomic_compare_exchange_strong(place, &there, made)) {
		FAH_SYS2(SYS_munmap, made, size);
		return there;
	}
	return made;
}

#endif
