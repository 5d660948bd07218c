/*
 * json_read.h - read JSON into a tree of values. All of it lives in the caller's arena, and strings
 * that need no decoding in the text itself, which must outlive the tree.
 *
 * As Python's reader: NaN and Infinity are numbers, of equal keys the last counts; but not deeper
 * than FAH_JSON_DEPTH. Text is UTF-8; half a surrogate pair becomes U+FFFD.
 */
#ifndef FAH_BASE_JSON_READ_H
#define FAH_BASE_JSON_READ_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define FAH_JSON_DEPTH 256 /* objects and arrays inside each other */

enum fah_json_type {
	FAH_JSON_NULL,
	FAH_JSON_BOOL,
	FAH_JSON_NUMBER,
	FAH_JSON_STRING,
	FAH_JSON_ARRAY,
	FAH_JSON_OBJECT,
};

/* Not NUL-terminated; may hold NULs. */
struct fah_json_text {
	const char *p;
	size_t len;
};

struct fah_json_value {
	enum fah_json_type type;
	bool truth;			    /* of a BOOL */
	double number;			    /* of a NUMBER */
	struct fah_json_text string;	    /* of a STRING */
	struct fah_json_text key;	    /* where it stands in an object */
	const struct fah_json_value *first; /* of an ARRAY or OBJECT; NULL: it is empty */
	const struct fah_json_value *next;  /* behind it in the same */
	size_t n;			    /* how many it holds */
};

/* Where a text is no JSON, and why. */
struct fah_json_error {
	size_t line, column; /* from 1; columns are bytes */
	const char *what;    /* "a comma or ] is missing" */
};

/* 0; FAH_ERR_FORMAT: not JSON, *ret_error says where; FAH_ERR_NOMEM. */
int fah_json_read(struct fah_arena *arena, const char *text, size_t len,
		  const struct fah_json_value **ret, struct fah_json_error *ret_error);

/* A member of an object; NULL where there is none, or object is NULL or something else. */
const struct fah_json_value *fah_json_get(const struct fah_json_value *object, const char *key);
/* Is it (also NULL) a string, and that one? */
bool fah_json_is(const struct fah_json_value *value, const char *text);

#endif
