/*
 * record_result.h - after a recording: its result, and a few lines on stderr that say what there
 * is.
 */
#ifndef FAH_CLI_RECORD_RESULT_H
#define FAH_CLI_RECORD_RESULT_H

#include "collect/run.h"

#include <stdbool.h>

/* What was recorded, where it is and what to do with it; nothing where that cannot be read. */
void fah_record_closing(const struct fah_run_result *result);

#endif
