/*
 * sink.h - the file below the writer: whole records in, a file that is whole at every moment out.
 * Internal to src/capture. One thread.
 */
#ifndef FAH_CAPTURE_SINK_H
#define FAH_CAPTURE_SINK_H

#include "base/strbuf.h"
#include "capture/format.h"
#include "capture/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Kept free on the disk from the start, so that the end of a run fits on a disk that filled up. */
#define FAH_SINK_RESERVE (64u << 10)
/* Of it, for END alone: a capture without one has no name. */
#define FAH_SINK_END 128u
/* Definitions that wait for space: beyond this the sink gives up and only counts. */
#define FAH_SINK_OWED_MAX (32u << 20)

struct fah_sink {
	int fd;
	char *path, *partial;
	uint64_t size;	   /* whole records in the file end here */
	uint64_t reserved; /* bytes that the file system has promised, from the start of the file */
	bool no_reserve;   /* this file system gives no promises */
	bool given_up;
	struct fah_strbuf out; /* whole records that wait to be written */
	struct fah_write_loss loss;
};

/* As fah_writer_new; the head is written at once. */
int fah_sink_open(struct fah_sink *s, const char *path);
/* A record for the next flush; a full buffer flushes itself. */
void fah_sink_record(struct fah_sink *s, enum fah_record_type type, const void *payload,
		     size_t len);
/* Write what waits. What does not fit: samples and drops are lost and counted, the rest waits. */
void fah_sink_flush(struct fah_sink *s);
/* The same with the reserve, but for `keep` bytes of it: nothing waits after it. */
void fah_sink_flush_last(struct fah_sink *s, uint64_t keep);
/* Give the file its name. FAH_ERR_SYS, FAH_ERR_EXISTS: it stays partial. */
int fah_sink_commit(struct fah_sink *s);
/* Without commit the partial file stays. */
void fah_sink_release(struct fah_sink *s);

#endif
