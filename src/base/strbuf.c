/*
 * strbuf.c - a growing string with a sticky failure. Does not print, does not exit.
 */
#include "base/strbuf.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fah_strbuf_reserve(struct fah_strbuf *sb, size_t n)
{
	size_t need, cap;
	char *p;

	if (sb->failed)
		return false;
	if (__builtin_add_overflow(sb->len, n, &need) || __builtin_add_overflow(need, 1, &need)) {
		sb->failed = true;
		return false;
	}
	if (need <= sb->cap)
		return true;
	cap = sb->cap ? sb->cap : 64;
	while (cap < need)
		cap = cap > need / 2 ? need : cap * 2;
	if (cap < sb->cap * 2) /* keep appending linear also when the need is just above */
		cap = sb->cap * 2;
	p = realloc(sb->p, cap);
	if (!p) {
		sb->failed = true;
		return false;
	}
	p[sb->len] = '\0';
	sb->p = p;
	sb->cap = cap;
	return true;
}

void fah_strbuf_add(struct fah_strbuf *sb, const void *data, size_t len)
{
	if (!len || !fah_strbuf_reserve(sb, len))
		return;
	memcpy(sb->p + sb->len, data, len);
	sb->len += len;
	sb->p[sb->len] = '\0';
}

void fah_strbuf_adds(struct fah_strbuf *sb, const char *s)
{
	fah_strbuf_add(sb, s, strlen(s));
}

void fah_strbuf_addc(struct fah_strbuf *sb, char c)
{
	fah_strbuf_add(sb, &c, 1);
}

void fah_strbuf_fill(struct fah_strbuf *sb, char c, size_t n)
{
	if (!n || !fah_strbuf_reserve(sb, n))
		return;
	memset(sb->p + sb->len, c, n);
	sb->len += n;
	sb->p[sb->len] = '\0';
}

void fah_strbuf_addv(struct fah_strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		sb->failed = true;
		return;
	}
	if (!fah_strbuf_reserve(sb, (size_t)n))
		return;
	vsnprintf(sb->p + sb->len, (size_t)n + 1, fmt, ap);
	sb->len += (size_t)n;
}

void fah_strbuf_addf(struct fah_strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fah_strbuf_addv(sb, fmt, ap);
	va_end(ap);
}

/* C1 controls move the cursor of some terminals, direction marks make text read as something else.
 */
static bool unprintable(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void fah_strbuf_add_printable(struct fah_strbuf *sb, const char *s, size_t len)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		int32_t c = fah_utf8_decode(s + i, len - i, &n);

		if (c < 0)
			fah_strbuf_addf(sb, "\\x%02x", (unsigned char)s[i]);
		else if (c == '\n')
			fah_strbuf_adds(sb, "\\n");
		else if (c == '\t')
			fah_strbuf_adds(sb, "\\t");
		else if (c == '\r')
			fah_strbuf_adds(sb, "\\r");
		else if (c == '\\')
			fah_strbuf_adds(sb, "\\\\");
		else if (unprintable(c))
			fah_strbuf_addf(sb, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
		else
			fah_strbuf_add(sb, s + i, n);
	}
}

void fah_strbuf_truncate(struct fah_strbuf *sb, size_t len)
{
	if (len >= sb->len)
		return;
	sb->len = len;
	sb->p[len] = '\0';
}

char *fah_strbuf_take(struct fah_strbuf *sb)
{
	char *p;

	fah_strbuf_reserve(sb, 0); /* an empty text is "", not NULL */
	if (sb->failed) {
		fah_strbuf_release(sb);
		return NULL;
	}
	p = sb->p;
	*sb = (struct fah_strbuf)FAH_STRBUF_INIT;
	return p;
}

void fah_strbuf_release(struct fah_strbuf *sb)
{
	free(sb->p);
	*sb = (struct fah_strbuf)FAH_STRBUF_INIT;
}
