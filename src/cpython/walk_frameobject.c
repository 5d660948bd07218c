/*
 * walk_frameobject.c - the stack of CPython 3.8 to 3.10: a chain of frame objects on the heap.
 *
 * tstate->frame is stored when a frame is complete and taken back before it is torn down, so there
 * is no half-made state to meet; each frame object and each code object is still checked by type.
 * Each call has an evaluation loop of its own here: every frame is an entry.
 */
#include "cpython/walk_internal.h"

/* The pending frames' code objects, and the frames into the result; co_flags of the outermost. */
static int flush(struct fah_py_walk *w, uint32_t *ret_flags)
{
	int n = (int)w->n_pending, err;

	err = fah_py_codes_read(w, n);
	if (err < 0)
		return err;
	for (int i = 0; i < n; i++) {
		const struct fah_py_code_seen *code = &w->batch[i];
		uint32_t instr;

		if (!fah_py_object_instr(w->layout, code, (int32_t)w->pending[i].instr, &instr))
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_CODE);
		if (w->n_frames == 0 && instr != FAH_PY_NOT_STARTED) {
			uint8_t op;

			if (fah_load(w->mem, code->code_bytes + instr, &op, 1) < 0)
				return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
			w->leaf_call = w->layout->call_ops[op >> 3] >> (op & 7) & 1;
		}
		fah_py_walk_keep(w, code, instr, 1);
		*ret_flags = code->flags;
	}
	w->n_pending = 0;
	return 0;
}

int fah_py_walk_objects(struct fah_py_walk *w, uint64_t tstate)
{
	const struct fah_py_layout *l = w->layout;
	uint32_t flags = 0;
	uint64_t frame;
	int err;

	if (fah_load(w->mem, tstate + l->ts_frame, &frame, 8) < 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	while (frame != 0) {
		const uint8_t *raw;

		if (w->n_walked++ >= FAH_PY_MAX_WALK)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_LOOP);
		raw = fah_py_far_read(w, frame, 0, l->f_instr + 4);
		if (raw == NULL)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
		if (!fah_py_type_is(w, fah_py_u64(raw + l->ob_type), &w->frame_type, "frame"))
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
		w->pending[w->n_pending++] = (struct fah_py_pending){
			.addr = frame,
			.code = fah_py_u64(raw + l->f_code),
			.instr = (uint32_t)fah_py_i32(raw + l->f_instr),
		};
		frame = fah_py_u64(raw + l->f_previous);
		if (w->n_pending == FAH_PY_BATCH) {
			err = flush(w, &flags);
			if (err < 0)
				return err;
		}
	}
	err = flush(w, &flags);
	if (err < 0)
		return err;
	/*
	 * throw() into a generator that waits in `yield from` makes 3.9 show the inner frame
	 * without the callers: its own frame chain is cut there, so what is above cannot be known.
	 */
	w->truncated |= (flags & FAH_PY_CODE_RESUMABLE) != 0;
	return 0;
}
