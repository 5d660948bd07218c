/*
 * memory_series.h - memory through the run as the kernel counts it, into the capture: of every
 * recorded process its resident set, swap and high-water mark; of the machine what is available; of
 * the control group its use and its limit. Reads files of /proc and of control groups; asks nothing
 * of the processes, and knows that any of them may vanish at any moment.
 */
#ifndef FAH_COLLECT_MEMORY_SERIES_H
#define FAH_COLLECT_MEMORY_SERIES_H

#include "collect/drain.h"

struct fah_memory_series; /* opaque */

/* pid: of the program, whose control group it is. d and w are borrowed. The caller owns *ret. 0 or
 * FAH_ERR_NOMEM. */
int fah_memory_series_new(struct fah_drain *d, struct fah_writer *w, uint64_t run_start_ns,
			  uint32_t pid, struct fah_memory_series **ret);

/* To be called often: it looks at what is due, and takes 2 ms and a 2000th of a core at most. */
void fah_memory_series_tick(struct fah_memory_series *s, uint64_t now_ns);

/* The last states, and of the machine as it is now. Before the processes' ends are written. */
void fah_memory_series_finish(struct fah_memory_series *s, uint64_t now_ns);

/* How many looks there were, and the CPU that they took. */
struct fah_memory_looks {
	uint64_t looks, cpu_ns;
};
struct fah_memory_looks fah_memory_series_looks(const struct fah_memory_series *s);

void fah_memory_series_free(struct fah_memory_series *s); /* NULL is fine */

#endif
