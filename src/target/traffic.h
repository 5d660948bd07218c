/*
 * traffic.h - what a process and those below it have read and written so far, files, pipes and
 * terminals together: whether any of them may have used a terminal meanwhile.
 */
#ifndef FAH_TARGET_TRAFFIC_H
#define FAH_TARGET_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct fah_traffic {
	uint64_t in, out; /* bytes read, written */
};

/* Of pid and its living descendants; also of one that has ended and was not waited for. false: not
 * all of them could be read. */
bool fah_traffic(uint32_t pid, struct fah_traffic *ret);

#endif
