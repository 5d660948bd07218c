/*
 * toml.h - read TOML 1.0, all of it: a document becomes a tree of values that know where they
 * stand.
 *
 * Only reads. What the text says is not trusted; a document that breaks a rule gives one error,
 * with line and column. Two limits beside the standard's: integers are of 64 bits (as it allows),
 * and nothing is nested deeper than FAH_TOML_DEPTH_MAX.
 */
#ifndef FAH_BASE_TOML_H
#define FAH_BASE_TOML_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_TOML_DEPTH_MAX 100		/* of arrays and inline tables; of the parts of one key */
#define FAH_TOML_MAX ((size_t)16 << 20) /* bytes of a document */

enum fah_toml_type {
	FAH_TOML_STRING,
	FAH_TOML_INTEGER,
	FAH_TOML_FLOAT,
	FAH_TOML_BOOLEAN,
	FAH_TOML_DATETIME, /* with an offset */
	FAH_TOML_LOCAL_DATETIME,
	FAH_TOML_LOCAL_DATE,
	FAH_TOML_LOCAL_TIME,
	FAH_TOML_ARRAY,
	FAH_TOML_TABLE,
};

struct fah_toml_pos {
	uint32_t line, column; /* from 1; columns are characters */
};

struct fah_toml_time { /* what a type does not have is 0 */
	int year, month, day, hour, minute, second;
	uint32_t nanoseconds; /* finer digits are cut off */
	int offset_minutes;   /* east of UTC */
};

/* A value. Arrays and tables hold theirs in the order of the text. */
struct fah_toml {
	enum fah_toml_type type;
	const char *key; /* of a table's member, with a NUL behind it; else NULL */
	size_t key_len;	 /* a key may hold NUL bytes */
	/* Of the key, where there is one (of a table the header that defines it), else of the
	 * value. */
	struct fah_toml_pos at;
	struct fah_toml *next; /* in the same array or table */
	union {
		struct {
			const char *s; /* UTF-8, with a NUL behind it */
			size_t len;
		} string;
		int64_t integer;
		double number;
		bool boolean;
		struct fah_toml_time time;
		struct {
			struct fah_toml *first, *last;
			size_t n;
		} items;
	};
	/* What may still be added to it; for the parser only. */
	uint32_t id;
	bool header, dotted, frozen;
};

struct fah_toml_error {
	struct fah_toml_pos at;
	char text[256]; /* one line, no full stop; harmless on a terminal */
};

struct fah_toml_doc {
	struct fah_arena arena;
	struct fah_toml root; /* a table */
};

/*
 * The text (len bytes; no NUL needed) as a document, which keeps nothing of it. FAH_ERR_FORMAT: it
 * is no TOML, *ret_error says where and why. FAH_ERR_RANGE: longer than FAH_TOML_MAX.
 * FAH_ERR_NOMEM. The caller releases *doc either way.
 */
int fah_toml_parse(struct fah_toml_doc *doc, const char *text, size_t len,
		   struct fah_toml_error *ret_error);
void fah_toml_release(struct fah_toml_doc *doc); /* also for _cleanup_, on a zeroed struct */

/* A table's member; NULL: there is none, or it is no table. */
const struct fah_toml *fah_toml_get(const struct fah_toml *table, const char *key);
/* "a string", "an array": for sentences. */
const char *fah_toml_type_words(enum fah_toml_type type);

#endif
