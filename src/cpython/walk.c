/*
 * walk.c - what both kinds of walk share: code objects, types, reads with foresight, the result.
 *
 * Runs in a signal handler of the thread it walks, or on another process's memory: no direct load
 * of target memory, no allocation, little stack (scratch is in struct fah_py_walk). Nothing that
 * was remembered from an earlier walk is believed; it only says what to read together.
 */
#include "cpython/walk_internal.h"

#define CODE_PROBES 8 /* places that a code object may have in the table */
#define FRAME_SLOTS_MAX (1u << 24)

/* Where what stood behind addr is remembered: one of two neighbours. */
static struct fah_py_behind *behind_slot(struct fah_py_walk *w, uint64_t addr)
{
	uint32_t at = (uint32_t)((addr >> 3) * 0x9e3779b97f4a7c15ull >> 40) % FAH_PY_BEHIND;
	struct fah_py_behind *first = &w->behind[at], *second = &w->behind[at ^ 1];

	return first->addr == addr || (first->addr == 0 && second->addr != addr) ? first : second;
}

/* The chain of far frames goes on to addr: remembered for later walks. */
static void behind_note(struct fah_py_walk *w, uint64_t addr)
{
	if (w->far_last != 0)
		*behind_slot(w, w->far_last) = (struct fah_py_behind){w->far_last, addr};
	w->far_last = addr;
}

/* How many frames to read at once: as many as were foreseen rightly of late, and one more guess. */
static uint32_t far_count(struct fah_py_walk *w)
{
	if (w->n_far > 1 && w->far_at == 1)
		w->far_count = w->far_count / 2;
	else if (w->far_at == w->n_far)
		w->far_count = w->far_count * 2;
	if (w->far_count < 2)
		w->far_count = 2;
	if (w->far_count > FAH_PY_FAR)
		w->far_count = FAH_PY_FAR;
	return w->far_count;
}

const uint8_t *fah_py_far_read(struct fah_py_walk *w, uint64_t addr, uint32_t before,
			       uint32_t after)
{
	uint32_t at, n = 1, most;
	int got;

	behind_note(w, addr);
	for (at = w->far_at; at < w->n_far; at++) {
		if (w->far_addr[at] == addr) {
			w->far_at = at + 1;
			return w->far[at];
		}
	}
	w->far_addr[0] = addr;
	most = far_count(w);
	while (n < most) {
		const struct fah_py_behind *b = behind_slot(w, w->far_addr[n - 1]);

		if (b->addr != w->far_addr[n - 1])
			break;
		w->far_addr[n++] = b->next;
	}
	for (uint32_t i = 0; i < n; i++)
		w->pieces[i] =
			(struct fah_piece){w->far[i], w->far_addr[i] - before, before + after};
	got = w->mem->read(w->mem, w->pieces, (int)n);
	w->far_at = 1;
	w->n_far = got > 0 ? (uint32_t)got : 0;
	if (got > 0)
		return w->far[0];
	/* What stands before it may be out of reach: without that. */
	memset(w->far[0], 0, before);
	return fah_load(w->mem, addr, w->far[0] + before, after) == 0 ? w->far[0] : NULL;
}

bool fah_py_type_is(struct fah_py_walk *w, uint64_t type, uint64_t *known, const char *name)
{
	char have[24];
	uint64_t at;
	size_t len = strlen(name) + 1;

	if (*known != 0)
		return *known == type;
	if (type == 0 || fah_load(w->mem, type + w->layout->tp_name, &at, 8) < 0 ||
	    fah_load(w->mem, at, have, len) < 0 || memcmp(have, name, len) != 0)
		return false;
	*known = type;
	return true;
}

bool fah_py_code_take(const struct fah_py_layout *l, uint64_t addr, const uint8_t *raw,
		      struct fah_py_code_seen *ret)
{
	uint64_t ident = fah_py_mix(addr, fah_py_u64(raw + l->co_filename));
	uint64_t units;

	ident = fah_py_mix(ident, fah_py_u64(raw + l->co_name));
	ident = fah_py_mix(ident, fah_py_u64(raw + l->co_linetable));
	ident = fah_py_mix(ident, (uint32_t)fah_py_i32(raw + l->co_firstlineno));
	ret->flags = (uint32_t)fah_py_i32(raw + l->co_flags);
	ret->filename = fah_py_u64(raw + l->co_filename);
	ret->name = fah_py_u64(raw + l->co_name);
	ret->linetable = fah_py_u64(raw + l->co_linetable);
	if (l->frames_kind == FAH_PY_FRAMES_OBJECT) {
		uint64_t bytes = fah_py_u64(raw + l->co_code);

		ident = fah_py_mix(ident, bytes);
		if (ret->addr != addr || ret->ident != ident)
			ret->code_len = 0;
		ret->code_bytes = bytes + l->bytes_data;
	} else {
		uint32_t nlocalsplus = (uint32_t)fah_py_i32(raw + l->co_nlocalsplus);
		uint32_t slots;

		units = fah_py_u64(raw + l->ob_size);
		if (l->co_framesize != 0)
			slots = (uint32_t)fah_py_i32(raw + l->co_framesize);
		else
			slots = nlocalsplus + (uint32_t)fah_py_i32(raw + l->co_stacksize) +
				l->frame_slots;
		if (units > FAH_PY_CODE_LEN_MAX / 2 || slots > FRAME_SLOTS_MAX ||
		    slots < l->frame_slots || nlocalsplus > slots - l->frame_slots)
			return false;
		ident = fah_py_mix(ident, units);
		ret->code_len = (uint32_t)units * 2;
		ret->code_bytes = addr + l->co_code;
		ret->slots = slots;
		ret->nlocalsplus = nlocalsplus;
		ret->firsttraceable = 2 * (uint32_t)fah_py_i32(raw + l->co_firsttraceable);
	}
	ret->addr = addr;
	ret->ident = ident;
	return true;
}

bool fah_py_code_take_len(struct fah_py_code_seen *code, uint64_t size)
{
	if (size > FAH_PY_CODE_LEN_MAX)
		return false;
	code->code_len = (uint32_t)size;
	return true;
}

/* False: it is no credible code object. */
static bool code_parse(struct fah_py_walk *w, uint64_t addr, const uint8_t *raw,
		       struct fah_py_code_seen *ret)
{
	const struct fah_py_layout *l = w->layout;
	uint64_t size;

	if ((w->test_skip & FAH_PY_SKIP_CODE) == 0 &&
	    !fah_py_type_is(w, fah_py_u64(raw + l->ob_type), &w->code_type, "code"))
		return false;
	if (!fah_py_code_take(l, addr, raw, ret))
		return false;
	if (l->frames_kind == FAH_PY_FRAMES_OBJECT && !ret->code_len &&
	    (fah_load(w->mem, fah_py_code_len_at(l, ret), &size, 8) < 0 ||
	     !fah_py_code_take_len(ret, size)))
		return false;
	ret->walk_no = w->walk_no;
	return true;
}

/* Where addr is, or may be put: one of a few places, rather one that this walk does not use. */
static struct fah_py_code_seen *code_slot(struct fah_py_walk *w, uint64_t addr)
{
	uint32_t at = (uint32_t)((addr >> 4) * 0x9e3779b97f4a7c15ull >> 40) % FAH_PY_CODES;
	struct fah_py_code_seen *stale = NULL;

	for (uint32_t i = 0; i < CODE_PROBES; i++) {
		struct fah_py_code_seen *seen = &w->codes[(at + i) % FAH_PY_CODES];

		if (seen->addr == addr)
			return seen;
		if (stale == NULL && seen->walk_no != w->walk_no)
			stale = seen;
	}
	return stale != NULL ? stale : &w->codes[at];
}

int fah_py_code_read_one(struct fah_py_walk *w, uint64_t code, struct fah_py_code_seen *ret)
{
	uint8_t *raw = w->code_raw[FAH_PY_BATCH];

	memset(ret, 0, sizeof(*ret));
	if (fah_load(w->mem, code, raw, w->layout->co_size) < 0)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	return code_parse(w, code, raw, ret) ? 0 : fah_py_walk_doubt(w, FAH_PY_DOUBT_CODE);
}

int fah_py_codes_read(struct fah_py_walk *w, int n)
{
	int8_t raw_of[FAH_PY_BATCH];
	int wanted = 0, all, got, err;

	/* Which of them this walk has not seen yet; each once. */
	for (int i = 0; i < n; i++) {
		uint64_t addr = w->pending[i].code;
		struct fah_py_code_seen *seen = code_slot(w, addr);

		raw_of[i] = -1;
		if (addr == 0)
			return fah_py_walk_doubt(w, FAH_PY_DOUBT_CODE);
		if (seen->addr == addr && seen->walk_no == w->walk_no)
			continue;
		for (int j = wanted - 1; j >= 0 && raw_of[i] < 0; j--)
			if (w->pieces[j].addr == addr)
				raw_of[i] = (int8_t)j;
		if (raw_of[i] < 0) {
			w->pieces[wanted] =
				(struct fah_piece){w->code_raw[wanted], addr, w->layout->co_size};
			raw_of[i] = (int8_t)wanted++;
		}
	}
	all = wanted;
	if (w->leaf_at != 0) /* comes last: where it can't be read, the rest still was */
		w->pieces[all++] = (struct fah_piece){w->leaf_op, w->leaf_at, 2};
	got = all > 0 ? w->mem->read(w->mem, w->pieces, all) : 0;
	if (got < wanted)
		return fah_py_walk_doubt(w, FAH_PY_DOUBT_FAULT);
	if (got < all)
		w->leaf_op[0] = 0;
	w->leaf_at = 0;
	for (int i = 0; i < n; i++) {
		uint64_t addr = w->pending[i].code;
		struct fah_py_code_seen *seen = code_slot(w, addr);

		if (seen->addr == addr && seen->walk_no == w->walk_no) {
			w->batch[i] = *seen;
		} else if (raw_of[i] < 0) {
			/* It was there, until another one of this batch took its place. */
			err = fah_py_code_read_one(w, addr, &w->batch[i]);
			if (err < 0)
				return err;
		} else {
			if (!code_parse(w, addr, w->code_raw[raw_of[i]], seen)) {
				seen->addr = 0;
				return fah_py_walk_doubt(w, FAH_PY_DOUBT_CODE);
			}
			w->batch[i] = *seen;
		}
	}
	fah_py_texts_mix(w, n);
	return 0;
}

void fah_py_walk_keep(struct fah_py_walk *w, const struct fah_py_code_seen *code, uint32_t instr,
		      uint32_t entry)
{
	if (w->n_frames == FAH_PY_MAX_FRAMES) {
		w->truncated = true;
		return;
	}
	w->frames[w->n_frames++] = (struct fah_py_frame){code->addr, instr, entry, code->ident};
}

void fah_py_walk_begin(struct fah_py_walk *w, const struct fah_mem *mem,
		       const struct fah_py_layout *layout)
{
	w->mem = mem;
	w->layout = layout;
	w->n_frames = 0;
	w->doubt = FAH_PY_DOUBT_NONE;
	w->truncated = w->leaf_call = w->recovered = w->is_dying = false;
	w->c_entry = 0;
	w->jit_start = w->jit_end = 0;
	w->n_loops = 0;
	w->n_walked = 0;
	w->n_far = w->far_at = 0;
	w->n_pending = 0;
	w->far_last = 0;
	w->leaf_at = 0;
	if (++w->walk_no == 0) { /* a number of the past must not look like this walk's */
		memset(w->codes, 0, sizeof(w->codes));
		w->walk_no = 1;
	}
	if (layout->code_type != 0)
		w->code_type = layout->code_type;
	if (layout->frame_type != 0)
		w->frame_type = layout->frame_type;
	if (layout->gen_type != 0)
		w->gen_types[0] = layout->gen_type;
	if (layout->coro_type != 0)
		w->gen_types[1] = layout->coro_type;
	if (layout->asyncgen_type != 0)
		w->gen_types[2] = layout->asyncgen_type;
}

int fah_py_walk_thread(struct fah_py_walk *walk, const struct fah_mem *mem,
		       const struct fah_py_layout *layout, uint64_t tstate)
{
	int err;

	fah_py_walk_begin(walk, mem, layout);
	if (layout->frames_kind == FAH_PY_FRAMES_OBJECT)
		err = fah_py_walk_objects(walk, tstate);
	else
		err = fah_py_walk_iframes(walk, tstate);
	if (err < 0)
		walk->n_frames = 0;
	return err;
}
