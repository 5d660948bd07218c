/* calls_output.h - what `calls` leaves and prints of the calls that it was told of. */
#ifndef FAH_CLI_CALLS_OUTPUT_H
#define FAH_CLI_CALLS_OUTPUT_H

#include "model/exact.h"
#include "model/profile.h"
#include "report/pstats.h"

#define FAH_CALLS_FOLDER ".profile_data"
#define FAH_CALLS_PATH_MAX 512

struct fah_calls_output {
	const char *file;   /* Python's stats format; NULL: none */
	const char *kept;   /* the start of paths in FAH_CALLS_FOLDER, for what follows */
	bool save, picture; /* <kept>.prof; <kept>.svg, drawn and opened */
	const char *script; /* what ran, for people */
	struct fah_pstats_order order;
	bool quiet;	  /* the result is in a file that was asked for: no report */
	bool pretty;	  /* the tree: in place of the report, and also where there would be none */
	bool per_process; /* one of all that each */
};

/* The folder for what is kept, and a name in it that is new: <script>_<UTC time>, into buf. 0, or
 * an exit status after printing why not. */
int fah_calls_keep(const char *script, char *buf, size_t cap);

/* All of it. 0, or an exit status after printing what went wrong. */
int fah_calls_show(const struct fah_calls_output *o, const struct fah_profile *p);

#endif
