/* line_text.h - a line that is being typed, and the cursor in it. UTF-8; without memory it stays as
 * it is. */
#ifndef FAH_CLI_LINE_TEXT_H
#define FAH_CLI_LINE_TEXT_H

#include "base/strbuf.h"

struct fah_line_text {
	struct fah_strbuf s;
	size_t at; /* the cursor, in bytes */
};

static inline const char *fah_line_text_str(const struct fah_line_text *l)
{
	return fah_strbuf_str(&l->s);
}

/* The start of the character before a place, and of the one behind it; at the ends, the end. */
size_t fah_line_text_before(const struct fah_line_text *l, size_t at);
size_t fah_line_text_behind(const struct fah_line_text *l, size_t at);
/* Where the word before the cursor begins. */
size_t fah_line_text_word(const struct fah_line_text *l);

/* At the cursor, which is behind it then. */
void fah_line_text_insert(struct fah_line_text *l, const char *s, size_t len);
/* The cursor is there then. */
void fah_line_text_cut(struct fah_line_text *l, size_t from, size_t to);
void fah_line_text_replace(struct fah_line_text *l, const char *s);

#endif
