/*
 * kept.h - what a process had counted when it ended and no record of its says: core/kept.h.
 */
#ifndef FAH_COLLECT_KEPT_H
#define FAH_COLLECT_KEPT_H

#include "collect/process.h"

struct fah_writer;

/* Into the capture, from the file in the session's folder; after the process's last records, whose
 * code it names. time_ns: since the start of the run, for what has a time. Where there is no such
 * file, or it is damaged, what can be read counts. */
void fah_kept_take(struct fah_collected *p, const char *dir, struct fah_writer *w,
		   uint64_t time_ns);

#endif
