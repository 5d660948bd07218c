/*
 * about.h - what the capture says of the run itself: META, in the keys of doc/format.md.
 */
#ifndef FAH_COLLECT_ABOUT_H
#define FAH_COLLECT_ABOUT_H

#include "capture/writer.h"
#include "collect/clocks.h"
#include "collect/drain.h"
#include "collect/run.h"
#include "collect/session.h"
#include "collect/waits.h"

/* At the start: who, how and when. perf: what the kernel said of its clock. */
void fah_about_run(struct fah_writer *w, const struct fah_session *s,
		   const struct fah_run_options *opt, const struct fah_clocks_leave *perf,
		   uint64_t start_mono, uint64_t start_real);
/* How many native stacks were joined with the Python ones, and what all of it cost; view_cpu_ns:
 * beside the collector's own. */
void fah_about_costs(struct fah_writer *w, const struct fah_drain_stats *stats,
		     uint64_t view_cpu_ns);
/* What looking at memory from outside took. */
struct fah_memory_looks;
void fah_about_looks(struct fah_writer *w, const struct fah_memory_looks *looks);
/* Processes of which something is missing: outlived, what they do from here on; unrecorded, all. */
void fah_about_missing(struct fah_writer *w, const char *key, uint64_t n);
/* No process was met: why, by the limits that the program has as we do; where it is for those. */
void fah_about_silence(struct fah_writer *w, const struct fah_drain_stats *stats);
/* How sure the waits are; for whoever asks later. */
void fah_about_waits(struct fah_writer *w, const struct fah_waits_stats *s);
void fah_about_clocks(struct fah_writer *w, const struct fah_clocks_stats *s);

#endif
