/*
 * walk_here.c - what fah_py_walk_thread finds, by plain loads: no proof, no system call.
 *
 * For a thread that may use chain.h, and on its terms. Only what the chain itself names is looked
 * at, nothing that an earlier walk has seen.
 */
#include "cpython/plain.h"
#include "cpython/walk_internal.h"

#define LISTED_MAX 1000

static bool code_here(struct fah_py_walk *w, uint64_t addr, struct fah_py_code_seen *ret)
{
	const struct fah_py_layout *l = w->layout;

	if (!fah_py_credible(addr))
		return false;
	if (w->code_type && fah_py_plain_word(addr + l->ob_type) != w->code_type)
		return false;
	memset(ret, 0, sizeof(*ret));
	if (!fah_py_code_take(l, addr, fah_py_plain(addr), ret))
		return false;
	if (l->frames_kind == FAH_PY_FRAMES_OBJECT &&
	    !fah_py_code_take_len(ret, fah_py_plain_word(fah_py_code_len_at(l, ret))))
		return false;
	fah_py_texts_mix_here(l, ret);
	return true;
}

static bool objects(struct fah_py_walk *w, uint64_t frame)
{
	const struct fah_py_layout *l = w->layout;
	struct fah_py_code_seen code = {0};
	uint32_t instr;

	for (; frame; frame = fah_py_plain_word(frame + l->f_previous)) {
		if (w->n_walked++ >= FAH_PY_MAX_WALK || !fah_py_credible(frame) ||
		    !code_here(w, fah_py_plain_word(frame + l->f_code), &code) ||
		    !fah_py_object_instr(l, &code, fah_py_plain_int(frame + l->f_instr), &instr))
			return false;
		fah_py_walk_keep(w, &code, instr, 1);
	}
	w->truncated |= (code.flags & FAH_PY_CODE_RESUMABLE) != 0; /* walk_frameobject.c */
	return true;
}

/* The innermost frame that has not been called from Python so far. */
struct caller {
	bool is_open;
	struct fah_py_frame *frame; /* NULL: it is none of the program's */
};

/* C code has called it. */
static bool pass_boundary(struct fah_py_walk *w, struct caller *c, uint64_t shim)
{
	bool cframes = w->layout->frames_kind == FAH_PY_FRAMES_CFRAME;

	if (c->is_open) {
		c->is_open = false;
		if (c->frame)
			c->frame->entry = 1;
		if (w->n_loops < FAH_PY_LOOPS)
			w->loops[w->n_loops] = cframes ? w->cframe : shim;
		w->n_loops++;
	}
	if (!cframes)
		return true;
	if (!fah_py_credible(w->cframe))
		return false;
	w->cframe = fah_py_plain_word(w->cframe + w->layout->cframe_previous);
	return true;
}

/*
 * 3.11: whether the generator that this frame is of was resumed in the way that f_is_entry says,
 * and not long ago: see walk_gens.c. One that runs has a stack pointer only where it has called
 * another frame of the same loop.
 */
static bool is_resumed(const struct fah_py_layout *l, uint64_t tstate, uint64_t frame)
{
	uint64_t gen = frame - l->gen_iframe, at = fah_py_plain_word(tstate + l->ts_exc_info);

	if (fah_py_plain_int(frame + l->f_stack) < 0)
		return true;
	for (int i = 0; i < LISTED_MAX && fah_py_credible(at); i++) {
		if (at == gen + l->gen_exc)
			return true;
		if (at == tstate + l->ts_exc_state)
			return false;
		at = fah_py_plain_word(at + 8);
	}
	return true;
}

static bool iframes(struct fah_py_walk *w, uint64_t tstate, uint64_t frame)
{
	const struct fah_py_layout *l = w->layout;
	struct caller caller = {0};
	bool ends_well = true;

	for (; frame; frame = fah_py_plain_word(frame + l->f_previous)) {
		struct fah_py_code_seen code;
		uint32_t instr;
		uint8_t owner;

		if (w->n_walked++ >= FAH_PY_MAX_WALK || !fah_py_credible(frame))
			return false;
		owner = *fah_py_plain(frame + l->f_owner);
		ends_well = owner >= l->owner_shim;
		if (ends_well) {
			if (!pass_boundary(w, &caller, frame))
				return false;
			continue;
		}
		if (owner > FAH_PY_OWNER_GENERATOR) /* a frame that has ended */
			return false;
		if (!code_here(w,
			       fah_py_plain_word(frame + l->f_code) & ~(uint64_t)l->code_tag_mask,
			       &code) ||
		    !fah_py_iframe_instr(l, &code, fah_py_plain_word(frame + l->f_instr),
					 owner == FAH_PY_OWNER_GENERATOR, &instr))
			return false;
		caller = (struct caller){.is_open = true};
		if (!fah_py_code_is_own(l, &code)) {
			uint32_t n = w->n_frames;

			fah_py_walk_keep(w, &code, instr, 0);
			caller.frame = w->n_frames > n ? &w->frames[n] : NULL;
		}
		if (l->f_is_entry && *fah_py_plain(frame + l->f_is_entry) &&
		    (owner != FAH_PY_OWNER_GENERATOR || is_resumed(l, tstate, frame))) {
			ends_well = true;
			if (!pass_boundary(w, &caller, 0))
				return false;
		}
	}
	return ends_well;
}

int fah_py_walk_here(struct fah_py_walk *w, const struct fah_py_layout *layout, uint64_t tstate)
{
	uint64_t frame = fah_py_plain_word(tstate + layout->ts_frame);
	bool found;

	fah_py_walk_begin(w, NULL, layout);
	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT) {
		found = objects(w, frame);
	} else if (layout->frames_kind == FAH_PY_FRAMES_CFRAME) {
		w->cframe = frame;
		found = fah_py_credible(frame) &&
			iframes(w, tstate, fah_py_plain_word(frame + layout->cframe_current));
	} else {
		found = iframes(w, tstate, frame);
	}
	if (found)
		return 0;
	w->n_frames = w->n_loops = 0;
	return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
}
