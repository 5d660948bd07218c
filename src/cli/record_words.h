/* record_words.h - the few lines that close a recording. All numbers come from the capture. */
#ifndef FAH_CLI_RECORD_WORDS_H
#define FAH_CLI_RECORD_WORDS_H

#include "export/export.h"

#include <stdio.h>

/* How much was recorded and how well, or why nothing was; how the program ended. */
void fah_record_say_samples(FILE *out, const struct fah_profile *p);
/* Where the capture is, and what to do with it. */
void fah_record_say_capture(FILE *out, const char *path);
void fah_record_say_export(FILE *out, const char *path, const struct fah_export *format);

#endif
