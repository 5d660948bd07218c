/*
 * records.h - records of a segment that are no samples: counts, lines, memory. One table; a new
 * type is a function and a line there.
 */
#ifndef FAH_COLLECT_RECORDS_H
#define FAH_COLLECT_RECORDS_H

#include "collect/modules.h"
#include "collect/process.h"
#include "core/varint.h"

struct fah_writer;

/* All borrowed. */
struct fah_taking {
	struct fah_writer *w;
	struct fah_modules *modules;
	struct fah_stack_stats *stacks;
	uint64_t start_mono_ns; /* of the run */
	struct fah_collected *p;
	struct fah_chunk_ctx *ctx;
	bool write; /* false: an earlier collector has; only what follows from it is noted */
};

/* Takes a record's payload into the capture. False: it is of none of these types. */
bool fah_records_take(const struct fah_taking *t, int type, struct fah_cursor *cur);

/* What is not in a record: calls of a code id, by whom as in FAH_SEG_TIMED; and lines of
 * lines->code. Not written where the code is not known. */
struct fah_rec_timed;
struct fah_rec_lines;
void fah_records_timed(struct fah_collected *p, struct fah_writer *w, uint32_t callee, uint64_t by,
		       struct fah_rec_timed *r);
void fah_records_lines(struct fah_collected *p, struct fah_writer *w, struct fah_rec_lines *lines);

#endif
