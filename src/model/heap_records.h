/*
 * heap_records.h - the blocks of memory of a capture, in the order of the file, which is that of
 * time for each thread alone. Ids are the capture's: processes and threads count from 1.
 */
#ifndef FAH_MODEL_HEAP_RECORDS_H
#define FAH_MODEL_HEAP_RECORDS_H

#include "capture/reader.h"

struct fah_heap_records {
	struct fah_rec_alloc *allocs;
	struct fah_rec_free *frees;
	struct fah_rec_heap *states;
	struct fah_rec_copy *copies;
	size_t n_allocs, n_frees, n_states, n_copies;
	size_t cap_allocs, cap_frees, cap_states, cap_copies;
};

#endif
