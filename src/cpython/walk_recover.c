/*
 * walk_recover.c - 3.11 and 3.12: the stack in the moment in which a frame is being entered.
 *
 * tstate->cframe already is the new C frame, whose fields are what an earlier call left there. The
 * chain of C frames is of no use then, but the rest suffices for a proof: the frames of the data
 * stack lie one after the other from its first word, and the list of exception states names the
 * generators that run. The newest frame is either just pushed (no instruction yet) or a generator's
 * that is in the list and not in the chain; it is left out. The caller is the newest of the others:
 * it runs C code (its stack pointer is not stored), and the chain from it must tile the whole data
 * stack and meet every generator of the list.
 *
 * Without a new C frame it is much the same, for the few instructions in which the frame that is
 * current has no caller: that is stored after it has become the current one, and taken away before
 * a generator that yields ceases to be. What the newest of the others does is of no matter then.
 */
#include "cpython/walk_internal.h"

#define FRAMES_MAX 4096 /* in one chunk */

/* The last whole frame below end in the chunk at hand, counted from the chunk's first word. */
static int last_frame(struct fah_py_walk *w, uint64_t end, uint64_t *ret_frame, bool *ret_started)
{
	const struct fah_py_layout *l = w->layout;
	struct fah_py_code_seen code;
	uint64_t at = w->chunk_lo, words[2];
	int32_t stacktop = 0;

	*ret_frame = 0;
	for (int n = 0; at < end && n < FRAMES_MAX; n++) {
		w->pieces[0] = (struct fah_piece){&words[0], at + l->f_code, 8};
		w->pieces[1] = (struct fah_piece){&words[1], at + l->f_instr, 8};
		w->pieces[2] = (struct fah_piece){&stacktop, at + l->f_stack, 4};
		if (w->mem->read(w->mem, w->pieces, 3) != 3)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
		if (fah_py_code_read_one(w, words[0], &code) < 0)
			return FAH_ERR_DOUBT;
		*ret_frame = at;
		*ret_started = words[1] != code.code_bytes - 2 || stacktop < 0;
		at += (uint64_t)code.slots * 8;
	}
	return at == end ? 0 : fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
}

/* Whether the frame runs C code: then its stack pointer is not stored. */
static bool runs_c(struct fah_py_walk *w, uint64_t frame)
{
	int32_t stacktop;

	return fah_load(w->mem, frame + w->layout->f_stack, &stacktop, 4) == 0 && stacktop == -1;
}

/* The chain from frame on, above which the data stack ends at `end`. */
static int try_from(struct fah_py_walk *w, uint64_t frame, uint64_t chunk, uint64_t end,
		    uint64_t exc_info, uint64_t exc_base, uint32_t extra, bool same_loop)
{
	int err;

	if (frame == 0 || (!same_loop && !runs_c(w, frame)))
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	w->n_frames = w->n_pending = w->n_walked = 0;
	w->truncated = w->leaf_call = false;
	w->leaf_at = 0;
	w->no_cframes = true;
	fah_py_gens_begin(w, exc_info, exc_base);
	err = fah_py_enter_stack(w, chunk, end);
	if (err == 0)
		err = fah_py_walk_chain(w, frame, 0, FAH_PY_GAP_NONE);
	if (err == 0 && w->gens_extra != extra)
		err = fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	return err;
}

/* The frame of the generator that the list's entry exc is of; 0: none. */
static uint64_t gen_frame(struct fah_py_walk *w, uint64_t exc)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t type;

	if (exc <= l->gen_exc || fah_load(w->mem, exc - l->gen_exc + l->ob_type, &type, 8) < 0 ||
	    !fah_py_is_gen(w, type))
		return 0;
	return exc - l->gen_exc + l->gen_iframe;
}

/* Whether the frame is a generator's, and has no caller. */
static bool is_unlinked(struct fah_py_walk *w, uint64_t frame)
{
	const struct fah_py_layout *l = w->layout;
	const uint8_t *raw = fah_py_far_read(w, frame, l->gen_iframe, l->f_localsplus);

	return raw != NULL && raw[l->gen_iframe + l->f_owner] == FAH_PY_OWNER_GENERATOR &&
	       fah_py_u64(raw + l->gen_iframe + l->f_previous) == 0 &&
	       fah_py_is_gen(w, fah_py_u64(raw + l->ob_type));
}

int fah_py_walk_recover(struct fah_py_walk *w, uint64_t frame, uint64_t chunk, uint64_t top,
			uint64_t exc_info, uint64_t exc_base)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t newest = 0, older_exc, end;
	uint32_t why = w->doubt, extra = 1;
	bool started = true, same_loop = false;

	w->recovered = true;
	if (fah_py_enter_stack(w, chunk, top) < 0 || w->chunk == 0)
		goto doubt;
	end = w->stack_end;
	if (last_frame(w, end, &newest, &started) < 0)
		goto doubt;
	if (newest != 0 && !started) { /* it is the one being entered */
		extra = 0;
		same_loop = newest == frame;
		end = newest;
		if (end == w->chunk_lo && w->older != 0 && fah_py_enter_older(w) == 0)
			end = w->stack_end;
		if (last_frame(w, end, &newest, &started) < 0)
			goto doubt;
	} else if (!(frame & 7) && frame > l->gen_iframe && is_unlinked(w, frame)) {
		extra = exc_info == frame - l->gen_iframe + l->gen_exc;
		same_loop = true;
	}
	chunk = w->chunk;
	if (newest != 0 &&
	    try_from(w, newest, chunk, end, exc_info, exc_base, extra, same_loop) == 0)
		return 0;
	older_exc = exc_info;
	if (extra == 1 && fah_load(w->mem, exc_info + 8, &older_exc, 8) < 0)
		goto doubt;
	if (older_exc != exc_base && try_from(w, gen_frame(w, older_exc), chunk, end, exc_info,
					      exc_base, extra, same_loop) == 0)
		return 0;
doubt:
	w->recovered = false;
	return fah_py_walk_doubt(w, why);
}
