/*
 * charset.h - text in the encodings that Python's sources may have, made UTF-8.
 *
 * Own tables, made at build from Python's codecs, instead of iconv: that loads a module of the
 * machine's glibc for each encoding, which machines may lack, and which ends a static program
 * (which is to run on other machines) by SIGABRT or SIGFPE where that glibc is another one: seen
 * with 2.31 and 2.41 under a program of 2.36. Python's own names and bytes come with it.
 */
#ifndef FAH_BASE_CHARSET_H
#define FAH_BASE_CHARSET_H

#include "base/strbuf.h"

#include <stddef.h>

struct fah_charset;

/* By one of Python's names, in any spelling that Python takes. NULL: UTF-8, ASCII, or not known. */
const struct fah_charset *fah_charset_find(const char *name, size_t len);

/* Append text, as UTF-8. Bytes that mean nothing become U+FFFD. */
void fah_charset_decode(const struct fah_charset *cs, struct fah_strbuf *sb, const char *text,
			size_t len);

#endif
