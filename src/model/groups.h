/*
 * groups.h - threads whose samples are scaled together, to the CPU that they used together.
 *
 * A long thread (8 periods and more) is a group of its own. Short threads of a process are grouped
 * by length in octaves of the period; a group with few samples joins the next longer one.
 */
#ifndef FAH_MODEL_GROUPS_H
#define FAH_MODEL_GROUPS_H

#include "model/profile.h"

#define FAH_NO_THREAD UINT32_MAX

struct fah_groups {
	uint32_t *heads; /* by group: its first thread, FAH_NO_THREAD: empty */
	uint32_t *next;	 /* by thread: the next of its group */
	uint32_t n;
	double *unknown_ns; /* by process: its CPU that no thread record accounts for, and not yet
			       given out */
};

/* After the threads' samples are counted. 0 or FAH_ERR_NOMEM; the caller releases either way. */
int fah_groups_init(struct fah_groups *g, const struct fah_profile *p);
void fah_groups_release(struct fah_groups *g);

/*
 * CPU (ns) of threads like those of the group that ended without a sample and, for that, without
 * any record; taken from what the process used beyond its known threads. 0 for long threads, and
 * where the capture does have threads without samples.
 */
double fah_groups_absent(struct fah_groups *g, const struct fah_profile *p, uint32_t group);

#endif
