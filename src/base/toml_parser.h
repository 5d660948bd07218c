/* toml_parser.h - what the files of the TOML reader share; for them only. */
#ifndef FAH_BASE_TOML_PARSER_H
#define FAH_BASE_TOML_PARSER_H

#include "base/map.h"
#include "base/toml.h"

#include <locale.h>

struct fah_toml_parser {
	struct fah_arena *arena;
	/* The text, with "\n" for every "\r\n", and a NUL behind it, so that p may always be read.
	 */
	const char *text, *p, *end;
	/* Where positions were last asked for: they mostly come in order. */
	const char *counted;
	struct fah_toml_pos counted_at;
	struct fah_toml_error *error;
	struct fah_strmap members; /* a table's id and a key -> index + 1 into all[] */
	struct fah_toml **all;	   /* from malloc */
	size_t n, cap;
	int depth;
	locale_t c_locale; /* (locale_t)0: not made yet */
};

/* One part of a dotted key. */
struct fah_toml_part {
	const char *s; /* with a NUL behind it */
	size_t len;
	const char *at;
};

struct fah_toml_pos fah_toml_where(struct fah_toml_parser *ps, const char *at);
/* Sets the error, at a place in the text; returns FAH_ERR_FORMAT. %s of the text's own must be
 * made harmless by the caller: fah_toml_show. */
int fah_toml_fail(struct fah_toml_parser *ps, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Text from the document for a message: escaped, cut to some 40 columns. */
struct fah_toml_shown {
	char s[64];
};
struct fah_toml_shown fah_toml_show(const char *s, size_t len);

void fah_toml_skip_blanks(struct fah_toml_parser *ps); /* spaces and tabs */
/* Blanks, newlines and comments, as between the values of an array. */
int fah_toml_skip_lines(struct fah_toml_parser *ps);
int fah_toml_skip_comment(struct fah_toml_parser *ps); /* one, where there is one */

/* A control character that may stand nowhere but in a newline. */
static inline bool fah_toml_is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

/* A string in any of its four forms, at its quote. With one_line only the two short ones. */
int fah_toml_string(struct fah_toml_parser *ps, bool one_line, const char **ret, size_t *ret_len);
/* parts[FAH_TOML_DEPTH_MAX]; *ret_n of them. */
int fah_toml_key(struct fah_toml_parser *ps, struct fah_toml_part *parts, int *ret_n);
/* Number, boolean, date or time: a word without quotes. */
int fah_toml_word(struct fah_toml_parser *ps, struct fah_toml *value);
/* Any value. */
int fah_toml_value(struct fah_toml_parser *ps, struct fah_toml *value);
/* KEY = VALUE into a table. */
int fah_toml_pair(struct fah_toml_parser *ps, struct fah_toml *table);

/* A new, empty value at the end of an array or table; NULL: no memory. */
struct fah_toml *fah_toml_append(struct fah_toml_parser *ps, struct fah_toml *parent,
				 const struct fah_toml_part *key);

#endif
