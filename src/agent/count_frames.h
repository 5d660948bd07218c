/*
 * count_frames.h - the frames of the thread that runs, read directly: only with the GIL, and only
 * of a layout that has frames on the data stack (CPython 3.12 and later).
 */
#ifndef FAH_AGENT_COUNT_FRAMES_H
#define FAH_AGENT_COUNT_FRAMES_H

#include "agent/agent.h"
#include "agent/pyapi.h"

static inline uint64_t fah_frame_word(uint64_t addr)
{
	return *(const uint64_t *)(uintptr_t)addr;
}

static inline uint32_t fah_code_version(uint64_t code)
{
	/* int co_framesize, co_nlocals, co_ncellvars, co_nfreevars; uint32_t co_version */
	return *(const uint32_t *)(uintptr_t)(code + fah_agent.layout.co_framesize + 16);
}

static inline uint64_t fah_frame_code(uint64_t frame)
{
	return fah_frame_word(frame + fah_agent.layout.f_code) &
	       ~(uint64_t)fah_agent.layout.code_tag_mask;
}

static inline uint64_t fah_frame_current(void)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	uint64_t first = fah_frame_word((uint64_t)(uintptr_t)fah_py.thread() + l->ts_frame);

	return l->frames_kind == FAH_PY_FRAMES_CFRAME ? fah_frame_word(first + l->cframe_current)
						      : first;
}

/* The next outer Python frame, or 0. */
static inline uint64_t fah_frame_outer(uint64_t frame)
{
	const struct fah_py_layout *l = &fah_agent.layout;

	do
		frame = fah_frame_word(frame + l->f_previous);
	while (frame && *(const uint8_t *)(uintptr_t)(frame + l->f_owner) >= l->owner_shim);
	return frame;
}

#endif
