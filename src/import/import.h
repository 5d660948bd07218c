/*
 * import.h - files of other profilers, made into captures, so that every view reads them.
 *
 * The tool's side. Files are untrusted: whatever is in them, a capture comes out or an error. A new
 * format: its file here, and a line in import.c.
 */
#ifndef FAH_IMPORT_IMPORT_H
#define FAH_IMPORT_IMPORT_H

#include "base/json_read.h"
#include "capture/reader.h"
#include "capture/writer.h"

/*
 * Open a file of another tool as a capture. The caller owns *ret (fah_reader_free).
 * FAH_ERR_FORMAT: none of the formats known. FAH_ERR_SYS, FAH_ERR_NOMEM, FAH_ERR_RANGE (too long).
 */
int fah_import_open(const char *path, struct fah_reader **ret);

/* scalene.c: `scalene --json`, of versions 1.5 to 2.4. Is it one? Then what is in it, into w. */
bool fah_import_is_scalene(const struct fah_json_value *json);
int fah_import_scalene(const struct fah_json_value *json, struct fah_writer *w,
		       struct fah_run_end *ret_end);

#endif
