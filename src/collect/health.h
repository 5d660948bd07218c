/*
 * health.h - what the samples of a process cost, from its segment's head into the capture.
 */
#ifndef FAH_COLLECT_HEALTH_H
#define FAH_COLLECT_HEALTH_H

#include "capture/writer.h"
#include "core/segment.h"

/* process: its id in the capture. The counts as they are now; for a process that has ended. */
void fah_health_write(struct fah_writer *w, uint32_t process, const struct fah_segment_head *head);

#endif
