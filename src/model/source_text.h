/*
 * source_text.h - the text of a Python source as the compiler reads it: UTF-8, lines that end in
 * \n.
 * Whoever reads a source's lines or names does so through this, so that both see the same.
 */
#ifndef FAH_MODEL_SOURCE_TEXT_H
#define FAH_MODEL_SOURCE_TEXT_H

#include <stddef.h>

/*
 * A source file's bytes with a NUL behind them, as fah_file_read gives them, made UTF-8 by their
 * cookie (PEP 263); *data is freed and replaced where need be. A byte order mark is taken off.
 * Bytes in an encoding that is not known stay as they are. FAH_ERR_NOMEM: *data is as it was.
 */
int fah_source_text_decode(char **data, size_t *len);

/* \r\n and \r made \n, in place: Python's universal newlines. data has a NUL behind it. */
void fah_source_text_newlines(char *data, size_t *len);

#endif
