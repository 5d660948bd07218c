/* pages.h - memory of our own from the kernel, never the program's malloc. Signal-handler safe. */
#ifndef FAH_CORE_PAGES_H
#define FAH_CORE_PAGES_H

#include "core/sys.h"

#include <stddef.h>
#include <sys/mman.h>

/* Zeroed; NULL: none to be had. */
static inline void *fah_pages(size_t size)
{
	long p = FAH_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

#endif
