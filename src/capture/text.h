/*
 * text.h - records as text, for people who debug the format: one line a record, and below a block
 * one line for each of its nodes or samples. Text from the capture is made safe for a terminal.
 */
#ifndef FAH_CAPTURE_TEXT_H
#define FAH_CAPTURE_TEXT_H

#include "base/strbuf.h"
#include "capture/reader.h"

#include <stdint.h>

/* Counts the ids of a capture from its start. Zero it before the first record. */
struct fah_text {
	uint32_t strings, functions, nodes, processes, threads;
};

/* Append the record, with its newline. Records must come in file order. */
void fah_text_record(struct fah_text *t, const struct fah_record *rec, struct fah_strbuf *out);

/* "SAMPLES"; NULL: a type that this version does not know. */
const char *fah_record_name(unsigned type);

#endif
