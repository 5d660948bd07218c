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
 * The bytes [addr - before, addr + after) of something outside the data stack, read together with
 * what followed it in the last walk. NULL: cannot be read. Borrowed until the next call.
 */
const uint8_t *fah_py_far_read(struct fah_py_walk *w, uint64_t addr, uint32_t before,
			       uint32_t after);

/* The code objects of pending[0..n) into batch[0..n), read in one go. 0 or FAH_ERR_DOUBT. */
int fah_py_codes_read(struct fah_py_walk *w, int n);

#define FAH_PY_CODE_LEN_MAX (1u << 28)

/*
 * What is needed of a code object, out of raw, its head; false: it cannot be one. Up to 3.10 the
 * length of its instructions stands elsewhere: code_len 0 has it still to be taken. The ident is
 * without what the names say.
 */
bool fah_py_code_take(const struct fah_py_layout *l, uint64_t addr, const uint8_t *raw,
		      struct fah_py_code_seen *ret);
static inline uint64_t fah_py_code_len_at(const struct fah_py_layout *l,
					  const struct fah_py_code_seen *code)
{
	return code->code_bytes - l->bytes_data + l->ob_size;
}
bool fah_py_code_take_len(struct fah_py_code_seen *code, uint64_t size);

/* CO_GENERATOR, CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR */
#define FAH_PY_CODE_RESUMABLE 0x3a0u

/* The interpreter's own code around __init__ (3.13+): no function of the program. */
static inline bool fah_py_code_is_own(const struct fah_py_layout *l,
				      const struct fah_py_code_seen *code)
{
	return l->frames_kind == FAH_PY_FRAMES_DIRECT && code->flags & FAH_PY_CODE_NO_EVENTS;
}

/* 3.11+: where in its code a frame is, by the address that it has stored; false: nowhere. */
static inline bool fah_py_iframe_instr(const struct fah_py_layout *l,
				       const struct fah_py_code_seen *code, uint64_t stored,
				       bool generator, uint32_t *ret)
{
	int64_t offset = (int64_t)(stored - code->code_bytes);

	*ret = (uint32_t)offset;
	if (l->frames_kind == FAH_PY_FRAMES_CFRAME && offset == -2)
		*ret = FAH_PY_NOT_STARTED;
	else if (offset < 0 || offset >= code->code_len || offset & 1)
		return false;
	else if (!generator && (uint32_t)offset < code->firsttraceable)
		*ret = FAH_PY_NOT_STARTED;
	return true;
}

/* 3.8 to 3.10: likewise, by f_lasti. */
static inline bool fah_py_object_instr(const struct fah_py_layout *l,
				       const struct fah_py_code_seen *code, int32_t lasti,
				       uint32_t *ret)
{
	int64_t offset = (int64_t)lasti * l->lasti_scale;

	*ret = lasti < 0 ? FAH_PY_NOT_STARTED : (uint32_t)offset;
	return lasti < 0 ? lasti == -1 : offset < code->code_len;
}

/* One code object, off the hot path. */
int fah_py_code_read_one(struct fah_py_walk *w, uint64_t code, struct fah_py_code_seen *ret);

/* Whether type is the type of that name; *known (0 at first) remembers the answer. */
bool fah_py_type_is(struct fah_py_walk *w, uint64_t type, uint64_t *known, const char *name);

static inline uint64_t fah_py_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* walk_texts.c: the idents of batch[0..n) take in what the names say. */
void fah_py_texts_mix(struct fah_py_walk *w, int n);
/* The same of one code object, by plain loads: see walk_here.c. */
void fah_py_texts_mix_here(const struct fah_py_layout *l, struct fah_py_code_seen *code);

/* A new result; nothing that was read before is believed any more. */
void fah_py_walk_begin(struct fah_py_walk *w, const struct fah_mem *mem,
		       const struct fah_py_layout *layout);

/* Takes a proved frame into the result, where there is room. */
void fah_py_walk_keep(struct fah_py_walk *w, const struct fah_py_code_seen *code, uint32_t instr,
		      uint32_t entry);

/*
 * walk_gens.c: each generator that runs has its exception state in the thread's list of those. So
 * the list proves that no generator of the chain is missing: the data stack can't, they are not on
 * it. begin: before the chain; met: one of the chain, innermost first, its object at gen, raw: what
 * stands there; end: after the chain. 0 or FAH_ERR_DOUBT; met also FAH_PY_GEN_WAITS: something is
 * being thrown into it, through it into the one that it awaits. It does not run itself.
 */
#define FAH_PY_GEN_WAITS 1
void fah_py_gens_begin(struct fah_py_walk *w, uint64_t exc_info, uint64_t exc_base);
int fah_py_gens_met(struct fah_py_walk *w, uint64_t gen, const uint8_t *raw);
int fah_py_gens_end(struct fah_py_walk *w);
bool fah_py_is_gen(struct fah_py_walk *w, uint64_t type);

/* walk_iframe.c, for walk_recover.c. */
int fah_py_enter_stack(struct fah_py_walk *w, uint64_t chunk, uint64_t top);
int fah_py_enter_older(struct fah_py_walk *w);
int fah_py_walk_chain(struct fah_py_walk *w, uint64_t frame, uint64_t base_frame, uint8_t top_gap);

/* walk_recover.c, 3.11 and 3.12: the caller's stack while a frame is being entered; frame: what is
 * said to be the current one. */
int fah_py_walk_recover(struct fah_py_walk *w, uint64_t frame, uint64_t chunk, uint64_t top,
			uint64_t exc_info, uint64_t exc_base);

int fah_py_walk_objects(struct fah_py_walk *w, uint64_t tstate); /* 3.8-3.10 */
int fah_py_walk_iframes(struct fah_py_walk *w, uint64_t tstate); /* 3.11+ */

#endif
