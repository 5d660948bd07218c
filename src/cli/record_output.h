/*
 * record_output.h - where a recording goes: a capture, or an export with its capture beside it,
 * kept or not.
 */
#ifndef FAH_CLI_RECORD_OUTPUT_H
#define FAH_CLI_RECORD_OUTPUT_H

#include "cli/export.h"
#include "collect/run.h"

#define FAH_OUTPUT_MAX 4096

struct fah_record_output {
	/* as asked for; NULL: not */
	const char *file, *format_name;
	bool keep;
	struct fah_view view;
	/* what it comes to */
	const struct fah_export *format;  /* NULL: the capture is the result */
	bool to_stdout;			  /* of the export */
	char export_path[FAH_OUTPUT_MAX]; /* "": named after the program's pid */
	char capture[FAH_OUTPUT_MAX];	  /* for fah_run_options.capture_path, and */
	bool add_pid;			  /* .add_pid */
	char stem[FAH_OUTPUT_MAX];	  /* "./<name>" */
};

/*
 * Decide, and see that the files can be made. name: of the program. 0, or an exit status after
 * printing one line; nothing was made then.
 */
int fah_record_output_set(struct fah_record_output *o, const char *name);

/*
 * After the recording: the export, and into words a few lines that say what there is. Errors are
 * printed; a capture whose export failed is kept.
 */
void fah_record_output_finish(struct fah_record_output *o, const struct fah_run_result *result,
			      FILE *words);

#endif
