/*
 * usage.h - what another process has used so far, as /proc shows it; for those that are not ended,
 * of which wait4 says nothing.
 */
#ifndef FAH_TARGET_USAGE_H
#define FAH_TARGET_USAGE_H

#include <stdint.h>

struct fah_usage {
	uint64_t user_ns, system_ns; /* its own, and of children that it has waited for */
	uint64_t rss_bytes;	     /* now, and */
	uint64_t max_rss_bytes;	     /* at most so far; 0: the kernel does not say */
};

/* 0; FAH_ERR_SYS: it is gone; FAH_ERR_FORMAT: what stands there is not what we know. */
int fah_process_usage(uint32_t pid, struct fah_usage *ret);

#endif
