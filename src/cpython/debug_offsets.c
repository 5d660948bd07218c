/*
 * debug_offsets.c - what CPython 3.13+ says of itself at the start of _PyRuntime.
 *
 * The table is a row of u64, in another order in each version, and untrusted: it is read once, and
 * each number must lie inside the structure it is of. What it lacks (the data stack's top, a
 * frame's size, and so on) stands at a fixed distance from something it has.
 */
#include "core/err.h"
#include "cpython/layout.h"

#include <string.h>

#define COOKIE 0x7970677562656478ull /* "xdebugpy" */
#define WORDS_MAX 128

/* Index of each number that we use, in words from the start of _PyRuntime. 0: not in that version.
 */
struct words {
	uint8_t minor;
	uint8_t runtime_size, interpreters_head;
	uint8_t interp_size, interp_next, threads_head, gc, ceval_gil, gil_state, gil_locked,
		gil_holder;
	uint8_t ts_size, ts_next, ts_interp, current_frame, base_frame, thread_id, chunk, status,
		exc_state;
	uint8_t frame_size, previous, executable, instr_ptr, localsplus, owner, stackpointer;
	uint8_t code_size, filename, name, qualname, linetable, firstlineno, code_adaptive;
	uint8_t object_size, ob_type, type_size, tp_name;
	uint8_t bytes_size, bytes_ob_size, bytes_data;
	uint8_t str_size, str_state, str_length, str_ascii_size, str_compact_size;
	uint8_t gc_size, gc_collecting;
	uint8_t gen_size, gen_iframe;
};

static const struct words words_of[] = {
	{
		.minor = 13,
		.runtime_size = 3,
		.interpreters_head = 5,
		.interp_size = 6,
		.interp_next = 8,
		.threads_head = 9,
		.gc = 10,
		.ceval_gil = 14,
		.gil_state = 15,
		.gil_locked = 17,
		.gil_holder = 18,
		.ts_size = 19,
		.ts_next = 21,
		.ts_interp = 22,
		.current_frame = 23,
		.thread_id = 24,
		.chunk = 26,
		.status = 27,
		.frame_size = 28,
		.previous = 29,
		.executable = 30,
		.instr_ptr = 31,
		.localsplus = 32,
		.owner = 33,
		.code_size = 34,
		.filename = 35,
		.name = 36,
		.qualname = 37,
		.linetable = 38,
		.firstlineno = 39,
		.code_adaptive = 43,
		.object_size = 44,
		.ob_type = 45,
		.type_size = 46,
		.tp_name = 47,
		.bytes_size = 64,
		.bytes_ob_size = 65,
		.bytes_data = 66,
		.str_size = 67,
		.str_state = 68,
		.str_length = 69,
		.str_ascii_size = 70,
		.gc_size = 71,
		.gc_collecting = 72,
	},
	{
		.minor = 14,
		.runtime_size = 3,
		.interpreters_head = 5,
		.interp_size = 6,
		.interp_next = 8,
		.threads_head = 9,
		.gc = 11,
		.ceval_gil = 15,
		.gil_state = 16,
		.gil_locked = 18,
		.gil_holder = 19,
		.ts_size = 22,
		.ts_next = 24,
		.ts_interp = 25,
		.current_frame = 26,
		.thread_id = 27,
		.chunk = 29,
		.status = 30,
		.frame_size = 31,
		.previous = 32,
		.executable = 33,
		.instr_ptr = 34,
		.localsplus = 35,
		.owner = 36,
		.stackpointer = 37,
		.code_size = 39,
		.filename = 40,
		.name = 41,
		.qualname = 42,
		.linetable = 43,
		.firstlineno = 44,
		.code_adaptive = 48,
		.object_size = 50,
		.ob_type = 51,
		.type_size = 52,
		.tp_name = 53,
		.bytes_size = 74,
		.bytes_ob_size = 75,
		.bytes_data = 76,
		.str_size = 77,
		.str_state = 78,
		.str_length = 79,
		.str_ascii_size = 80,
		.gc_size = 81,
		.gc_collecting = 82,
		.gen_size = 83,
		.gen_iframe = 85,
	},
	{
		.minor = 15,
		.runtime_size = 3,
		.interpreters_head = 5,
		.interp_size = 6,
		.interp_next = 8,
		.threads_head = 9,
		.gc = 11,
		.ceval_gil = 15,
		.gil_state = 16,
		.gil_locked = 18,
		.gil_holder = 19,
		.ts_size = 22,
		.ts_next = 24,
		.ts_interp = 25,
		.current_frame = 26,
		.base_frame = 27,
		.thread_id = 30,
		.chunk = 32,
		.status = 33,
		.exc_state = 37,
		.frame_size = 39,
		.previous = 40,
		.executable = 41,
		.instr_ptr = 42,
		.localsplus = 43,
		.owner = 44,
		.stackpointer = 45,
		.code_size = 47,
		.filename = 48,
		.name = 49,
		.qualname = 50,
		.linetable = 51,
		.firstlineno = 52,
		.code_adaptive = 56,
		.object_size = 58,
		.ob_type = 59,
		.type_size = 60,
		.tp_name = 61,
		.bytes_size = 86,
		.bytes_ob_size = 87,
		.bytes_data = 88,
		.str_size = 89,
		.str_state = 90,
		.str_length = 91,
		.str_ascii_size = 92,
		.str_compact_size = 93,
		.gc_size = 94,
		.gc_collecting = 95,
		.gen_size = 99,
		.gen_iframe = 101,
	},
};

/* A number inside a structure: *ret = offset where need bytes from there lie below size, else bad.
 */
static void take(const uint64_t *w, uint8_t at, uint8_t size_at, uint32_t need, uint64_t most,
		 uint32_t *ret, bool *bad)
{
	uint64_t size = w[size_at];

	if (at == 0)
		return;
	if (size > most || w[at] + need > size || w[at] > most)
		*bad = true;
	else
		*ret = (uint32_t)w[at];
}

int fah_py_debug_offsets_apply(struct fah_py_layout *ret, const struct fah_mem *mem,
			       uint64_t runtime_addr)
{
	uint64_t w[WORDS_MAX];
	const struct words *at = NULL;
	uint32_t minor = ret->version_hex >> 16 & 0xff;
	uint32_t gil_state = 0, locked = 0, holder = 0, gc = 0, collecting = 0, frame_end = 0;
	bool bad = false;

	for (size_t i = 0; i < sizeof(words_of) / sizeof(words_of[0]); i++)
		if (words_of[i].minor == minor)
			at = &words_of[i];
	if (at == NULL || fah_load(mem, runtime_addr, w, sizeof(w)) < 0)
		return FAH_ERR_UNKNOWN_PYTHON;
	if (w[0] != COOKIE || w[1] != ret->version_hex || w[2] != 0 /* free-threaded */)
		return FAH_ERR_UNKNOWN_PYTHON;

	take(w, at->interpreters_head, at->runtime_size, 16, 1u << 26,
	     &ret->runtime_interpreters_head, &bad);
	take(w, at->interp_next, at->interp_size, 8, 1u << 26, &ret->interp_next, &bad);
	take(w, at->threads_head, at->interp_size, 8, 1u << 26, &ret->interp_threads_head, &bad);
	take(w, at->ceval_gil, at->interp_size, 8, 1u << 26, &ret->interp_gil, &bad);
	take(w, at->gc, at->interp_size, 8, 1u << 26, &gc, &bad);
	take(w, at->gc_collecting, at->gc_size, 4, 1u << 26, &collecting, &bad);
	take(w, at->gil_state, at->interp_size, 8, 1u << 26, &gil_state, &bad);
	take(w, at->gil_locked, at->interp_size, 4, 1u << 26, &locked, &bad);
	take(w, at->gil_holder, at->interp_size, 8, 1u << 26, &holder, &bad);
	if (locked < gil_state || holder < gil_state || locked > gil_state + 4096 ||
	    holder > gil_state + 4096 || (uint64_t)gc + collecting + 4 > w[at->interp_size])
		bad = true;
	ret->runtime_interpreters_main = ret->runtime_interpreters_head + 8;
	ret->gil_locked = locked - gil_state;
	ret->gil_holder = holder - gil_state;
	ret->interp_collecting = gc + collecting;

	take(w, at->ts_next, at->ts_size, 8, 65536, &ret->ts_next, &bad);
	take(w, at->ts_interp, at->ts_size, 8, 65536, &ret->ts_interp, &bad);
	take(w, at->current_frame, at->ts_size, 8, 65536, &ret->ts_frame, &bad);
	take(w, at->base_frame, at->ts_size, 8, 65536, &ret->ts_base_frame, &bad);
	take(w, at->thread_id, at->ts_size, 8, 65536, &ret->ts_thread_id, &bad);
	take(w, at->chunk, at->ts_size, 24, 65536, &ret->ts_chunk, &bad);
	take(w, at->status, at->ts_size, 4, 65536, &ret->ts_status, &bad);

	ret->ts_exc_state = ret->ts_chunk + 24; /* after the data stack's three, before 3.15 */
	take(w, at->exc_state, at->ts_size, 16, 65536, &ret->ts_exc_state, &bad);
	if (ret->ts_executor != 0)
		ret->ts_executor = ret->ts_exc_state + 16;
	if (ret->ts_thread_id < 32)
		return FAH_ERR_UNKNOWN_PYTHON;
	ret->ts_exc_info = ret->ts_thread_id - 32;

	take(w, at->previous, at->frame_size, 8, 256, &ret->f_previous, &bad);
	take(w, at->executable, at->frame_size, 8, 256, &ret->f_code, &bad);
	take(w, at->instr_ptr, at->frame_size, 8, 256, &ret->f_instr, &bad);
	take(w, at->localsplus, at->frame_size, 8, 256, &frame_end, &bad);
	take(w, at->owner, at->frame_size, 1, 256, &ret->f_owner, &bad);
	if (at->stackpointer != 0)
		take(w, at->stackpointer, at->frame_size, 8, 256, &ret->f_stack, &bad);
	else
		ret->f_stack = ret->f_instr + 8; /* 3.13: int stacktop follows the instruction */
	ret->f_localsplus = frame_end;
	ret->frame_slots = (uint32_t)((w[at->frame_size] - 1) / 8);
	if (frame_end == 0 || ret->frame_slots * 8 != frame_end || ret->f_stack + 4 > frame_end)
		bad = true;

	take(w, at->filename, at->code_size, 8, 4096, &ret->co_filename, &bad);
	take(w, at->name, at->code_size, 8, 4096, &ret->co_name, &bad);
	take(w, at->qualname, at->code_size, 8, 4096, &ret->co_qualname, &bad);
	take(w, at->linetable, at->code_size, 8, 4096, &ret->co_linetable, &bad);
	/* stacksize, firstlineno, nlocalsplus, framesize stand in a row */
	take(w, at->firstlineno, at->code_size, 12, 4096, &ret->co_firstlineno, &bad);
	take(w, at->code_adaptive, at->code_size, 1, 4096, &ret->co_code, &bad);
	if (ret->co_firstlineno < 4 || ret->co_code < 16)
		return FAH_ERR_UNKNOWN_PYTHON;
	ret->co_stacksize = ret->co_firstlineno - 4;
	ret->co_nlocalsplus = ret->co_firstlineno + 4;
	ret->co_framesize = ret->co_firstlineno + 8;
	ret->co_firsttraceable = ret->co_code - 16; /* then co_extra, then the code */
	ret->co_size = (uint32_t)w[at->code_size];

	take(w, at->ob_type, at->object_size, 8, 64, &ret->ob_type, &bad);
	take(w, at->tp_name, at->type_size, 8, 4096, &ret->tp_name, &bad);
	take(w, at->bytes_ob_size, at->bytes_size, 8, 256, &ret->ob_size, &bad);
	take(w, at->bytes_data, at->bytes_size, 1, 256, &ret->bytes_data, &bad);
	take(w, at->str_state, at->str_size, 4, 256, &ret->str_state, &bad);
	take(w, at->str_length, at->str_size, 8, 256, &ret->str_length, &bad);
	take(w, at->str_ascii_size, at->str_size, 0, 256, &ret->str_ascii_size, &bad);
	take(w, at->str_compact_size, at->str_size, 0, 256, &ret->str_compact_size, &bad);
	if (at->gen_iframe != 0)
		take(w, at->gen_iframe, at->gen_size, ret->frame_slots * 8, 4096, &ret->gen_iframe,
		     &bad);
	if (ret->gen_iframe < 48)
		return FAH_ERR_UNKNOWN_PYTHON;
	ret->gen_exc = ret->gen_iframe - 32;
	ret->gen_state = ret->gen_iframe - 5;
	return bad ? FAH_ERR_UNKNOWN_PYTHON : 0;
}
