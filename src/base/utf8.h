/*
 * utf8.h - UTF-8 text in columns of a terminal. Independent of the locale. Bytes that are no UTF-8
 * count one column each, as terminals show them.
 */
#ifndef FAH_BASE_UTF8_H
#define FAH_BASE_UTF8_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* The character at s (len > 0 bytes), its length through *ret_len. A byte that begins no valid
 * sequence gives -1 and length 1. Overlong forms, surrogates and numbers above U+10FFFF are not
 * valid. */
int32_t fah_utf8_decode(const char *s, size_t len, size_t *ret_len);

/* Append a character. */
void fah_utf8_add(struct fah_strbuf *sb, uint32_t c);

/* Columns of one character: 0 (combining, zero-width, control), 1 or 2. */
int fah_char_width(int32_t c);

/* Columns of a string: the sum over its characters, as most terminals count (also joined emoji). */
size_t fah_utf8_width(const char *s, size_t len);

/* Bytes of the longest head of s that fits into columns; no character loses its marks. */
size_t fah_utf8_fit(const char *s, size_t len, size_t columns);

/*
 * Append s cut to at most columns: if it is longer, its head and an ellipsis ("…", or "..." where
 * ascii). _tail keeps the end instead (for paths). Where there is no room for the ellipsis, it is
 * cut as well.
 */
void fah_utf8_cut(struct fah_strbuf *sb, const char *s, size_t len, size_t columns, bool ascii);
void fah_utf8_cut_tail(struct fah_strbuf *sb, const char *s, size_t len, size_t columns,
		       bool ascii);

/* Append s and then spaces up to columns (_left), or spaces first (_right). Longer text stays
 * whole. */
void fah_utf8_pad_left(struct fah_strbuf *sb, const char *s, size_t len, size_t columns);
void fah_utf8_pad_right(struct fah_strbuf *sb, const char *s, size_t len, size_t columns);

/* Append s with every character outside ASCII as '?', one for each column it takes: for terminals
 * without UTF-8, so that columns stay straight. */
void fah_utf8_to_ascii(struct fah_strbuf *sb, const char *s, size_t len);

#endif
