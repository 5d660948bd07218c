/* walk_internal.h - between the files of the walk: walk.c, walk_frameobject.c, walk_iframe.c. */
#ifndef FAH_CPYTHON_WALK_INTERNAL_H
#define FAH_CPYTHON_WALK_INTERNAL_H

#include "core/err.h"
#include "cpython/walk.h"

#include <string.h>

static inline uint64_t fah_py_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static inline int32_t fah_py_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* Gives the walk up: always FAH_ERR_DOUBT. */
static inline int fah_py_walk_doubt(struct fah_py_walk *w, enum fah_py_doubt why)
{
	w->doubt = why;
	return FAH_ERR_DOUBT;
}

/*
 * The bytes [addr - before, addr + after) of something outside the data stack, read together with what
 * followed it in the last walk. NULL: cannot be read. Borrowed until the next call.
 */
const uint8_t *fah_py_far_read(struct fah_py_walk *w, uint64_t addr, uint32_t before, uint32_t after);

/* The code objects of pending[0..n) into batch[0..n), read in one go. 0 or FAH_ERR_DOUBT. */
int fah_py_codes_read(struct fah_py_walk *w, int n);

/* One code object, off the hot path. */
int fah_py_code_read_one(struct fah_py_walk *w, uint64_t code, struct fah_py_code_seen *ret);

/* Whether type is the type of that name; *known (0 at first) remembers the answer. */
bool fah_py_type_is(struct fah_py_walk *w, uint64_t type, uint64_t *known, const char *name);

/* Takes a proved frame into the result, where there is room. */
void fah_py_walk_keep(struct fah_py_walk *w, const struct fah_py_code_seen *code, uint32_t instr,
		      uint32_t entry);

int fah_py_walk_objects(struct fah_py_walk *w, uint64_t tstate); /* 3.8-3.10 */
int fah_py_walk_iframes(struct fah_py_walk *w, uint64_t tstate); /* 3.11+ */

#endif
