/*
 * page_cache.h - memory of our own process by whole pages, each read once in a walk.
 *
 * Hundreds of small loads from all over a heap are hundreds of system calls, each dearer than the
 * copy of the page that a dozen of them lie in. The pages that the last walk wanted are read by one
 * call when the next one wants its first. Mapped when it is first needed, for the life of its
 * thread. Runs in signal handlers; one for each thread.
 */
#ifndef FAH_CORE_PAGE_CACHE_H
#define FAH_CORE_PAGE_CACHE_H

#include "core/load.h"

#include <stdbool.h>

#define FAH_PAGE_CACHE_PAGES FAH_PIECES_MAX
#define FAH_PAGE_CACHE_PAGE 4096u
#define FAH_PAGE_CACHE_SLOTS 256u /* a power of two */

struct fah_page_cache {
	uint32_t n;	 /* pages held */
	uint32_t n_last; /* pages that the last walk wanted and that are still to be read; in page[]
			  */
	uint64_t page[FAH_PAGE_CACHE_PAGES];
	bool wanted[FAH_PAGE_CACHE_PAGES];  /* by this walk */
	uint8_t slot[FAH_PAGE_CACHE_SLOTS]; /* place + 1, by address */
	uint8_t bytes[FAH_PAGE_CACHE_PAGES][FAH_PAGE_CACHE_PAGE];
};

/* Zeroed, by mmap; NULL: no memory. Kept with its thread's state, which is used again. */
struct fah_page_cache *fah_page_cache_new(void);

/* A walk is over: nothing is held any more. */
void fah_page_cache_forget(struct fah_page_cache *c);

/* One piece, whose pages are read through `under` where they are not held. False: there is no room
 * for them, or one cannot be read. */
bool fah_page_cache_read(struct fah_page_cache *c, const struct fah_mem *under,
			 const struct fah_piece *piece);

#endif
