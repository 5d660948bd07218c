/* memory_timeline.h - heap, RSS, swap, the control group and the machine's memory, row by row on
 * one axis of time; and how near that came to a limit. */
#ifndef FAH_REPORT_MEMORY_TIMELINE_H
#define FAH_REPORT_MEMORY_TIMELINE_H

#include "base/json.h"
#include "model/memory.h"
#include "report/text.h"

void fah_memory_timeline(struct fah_text *t, const struct fah_memory_timeline *memory);
/* The same and every point, under the key "memory_timeline". */
void fah_memory_timeline_json(struct fah_json *j, const struct fah_profile *p,
			      const struct fah_memory_timeline *memory);

#endif
