/*
 * memory_group.h - the control group whose limit is nearest, of a process's own and those above it,
 * in version 1 or 2 of control groups. Files that are not there, or not ours to read, make figures
 * FAH_BYTES_UNKNOWN, never an error.
 */
#ifndef FAH_TARGET_MEMORY_GROUP_H
#define FAH_TARGET_MEMORY_GROUP_H

#include "target/memory_text.h"

struct fah_group {
	struct fah_group_place place; /* of the process's own; dir "": there is none */
	int used_fd;		      /* of the one whose limit is nearest; -1 */
	uint64_t limit;		      /* of that one; FAH_BYTES_NO_LIMIT: there is none anywhere */
	size_t nearest;		      /* bytes of place.dir that are its path */
	char *found_in;		      /* of /proc/PID/cgroup: the same again is the same place */
};

void fah_group_init(struct fah_group *g);
void fah_group_release(struct fah_group *g);

/* The group of process pid, or that it has moved to since. Of one that has ended: as it was. */
void fah_group_find(struct fah_group *g, uint32_t pid);
/* The same for a place that is known. */
void fah_group_at(struct fah_group *g, const struct fah_group_place *place);

/* Which limit is nearest now: several files are read. */
void fah_group_look(struct fah_group *g);
/* Bytes that all processes of the one with the nearest limit use, with their files' cache: cheap.
 */
uint64_t fah_group_used(const struct fah_group *g);
/* Of those: files that nobody used lately, which the kernel drops before it kills anybody. */
uint64_t fah_group_cache(const struct fah_group *g);
/* How many processes of the process's own group were ever killed for want of memory. */
uint64_t fah_group_kills(const struct fah_group *g);

#endif
