/* stats.h - several runs of a program: a table of mean ± sd, and function_stats.json. */
#ifndef FAH_REPORT_STATS_H
#define FAH_REPORT_STATS_H

#include "model/stats.h"
#include "report/report.h"

/* One table a program. Of o: width, colour, utf8, top, floor. */
int fah_report_stats(FILE *out, const struct fah_stats *s, const struct fah_report_options *o);
/* All functions with all numbers. made_ns: now, UTC. */
int fah_report_stats_json(FILE *out, const struct fah_stats *s, uint64_t made_ns);

#endif
