/*
 * pickle.h - plain values in a Python pickle: numbers, texts, tuples, lists, dictionaries, and
 * objects as the name of their class with their state. Nothing is ever imported or called: what
 * would need that is an error. Protocols 2 to 5. Untrusted input.
 */
#ifndef FAH_IMPORT_PICKLE_H
#define FAH_IMPORT_PICKLE_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum fah_pickle_kind {
	FAH_PICKLE_NONE,
	FAH_PICKLE_INT, /* also True and False; beyond 64 bits it is a float */
	FAH_PICKLE_FLOAT,
	FAH_PICKLE_TEXT, /* str or bytes */
	FAH_PICKLE_TUPLE,
	FAH_PICKLE_LIST,
	FAH_PICKLE_DICT, /* items: key, value, key, value, ... */
	FAH_PICKLE_CLASS,
	FAH_PICKLE_OBJECT,
};

/* May hold itself: who walks it bounds the depth. */
struct fah_pickle {
	enum fah_pickle_kind kind;
	int64_t number;
	double real;
	const char *text; /* of a class: its name; borrowed from the bytes, without a NUL */
	size_t len;
	const char *module; /* of a class: likewise */
	size_t module_len;
	struct fah_pickle **items; /* n of them */
	size_t n, cap;
	struct fah_pickle *of;	  /* an object's class */
	struct fah_pickle *state; /* and what it was given; NULL: nothing */
};

/* *ret lives as long as arena and data. FAH_ERR_FORMAT: it is none, or has more than plain values;
 * FAH_ERR_NOMEM. */
int fah_pickle_read(struct fah_arena *arena, const uint8_t *data, size_t len,
		    const struct fah_pickle **ret);

/* The value of that key in a dictionary of texts; NULL: there is none, or it is no dictionary. */
const struct fah_pickle *fah_pickle_get(const struct fah_pickle *dict, const char *key);
/* An int or float as such; 0 where it is neither. */
double fah_pickle_number(const struct fah_pickle *v);

#endif
