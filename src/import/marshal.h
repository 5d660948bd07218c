/*
 * marshal.h - values of Python's marshal format, read into an arena.
 *
 * What any CPython from 3.4 on writes; of code objects (from 3.8 on), which files of the module
 * profile have as a function's name, only what they are called. Files are untrusted.
 */
#ifndef FAH_IMPORT_MARSHAL_H
#define FAH_IMPORT_MARSHAL_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

#define FAH_MARSHAL_DEPTH_MAX 64

enum fah_marshal_type {
	FAH_MARSHAL_NOTHING, /* None, Ellipsis, StopIteration; complex numbers and slices */
	FAH_MARSHAL_BOOL,    /* integer: 0 or 1 */
	FAH_MARSHAL_INTEGER,
	FAH_MARSHAL_HUGE, /* an integer that no int64 holds; number: about */
	FAH_MARSHAL_NUMBER,
	FAH_MARSHAL_TEXT,  /* UTF-8, in which surrogates may stand */
	FAH_MARSHAL_BYTES, /* as text */
	FAH_MARSHAL_ITEMS, /* tuple, list, set, frozenset */
	FAH_MARSHAL_CODE,
	FAH_MARSHAL_DICT, /* items: key, value, key, value; n of both together */
};

struct fah_marshal {
	enum fah_marshal_type type;
	union {
		int64_t integer;
		double number;
		struct {
			const char *p; /* borrowed from the data; no NUL behind it */
			size_t len;
		} text;
		struct {
			const struct fah_marshal **p;
			size_t n;
		} items;
		struct {
			const struct fah_marshal *file, *name;
			int32_t line;
		} code;
	};
};

/*
 * One value from the data's beginning; what stands behind it is not looked at, as by Python. It
 * points into data and lives in the arena. FAH_ERR_FORMAT: no marshal. FAH_ERR_DAMAGED: the data
 * ends too early. FAH_ERR_RANGE: nested deeper than FAH_MARSHAL_DEPTH_MAX. FAH_ERR_NOMEM.
 */
int fah_marshal_read(struct fah_arena *arena, const void *data, size_t len,
		     const struct fah_marshal **ret);

#endif
