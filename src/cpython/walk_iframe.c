/*
 * walk_iframe.c - the stack of CPython 3.11 and later: frames on the thread's data stack.
 *
 * We may be at any instruction of the interpreter, so what is found is proved, not believed:
 *
 *   data stack   | A        | B     | C          |<- datastack_top     (grows to the right)
 *   chain        current_frame -> C -> B -> (generator, on the heap) -> A -> (shim, C stack) -> 0
 *
 * A frame occupies exactly as many words as its code says, and the next newer one begins where it
 * ends: the chain must tile the data stack down to its first word. A pointer that is stale or not
 * yet stored breaks this. Words may be left over only where C code was called in between, and only
 * if they are whole frames that are being made or torn down (a finaliser runs while its frame is
 * taken apart); a live frame in such a place means that the chain skipped it. Frames outside
 * the data stack are those of generators (their object's type is checked) and the shims that mark a
 * call from C. On 3.11 and 3.12 the chain of C frames must agree with the chain of frames.
 */
#include "cpython/walk_internal.h"

#define CHUNK_MAX (1ull << 40)
#define GAP_FRAMES_MAX 64

/* Goes to a chunk; top: where its used part ends, 0: as the chunk itself says. */
static int enter_chunk(struct fah_py_walk *w, uint64_t chunk, uint64_t top)
{
	const struct fah_py_layout *l = w->layout;
	uint8_t head[64];
	uint64_t size, used, from, older_size;
	int n = 1, got;

	if (chunk == 0 || chunk & 7 || l->chunk_data > sizeof(head))
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	w->pieces[0] = (struct fah_piece){head, chunk, l->chunk_data};
	w->window_len = 0;
	if (top > chunk + l->chunk_data && top - chunk < CHUNK_MAX) {
		from = chunk + l->chunk_data;
		if (top - from > FAH_PY_WINDOW)
			from = top - FAH_PY_WINDOW;
		w->pieces[n++] = (struct fah_piece){w->window, from, top - from};
		w->window_addr = from;
	}
	got = w->mem->read(w->mem, w->pieces, n);
	if (got < 1)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	w->chunk = chunk;
	w->older = fah_py_u64(head + l->chunk_previous);
	size = fah_py_u64(head + l->chunk_size);
	if (size < l->chunk_data || size > CHUNK_MAX || size & 7)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	/* The first chunk's first word is never used, so that popping does not free it. */
	w->chunk_lo = chunk + l->chunk_data + (w->older == 0 ? 8 : 0);
	if (top == 0) {
		used = fah_py_u64(head + l->chunk_top);
		if (used > size / 8)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
		top = chunk + l->chunk_data + used * 8;
	} else if (got == 2) {
		w->window_len = (uint32_t)(top - w->window_addr);
	}
	if (top < w->chunk_lo || top > chunk + size || top & 7)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	w->stack_end = top;
	w->older_end = 0;
	if (w->older != 0) {
		if (fah_load(w->mem, w->older + l->chunk_size, &older_size, 8) < 0)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
		if (older_size > CHUNK_MAX)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
		w->older_end = w->older + older_size;
	}
	return 0;
}

/*
 * The newest chunk. While a chunk is being pushed or popped, datastack_chunk is the newer one and
 * datastack_top still, or already, the end of the older one; or the other way round, as the
 * compiler has it. Then the end is where the older one says: that was stored before.
 */
int fah_py_enter_stack(struct fah_py_walk *w, uint64_t chunk, uint64_t top)
{
	int err;

	w->stack_end = w->chunk_lo = w->chunk = w->older = w->older_end = 0;
	w->window_len = 0;
	if (chunk == 0) /* no frame was ever pushed */
		return 0;
	if (top == 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	err = enter_chunk(w, chunk, top);
	if (err == 0)
		return 0;
	if (w->older == 0 || enter_chunk(w, w->older, 0) < 0 || w->stack_end != top)
		err = enter_chunk(w, chunk, 0);
	else
		err = 0;
	if (err == 0)
		w->doubt = FAH_PY_DOUBT_NONE;
	return err;
}

/* The head of the frame at addr, inside the used part of the chunk; NULL: cannot be read. */
static const uint8_t *window_at(struct fah_py_walk *w, uint64_t addr, uint32_t head)
{
	uint64_t from, end;

	if (addr >= w->window_addr && w->window_len >= head &&
	    addr - w->window_addr <= w->window_len - head)
		return w->window + (addr - w->window_addr);
	/* What lies below is needed next. */
	end = addr + head;
	from = end - w->chunk_lo > FAH_PY_WINDOW ? end - FAH_PY_WINDOW : w->chunk_lo;
	w->window_len = 0;
	if (fah_load(w->mem, from, w->window, end - from) < 0)
		return NULL;
	w->window_addr = from;
	w->window_len = (uint32_t)(end - from);
	return w->window + (addr - from);
}

/*
 * Whether [from, end) of the data stack is whole frames that are not running: just pushed, or
 * being torn down. A running frame that calls C code keeps no stack pointer (3.11-3.13: -1), or one
 * that is not yet cleared (3.14+).
 */
static bool gap_is_dead(struct fah_py_walk *w, uint64_t from, uint64_t end)
{
	const struct fah_py_layout *l = w->layout;
	struct fah_py_code_seen code;
	uint8_t head[128];

	for (int n = 0; from < end && n < GAP_FRAMES_MAX; n++) {
		uint64_t stack, instr;

		if (end - from < (uint64_t)l->frame_slots * 8 || l->f_localsplus > sizeof(head) ||
		    fah_load(w->mem, from, head, l->f_localsplus) < 0 ||
		    fah_py_code_read_one(w,
					 fah_py_u64(head + l->f_code) & ~(uint64_t)l->code_tag_mask,
					 &code) < 0)
			return false;
		if (l->code_tag_mask == 0) {
			if (fah_py_i32(head + l->f_stack) < 0)
				return false;
		} else {
			stack = fah_py_u64(head + l->f_stack);
			instr = fah_py_u64(head + l->f_instr);
			if (instr != code.code_bytes &&
			    !(stack == from + l->f_localsplus && code.nlocalsplus > 0))
				return false;
		}
		from += (uint64_t)code.slots * 8;
	}
	return from == end;
}

/* Proves the pending frames and takes them into the result; keep: leaves the last `keep` pending.
 */
static int flush(struct fah_py_walk *w, uint32_t keep)
{
	const struct fah_py_layout *l = w->layout;
	int n = (int)(w->n_pending - keep), err;

	err = fah_py_codes_read(w, n);
	if (err < 0)
		return err;
	for (int i = 0; i < n; i++) {
		const struct fah_py_pending *p = &w->pending[i];
		const struct fah_py_code_seen *code = &w->batch[i];
		uint64_t end = p->addr + (uint64_t)code->slots * 8;
		uint32_t instr;

		if (p->end != 0 && end != p->end && (w->test_skip & FAH_PY_SKIP_TILING) == 0) {
			if (end > p->end || p->gap == FAH_PY_GAP_NONE ||
			    p->end - end < (uint64_t)l->frame_slots * 8)
				return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
			if (p->gap == FAH_PY_GAP_DEAD && !gap_is_dead(w, end, p->end))
				return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
			if (p->end == w->top)
				w->gap_at = end;
		}
		if (!fah_py_iframe_instr(l, code, p->instr, p->generator, &instr))
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_CODE);
		if (fah_py_code_is_own(l, code))
			continue;
		if (w->n_frames == 0 && i == 0 && instr != FAH_PY_NOT_STARTED && !w->recovered)
			w->leaf_call = l->call_ops[w->leaf_op[0] >> 3] >> (w->leaf_op[0] & 7) & 1;
		fah_py_walk_keep(w, code, instr, p->entry);
	}
	for (uint32_t i = 0; i < keep; i++)
		w->pending[i] = w->pending[w->n_pending - keep + i];
	w->n_pending = keep;
	return 0;
}

static int add_pending(struct fah_py_walk *w, uint64_t addr, const uint8_t *raw, uint64_t end,
		       uint8_t gap)
{
	const struct fah_py_layout *l = w->layout;
	struct fah_py_pending *p;
	int err;

	if (w->n_pending == FAH_PY_BATCH) {
		/* The last one's entry mark may still come: whether a shim follows is not known. */
		err = flush(w, 1);
		if (err < 0)
			return err;
	}
	p = &w->pending[w->n_pending++];
	p->addr = addr;
	p->code = fah_py_u64(raw + l->f_code) & ~(uint64_t)l->code_tag_mask;
	p->instr = fah_py_u64(raw + l->f_instr);
	p->end = end;
	p->gap = gap;
	p->generator = end == 0;
	p->entry = 0;
	if (w->n_walked == 1)
		w->leaf_at = p->instr;
	return 0;
}

/* C code called the frame before; previous: the frame that was current then. 3.11, 3.12: so the
 * older C frame must say too. */
static int pass_boundary(struct fah_py_walk *w, uint64_t previous, uint64_t shim)
{
	const struct fah_py_layout *l = w->layout;
	const uint8_t *raw;
	uint64_t current;
	bool cframes = l->frames_kind == FAH_PY_FRAMES_CFRAME && !w->no_cframes;

	w->boundary = w->ends_well = true;
	if (w->n_pending > 0 && !w->pending[w->n_pending - 1].entry) {
		w->pending[w->n_pending - 1].entry = 1;
		if (w->n_loops < FAH_PY_LOOPS)
			w->loops[w->n_loops] = cframes ? w->cframe : shim;
		w->n_loops++;
	}
	if (!cframes)
		return 0;
	raw = fah_py_far_read(w, w->cframe_previous, l->gen_iframe, l->f_localsplus);
	if (raw == NULL)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	current = fah_py_u64(raw + l->gen_iframe + l->cframe_current);
	w->cframe = w->cframe_previous;
	w->cframe_previous = fah_py_u64(raw + l->gen_iframe + l->cframe_previous);
	if (current != previous && (w->test_skip & FAH_PY_SKIP_CFRAMES) == 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	return 0;
}

/* A frame on the data stack. */
static int step_stack(struct fah_py_walk *w, uint64_t addr, uint8_t top_gap, uint64_t *ret_previous)
{
	const struct fah_py_layout *l = w->layout;
	const uint8_t *raw;
	uint8_t gap;
	int err;

	if (w->stack_end - addr < l->f_localsplus)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	raw = window_at(w, addr, l->f_localsplus);
	if (raw == NULL)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	if (raw[l->f_owner] != 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	gap = w->at_top ? top_gap : w->boundary ? FAH_PY_GAP_DEAD : FAH_PY_GAP_NONE;
	err = add_pending(w, addr, raw, w->stack_end, gap);
	if (err < 0)
		return err;
	w->stack_end = addr;
	w->at_top = w->boundary = false;
	*ret_previous = fah_py_u64(raw + l->f_previous);
	if (l->f_is_entry != 0 && raw[l->f_is_entry])
		return pass_boundary(w, *ret_previous, 0);
	return 0;
}

/*
 * The caller of the newest frame, from 3.13 on: a shim that is linked already, while what says that
 * it is one is not written yet, as compilers order that (Debian's 3.13: two instructions). It holds
 * no code; whether its caller is the right one the rest of the chain proves.
 */
static bool is_half_made_shim(const struct fah_py_walk *w, const uint8_t *frame)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t held = fah_py_u64(frame + l->f_code) & ~(uint64_t)l->code_tag_mask, type;

	return l->frames_kind == FAH_PY_FRAMES_DIRECT && w->n_walked == 2 && l->code_type != 0 &&
	       held != 0 && fah_load(w->mem, held + l->ob_type, &type, 8) == 0 &&
	       type != l->code_type;
}

/* A frame elsewhere: in a generator, or a shim on the C stack. */
static int step_far(struct fah_py_walk *w, uint64_t addr, uint64_t *ret_previous)
{
	const struct fah_py_layout *l = w->layout;
	const uint8_t *raw = fah_py_far_read(w, addr, l->gen_iframe, l->f_localsplus);
	const uint8_t *frame;
	int err, met;

	if (raw == NULL)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	frame = raw + l->gen_iframe;
	*ret_previous = fah_py_u64(frame + l->f_previous);
	if (frame[l->f_owner] >= l->owner_shim && w->c_entry == 0)
		w->c_entry = addr;
	if (frame[l->f_owner] >= l->owner_shim) {
		w->begins_with_shim |= w->n_walked == 1;
		return pass_boundary(w, *ret_previous, addr);
	}
	if (is_half_made_shim(w, frame))
		return pass_boundary(w, *ret_previous, addr);
	if (frame[l->f_owner] != FAH_PY_OWNER_GENERATOR)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	if (!fah_py_is_gen(w, fah_py_u64(raw + l->ob_type)))
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	met = fah_py_gens_met(w, addr - l->gen_iframe, raw);
	if (met < 0)
		return met;
	err = add_pending(w, addr, frame, 0, FAH_PY_GAP_NONE);
	if (err < 0)
		return err;
	/* how one was resumed that only waits is of the past */
	if (l->f_is_entry != 0 && frame[l->f_is_entry] && met != FAH_PY_GEN_WAITS)
		return pass_boundary(w, *ret_previous, 0);
	return 0;
}

/*
 * A generator's first frame is popped a few instructions before it stops being the current one:
 * it then stands just above the data stack's top, and the stack is its caller's.
 */
static bool is_popped(struct fah_py_walk *w, uint64_t addr, uint64_t *ret_previous)
{
	const struct fah_py_layout *l = w->layout;
	uint8_t head[128];

	if (w->n_walked != 1 || addr != w->stack_end || l->f_localsplus > sizeof(head) ||
	    fah_load(w->mem, addr, head, l->f_localsplus) < 0 || head[l->f_owner] != 0)
		return false;
	if (l->f_is_entry != 0 && head[l->f_is_entry])
		return false;
	*ret_previous = fah_py_u64(head + l->f_previous);
	return true;
}

/*
 * What is left of this chunk below the last frame must be dead frames. In the newest chunk it may
 * be what a top may have, where current_frame is never stale.
 */
static int finish_chunk(struct fah_py_walk *w, uint8_t top_gap)
{
	uint8_t gap = w->at_top || w->boundary ? FAH_PY_GAP_DEAD : FAH_PY_GAP_NONE;

	if (w->at_top && w->layout->frames_kind == FAH_PY_FRAMES_DIRECT)
		gap = top_gap;
	if (w->stack_end == w->chunk_lo || (w->test_skip & FAH_PY_SKIP_TILING) != 0)
		return 0;
	if (gap == FAH_PY_GAP_NONE ||
	    (gap == FAH_PY_GAP_DEAD && !gap_is_dead(w, w->chunk_lo, w->stack_end)))
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	if (w->stack_end == w->top)
		w->gap_at = w->chunk_lo;
	w->at_top = w->boundary = false;
	return 0;
}

int fah_py_enter_older(struct fah_py_walk *w)
{
	return enter_chunk(w, w->older, 0);
}

static int go_older(struct fah_py_walk *w, uint8_t top_gap)
{
	int err = finish_chunk(w, top_gap);

	return err < 0 ? err : enter_chunk(w, w->older, 0);
}

/* The chain from frame on, proved to the end. */
int fah_py_walk_chain(struct fah_py_walk *w, uint64_t frame, uint64_t base_frame, uint8_t top_gap)
{
	uint64_t last = 0;
	int err;

	w->at_top = true;
	w->boundary = w->begins_with_shim = false;
	w->ends_well = true;
	w->top = w->stack_end;
	w->gap_at = 0;
	while (frame != 0) {
		if (w->n_walked++ >= FAH_PY_MAX_WALK)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_LOOP);
		last = frame;
		w->ends_well = false;
		if (frame & 7)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
		if (w->older != 0 && frame > w->older && frame < w->older_end) {
			err = go_older(w, top_gap);
			if (err < 0)
				return err;
		}
		if (frame >= w->chunk_lo && frame < w->stack_end)
			err = step_stack(w, frame, top_gap, &frame);
		else if (is_popped(w, frame, &frame))
			err = 0, w->recovered = true;
		else
			err = step_far(w, frame, &frame);
		if (err < 0)
			return err;
		/*
		 * A call from C that has no frame yet or any more: above its caller stands that
		 * frame only. From 3.13 on current_frame itself is never stale, and what is above
		 * it does not matter.
		 */
		if (w->layout->frames_kind == FAH_PY_FRAMES_CFRAME && w->n_walked == 1 &&
		    w->ends_well && w->n_pending == 0)
			top_gap = FAH_PY_GAP_DEAD;
	}
	if (!w->ends_well && (w->test_skip & FAH_PY_SKIP_END) == 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	err = fah_py_gens_end(w);
	if (err < 0)
		return err;
	/* 3.11, 3.12: a shim that comes first may be of a C frame that is not filled yet. */
	if (w->gens_extra > 0 && top_gap == FAH_PY_GAP_DEAD && !w->no_cframes &&
	    w->layout->frames_kind == FAH_PY_FRAMES_CFRAME)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	err = flush(w, 0);
	if (err < 0)
		return err;
	if (w->layout->ts_base_frame != 0 && last != 0 && last != base_frame)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FRAME);
	/* Down to the first word. */
	while (w->older != 0) {
		if (w->n_walked++ >= FAH_PY_MAX_WALK)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_LOOP);
		err = go_older(w, top_gap);
		if (err < 0)
			return err;
	}
	return finish_chunk(w, top_gap);
}

/*
 * What lies beyond the chain at the top is one whole frame that has begun, and whose caller is the
 * current one: see struct fah_py_walk. It is unlinked before what it holds is freed, and popped
 * after. Nothing of this is needed for the rest, so no doubt comes of it.
 */
static void see_dying(struct fah_py_walk *w, uint64_t current)
{
	const struct fah_py_layout *l = w->layout;
	const struct fah_py_code_seen *code = &w->batch[0];
	uint8_t head[128];
	uint32_t instr;
	bool entry;

	if (l->f_localsplus > sizeof(head) || w->top - w->gap_at < l->f_localsplus ||
	    fah_load(w->mem, w->gap_at, head, l->f_localsplus) < 0 || head[l->f_owner] != 0 ||
	    fah_py_u64(head + l->f_previous) != current)
		return;
	entry = l->f_is_entry != 0 ? head[l->f_is_entry] : w->begins_with_shim;
	w->pending[0] = (struct fah_py_pending){.addr = w->gap_at,
						.code = fah_py_u64(head + l->f_code) &
							~(uint64_t)l->code_tag_mask};
	w->is_dying = fah_py_codes_read(w, 1) == 0 &&
		      w->top - w->gap_at == (uint64_t)code->slots * 8 &&
		      fah_py_iframe_instr(l, code, fah_py_u64(head + l->f_instr), false, &instr) &&
		      instr != FAH_PY_NOT_STARTED && !fah_py_code_is_own(l, code);
	if (w->is_dying)
		w->dying = (struct fah_py_frame){code->addr, instr, entry, code->ident};
	w->doubt = FAH_PY_DOUBT_NONE;
}

int fah_py_walk_iframes(struct fah_py_walk *w, uint64_t tstate)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t frame, stack[2], exc_info, base_frame = 0, executor = 0, cframe[2];
	uint64_t exc_base = tstate + l->ts_exc_state;
	int n = 3, err;

	w->pieces[0] = (struct fah_piece){&frame, tstate + l->ts_frame, 8};
	w->pieces[1] = (struct fah_piece){stack, tstate + l->ts_chunk, 16};
	w->pieces[2] = (struct fah_piece){&exc_info, tstate + l->ts_exc_info, 8};
	if (l->ts_base_frame != 0)
		w->pieces[n++] = (struct fah_piece){&base_frame, tstate + l->ts_base_frame, 8};
	if (l->ts_executor != 0)
		w->pieces[n++] = (struct fah_piece){&executor, tstate + l->ts_executor, 8};
	if (w->mem->read(w->mem, w->pieces, n) != n)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	if (executor != 0)
		fah_py_walk_see_jit(w, w->mem, l, executor);
	fah_py_gens_begin(w, exc_info, exc_base);
	w->no_cframes = false;

	if (l->frames_kind == FAH_PY_FRAMES_CFRAME) {
		w->cframe = w->c_entry = frame;
		w->pieces[0] = (struct fah_piece){&cframe[0], w->cframe + l->cframe_current, 8};
		w->pieces[1] = (struct fah_piece){&cframe[1], w->cframe + l->cframe_previous, 8};
		if (w->mem->read(w->mem, w->pieces, 2) != 2)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
		frame = cframe[0];
		w->cframe_previous = cframe[1];
	}
	err = fah_py_enter_stack(w, stack[0], stack[1]);
	if (err < 0)
		return err;
	err = fah_py_walk_chain(w, frame, base_frame, FAH_PY_GAP_ANY);
	if (err == 0 && w->gap_at != 0 && !w->recovered)
		see_dying(w, frame);
	if (err < 0 && l->frames_kind == FAH_PY_FRAMES_CFRAME)
		err = fah_py_walk_recover(w, frame, stack[0], stack[1], exc_info, exc_base);
	return err;
}
