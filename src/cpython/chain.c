/* chain.c - see chain.h. Runs in the program, at each block that it asks for: nothing but loads. */
#include "cpython/chain.h"

#include <string.h>

static inline uint64_t word(uint64_t at)
{
	uint64_t v;

	__builtin_memcpy(&v, (const void *)(uintptr_t)at, 8);
	return v;
}

static inline int32_t int_at(uint64_t at)
{
	int32_t v;

	__builtin_memcpy(&v, (const void *)(uintptr_t)at, 4);
	return v;
}

/* May be followed. What is no address of a program's is the least of what could be wrong. */
static inline bool credible(uint64_t at)
{
	return !(at & 7) && at - 4096 < (1ull << 47) - 4096;
}

static uint32_t objects(const struct fah_py_layout *l, uint64_t frame, struct fah_py_link *links,
			uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; frame; i++) {
		uint64_t code;

		if (!credible(frame) || i >= FAH_PY_MAX_WALK)
			return FAH_PY_CHAIN_DOUBT;
		code = word(frame + l->f_code);
		if (!credible(code))
			return FAH_PY_CHAIN_DOUBT;
		if (n < max)
			links[n++] =
				(struct fah_py_link){code, (uint32_t)int_at(frame + l->f_instr)};
		frame = word(frame + l->f_previous);
	}
	return n;
}

static uint32_t iframes(const struct fah_py_layout *l, uint64_t frame, struct fah_py_link *links,
			uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; frame; i++) {
		uint64_t code;
		uint8_t owner;

		if (!credible(frame) || i >= FAH_PY_MAX_WALK)
			return FAH_PY_CHAIN_DOUBT;
		owner = *(const uint8_t *)(uintptr_t)(frame + l->f_owner);
		if (owner <= FAH_PY_OWNER_GENERATOR) {
			code = word(frame + l->f_code) & ~(uint64_t)l->code_tag_mask;
			if (!credible(code))
				return FAH_PY_CHAIN_DOUBT;
			if (n < max)
				links[n++] = (struct fah_py_link){
					code, word(frame + l->f_instr) |
						      (owner == FAH_PY_OWNER_GENERATOR)};
		} else if (owner < l->owner_shim) {
			return FAH_PY_CHAIN_DOUBT; /* a frame that has ended */
		}
		frame = word(frame + l->f_previous);
	}
	return n;
}

uint32_t fah_py_chain(const struct fah_py_layout *layout, uint64_t tstate,
		      struct fah_py_link *links, uint32_t max)
{
	uint64_t frame = word(tstate + layout->ts_frame);

	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT)
		return objects(layout, frame, links, max);
	if (layout->frames_kind == FAH_PY_FRAMES_CFRAME) {
		if (!credible(frame))
			return FAH_PY_CHAIN_DOUBT;
		frame = word(frame + layout->cframe_current);
	}
	return iframes(layout, frame, links, max);
}

struct fah_py_chain_code fah_py_chain_code(const struct fah_py_layout *layout, uint64_t code)
{
	struct fah_py_chain_code c = {0};

	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT)
		return c;
	c.firsttraceable = 2 * (uint32_t)int_at(code + layout->co_firsttraceable);
	c.skip = layout->frames_kind == FAH_PY_FRAMES_DIRECT &&
		 (uint32_t)int_at(code + layout->co_flags) & FAH_PY_CODE_NO_EVENTS;
	return c;
}

uint32_t fah_py_chain_instr(const struct fah_py_layout *layout, const struct fah_py_link *link,
			    uint32_t firsttraceable)
{
	int64_t offset;

	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT) {
		offset = (int32_t)link->instr;
		return offset < 0 ? FAH_PY_NOT_STARTED : (uint32_t)offset * layout->lasti_scale;
	}
	offset = (int64_t)((link->instr & ~1ull) - (link->code + layout->co_code));
	if (offset < 0 || (!(link->instr & 1) && offset < firsttraceable))
		return FAH_PY_NOT_STARTED;
	return (uint32_t)offset;
}
