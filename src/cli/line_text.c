/* line_text.c - see line_text.h. */
#include "cli/line_text.h"

#include <string.h>

size_t fah_line_text_before(const struct fah_line_text *l, size_t at)
{
	while (at && ((unsigned char)fah_line_text_str(l)[--at] & 0xc0) == 0x80)
		;
	return at;
}

size_t fah_line_text_behind(const struct fah_line_text *l, size_t at)
{
	if (at < l->s.len)
		at++;
	while (at < l->s.len && ((unsigned char)fah_line_text_str(l)[at] & 0xc0) == 0x80)
		at++;
	return at;
}

void fah_line_text_insert(struct fah_line_text *l, const char *s, size_t len)
{
	if (!fah_strbuf_reserve(&l->s, len))
		return;
	memmove(l->s.p + l->at + len, l->s.p + l->at, l->s.len - l->at);
	memcpy(l->s.p + l->at, s, len);
	l->s.len += len;
	l->s.p[l->s.len] = '\0';
	l->at += len;
}

void fah_line_text_cut(struct fah_line_text *l, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(l->s.p + from, l->s.p + to, l->s.len - to);
	fah_strbuf_truncate(&l->s, l->s.len - (to - from));
	l->at = from;
}

void fah_line_text_replace(struct fah_line_text *l, const char *s)
{
	fah_strbuf_truncate(&l->s, 0);
	l->at = 0;
	fah_line_text_insert(l, s, strlen(s));
}

size_t fah_line_text_word(const struct fah_line_text *l)
{
	size_t at = l->at;

	while (at && fah_line_text_str(l)[at - 1] == ' ')
		at--;
	while (at && fah_line_text_str(l)[at - 1] != ' ')
		at--;
	return at;
}
