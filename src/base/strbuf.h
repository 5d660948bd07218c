/*
 * strbuf.h - a growing string. When memory ends `failed` is set and stays set, the text keeps what
 * it has, further additions do nothing: check once, when done.
 */
#ifndef FAH_BASE_STRBUF_H
#define FAH_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct fah_strbuf {
	char *p; /* NULL while empty; else ends in NUL, which len does not count */
	size_t len, cap;
	bool failed;
};

#define FAH_STRBUF_INIT \
	{ \
		NULL, 0, 0, false \
	}

void fah_strbuf_add(struct fah_strbuf *sb, const void *data, size_t len);
void fah_strbuf_adds(struct fah_strbuf *sb, const char *s);
void fah_strbuf_addc(struct fah_strbuf *sb, char c);
void fah_strbuf_fill(struct fah_strbuf *sb, char c, size_t n); /* n times c */
void fah_strbuf_addf(struct fah_strbuf *sb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fah_strbuf_addv(struct fah_strbuf *sb, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Text from outside: control characters, direction marks, backslashes and bytes that are no UTF-8
 * become \n, \t, \xNN, \uNNNN, \\: safe on a terminal, one line. */
void fah_strbuf_add_printable(struct fah_strbuf *sb, const char *s, size_t len);

/* Room for n more bytes (and the NUL) at p + len; false: no memory. */
bool fah_strbuf_reserve(struct fah_strbuf *sb, size_t n);
void fah_strbuf_truncate(struct fah_strbuf *sb, size_t len); /* len <= sb->len */

/* Never NULL; borrowed until the next change. */
static inline const char *fah_strbuf_str(const struct fah_strbuf *sb)
{
	return sb->p ? sb->p : "";
}

/* The text itself, which the caller frees; NULL where memory ended at any time. sb is empty after.
 */
char *fah_strbuf_take(struct fah_strbuf *sb);
void fah_strbuf_release(struct fah_strbuf *sb); /* usable again after; also for _cleanup_ */

#endif
