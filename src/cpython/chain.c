/* chain.c - see chain.h. Runs in the program, at each block that it asks for: nothing but loads. */
#include "cpython/chain.h"

#include "cpython/plain.h"

static uint32_t objects(const struct fah_py_layout *l, uint64_t frame, struct fah_py_link *links,
			uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; frame; i++) {
		uint64_t code;

		if (!fah_py_credible(frame) || i >= FAH_PY_MAX_WALK)
			return FAH_PY_CHAIN_DOUBT;
		code = fah_py_plain_word(frame + l->f_code);
		if (!fah_py_credible(code))
			return FAH_PY_CHAIN_DOUBT;
		if (n < max)
			links[n++] = (struct fah_py_link){
				code, (uint32_t)fah_py_plain_int(frame + l->f_instr)};
		frame = fah_py_plain_word(frame + l->f_previous);
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

		if (!fah_py_credible(frame) || i >= FAH_PY_MAX_WALK)
			return FAH_PY_CHAIN_DOUBT;
		owner = *fah_py_plain(frame + l->f_owner);
		if (owner <= FAH_PY_OWNER_GENERATOR) {
			code = fah_py_plain_word(frame + l->f_code) & ~(uint64_t)l->code_tag_mask;
			if (!fah_py_credible(code))
				return FAH_PY_CHAIN_DOUBT;
			if (n < max)
				links[n++] = (struct fah_py_link){
					code, fah_py_plain_word(frame + l->f_instr) |
						      (owner == FAH_PY_OWNER_GENERATOR)};
		} else if (owner < l->owner_shim) {
			return FAH_PY_CHAIN_DOUBT; /* a frame that has ended */
		}
		frame = fah_py_plain_word(frame + l->f_previous);
	}
	return n;
}

uint32_t fah_py_chain(const struct fah_py_layout *layout, uint64_t tstate,
		      struct fah_py_link *links, uint32_t max)
{
	uint64_t frame = fah_py_plain_word(tstate + layout->ts_frame);

	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT)
		return objects(layout, frame, links, max);
	if (layout->frames_kind == FAH_PY_FRAMES_CFRAME) {
		if (!fah_py_credible(frame))
			return FAH_PY_CHAIN_DOUBT;
		frame = fah_py_plain_word(frame + layout->cframe_current);
	}
	return iframes(layout, frame, links, max);
}

struct fah_py_chain_code fah_py_chain_code(const struct fah_py_layout *layout, uint64_t code)
{
	struct fah_py_chain_code c = {0};

	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT)
		return c;
	c.firsttraceable = 2 * (uint32_t)fah_py_plain_int(code + layout->co_firsttraceable);
	c.skip = layout->frames_kind == FAH_PY_FRAMES_DIRECT &&
		 (uint32_t)fah_py_plain_int(code + layout->co_flags) & FAH_PY_CODE_NO_EVENTS;
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
