/* calls_output.h - what `calls` leaves and prints of the calls that it was told of. */
#ifndef FAH_CLI_CALLS_OUTPUT_H
#define FAH_CLI_CALLS_OUTPUT_H

#include "model/exact.h"
#include "model/profile.h"
#include "report/pstats.h"

#define FAH_CALLS_FOLDER ".profile_data"
#define FAH_CALLS_PATH_MAX 512

struct fah_calls_output {
	const char *file;   /* Python's stats format; NULL: the report is printed instead */
	const char *saved;  /* the start of a path in FAH_CALLS_FOLDER: <saved>.prof; NULL: none */
	const char *script; /* what ran, for people */
	struct fah_pstats_order order;
	const char *picture; /* an svg of the calls, to be opened; NULL: none */
	bool pretty;	     /* the tree in place of the report */
	bool per_process;    /* one report, or file, each */
};

/* The folder for what is kept, and a name in it that is new: <script>_<UTC time>, into buf. 0, or
 * an exit status after printing why not. */
int fah_calls_keep(const char *script, char *buf, size_t cap);

/* All of it. 0, or an exit status after printing what went wrong. */
int fah_calls_show(const struct fah_calls_output *o, const struct fah_profile *p);

#endif
