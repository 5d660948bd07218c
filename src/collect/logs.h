/*
 * logs.h - logs.log: the records and warnings that agents hand over, in the order of their times.
 * Runs in the collector; the file is made when the first one comes.
 */
#ifndef FAH_COLLECT_LOGS_H
#define FAH_COLLECT_LOGS_H

#include "capture/writer.h"
#include "core/varint.h"

#include <stdint.h>

struct fah_logs; /* opaque */

/* start_mono_ns, start_real_ns: the same moment on both clocks. pid: the program's; what other
 * processes log says whose it is. 0 or FAH_ERR_NOMEM; the caller owns *ret. */
int fah_logs_new(const char *path, uint64_t start_mono_ns, uint64_t start_real_ns, uint32_t pid,
		 struct fah_logs **ret);
/* A record of enum fah_seg_record FAH_SEG_LOG, behind its time; what is damaged is left out. */
void fah_logs_take(struct fah_logs *l, uint32_t pid, uint64_t mono_ns, struct fah_cursor *cur);
/* What was taken since the last time goes to the file. */
void fah_logs_flush(struct fah_logs *l);
void fah_logs_lost(struct fah_logs *l, uint64_t n); /* of a process that has ended */
/* Closes the file and says in META how many there are: log_records, log_warnings, log_errors,
 * logs_lost; logs_note: which module could not be listened to, and why; logs_failed: why the file
 * is not whole. Those that are 0 or empty are left out. */
void fah_logs_finish(struct fah_logs *l, struct fah_writer *w);
void fah_logs_free(struct fah_logs *l); /* NULL is fine */

#endif
