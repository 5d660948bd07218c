/* memory_records.h - MEMORY records as they were read; for the files of this folder only. */
#ifndef FAH_MODEL_MEMORY_RECORDS_H
#define FAH_MODEL_MEMORY_RECORDS_H

#include "capture/reader.h"

struct fah_memory_records {
	struct fah_rec_memory *points; /* in file order; by memory.c: by process, then time */
	size_t n, cap;
};

/* Of one point: the high-water mark, or where that is not known the resident set. */
uint64_t fah_memory_point_high(const struct fah_rec_memory *point);

#endif
