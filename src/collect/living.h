/*
 * living.h - what a program that has not ended has used so far, with its children.
 */
#ifndef FAH_COLLECT_LIVING_H
#define FAH_COLLECT_LIVING_H

#include "collect/drain.h"
#include "target/usage.h"

/* CPU of process pid and of all recorded ones that live, added up; memory of the largest. All 0
 * where none lives. */
void fah_living_usage(struct fah_drain *d, uint32_t pid, struct fah_usage *ret);

#endif
