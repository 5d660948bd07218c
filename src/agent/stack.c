/* stack.c - see stack.h. */
#include "agent/stack.h"

#include "agent/python_gc.h"
#include "core/varint.h"

#include <string.h>

struct fah_py_who fah_stack_who(const struct fah_thread_state *t, const ucontext_t *uc,
				uint64_t *regs)
{
	struct fah_py_who who = {
		.pthread_id = t->pthread_id, .regs = regs, .n_regs = FAH_STACK_REGISTERS};

	memcpy(regs, uc->uc_mcontext.gregs, FAH_STACK_REGISTERS * sizeof(*regs));
	who.pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	who.sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
	/* a thread's own structure stands at the end of its stack; nothing is above the first's */
	who.stack_end = who.pthread_id > who.sp ? who.pthread_id : UINT64_MAX;
	return who;
}

bool fah_stack_name(struct fah_thread_state *t, enum fah_drop *ret_drop)
{
	uint32_t n = t->walk.n_frames, i;

	*ret_drop = FAH_DROP_FAULT;
	for (i = 0; i < n; i++) {
		const struct fah_py_frame *f = &t->walk.frames[n - 1 - i];

		t->now[i].code = fah_codes_id(t, f, ret_drop);
		t->now[i].instr = f->instr;
		if (!t->now[i].code)
			return false;
		t->now[i].code = t->now[i].code << 1 | (f->entry != 0);
	}
	fah_native_loops(t);
	return true;
}

/* What stands for a native frame in the record: its address, and what is known of it. */
static uint64_t native_word(const struct fah_thread_state *t, uint32_t i)
{
	return t->pcs[i] << 2 | (uint64_t)fah_py_in_jit(&t->walk, t->pcs[i]) << 1 | t->loop[i];
}

/* The native stack behind the Python one, as what differs from the chunk's last sample. */
static uint8_t *put_natives(struct fah_thread_state *t, uint8_t *p)
{
	uint32_t n = t->n_pcs, keep = 0, i;
	uint64_t before = 0;

	if (!t->map)
		return p;
	while (keep < n && keep < t->n_last_pcs &&
	       native_word(t, n - 1 - keep) == t->last_pcs[keep])
		keep++;
	p = fah_put_varint(p, t->map);
	p = fah_put_varint(p, keep);
	p = fah_put_varint(p, n - keep);
	for (i = keep; i < n; i++) {
		uint64_t word = native_word(t, n - 1 - i);

		p = fah_put_varint(p, fah_zigzag((int64_t)(word - before)));
		t->last_pcs[i] = before = word;
	}
	t->n_last_pcs = n;
	return p;
}

/* A frame that may have ended comes along where native frames can tell. */
static void add_dying(struct fah_thread_state *t, uint32_t *flags)
{
	struct fah_py_walk *w = &t->walk;

	if (!w->is_dying || !t->map || w->truncated || w->n_frames == FAH_PY_MAX_FRAMES)
		return;
	memmove(w->frames + 1, w->frames, w->n_frames * sizeof(*w->frames));
	w->frames[0] = w->dying;
	w->n_frames++;
	*flags |= FAH_SAMPLE_DYING;
}

static bool look(struct fah_thread_state *t, struct fah_py_who *who, uint32_t *flags,
		 enum fah_drop *ret_drop)
{
	*ret_drop = FAH_DROP_NO_STATE;
	if (fah_py_running(&t->ahead.mem, &fah_agent.layout, fah_agent.runtime, who, &t->tstate) <
	    0)
		return false;
	if (!t->tstate) {
		t->walk.n_frames = 0;
		t->walk.truncated = t->walk.recovered = t->walk.leaf_call = false;
		t->walk.jit_start = t->walk.jit_end = 0;
		*flags |= FAH_SAMPLE_NO_PYTHON;
	} else {
		if (fah_py_walk_thread(&t->walk, &t->ahead.mem, &fah_agent.layout, t->tstate) < 0) {
			*ret_drop = (enum fah_drop)t->walk.doubt;
			return false;
		}
		*flags |= (t->walk.truncated ? FAH_SAMPLE_TRUNCATED : 0) |
			  (t->walk.recovered ? FAH_SAMPLE_RECOVERED : 0) |
			  (t->walk.jit_end ? FAH_SAMPLE_IN_JIT : 0);
		/* what is called from the innermost frame stands below its evaluation loop */
		if (t->walk.c_entry >= who->sp && t->walk.c_entry < who->stack_end)
			who->stack_end = t->walk.c_entry;
		if (t->walk.n_frames &&
		    fah_py_in_gc(&t->ahead.mem, &fah_agent.layout, t->tstate, who, &fah_gc_code))
			*flags |= FAH_SAMPLE_IN_GC;
	}
	return true;
}

bool fah_stack_look(struct fah_thread_state *t, struct fah_py_who *who, uint32_t *flags,
		    enum fah_drop *ret_drop)
{
	if (!look(t, who, flags, ret_drop))
		return false;
	if (t->tstate)
		add_dying(t, flags);
	return fah_stack_name(t, ret_drop);
}

bool fah_stack_look_living(struct fah_thread_state *t, struct fah_py_who *who, uint32_t *flags,
			   enum fah_drop *ret_drop)
{
	return look(t, who, flags, ret_drop) && fah_stack_name(t, ret_drop);
}

size_t fah_stack_size(const struct fah_thread_state *t)
{
	return (2 + 2 * (size_t)t->walk.n_frames) * FAH_VARINT_MAX / 2 + 16 +
	       (t->map ? (t->n_pcs + 3) * FAH_VARINT_MAX : 0);
}

uint8_t *fah_stack_put(struct fah_thread_state *t, uint8_t *p)
{
	uint32_t n = t->walk.n_frames, keep = 0, i;

	while (keep < n && keep < t->n_last && t->now[keep].code == t->last[keep].code &&
	       t->now[keep].instr == t->last[keep].instr)
		keep++;
	p = fah_put_varint(p, keep);
	p = fah_put_varint(p, n - keep);
	for (i = keep; i < n; i++) {
		p = fah_put_varint(p, t->now[i].code);
		p = fah_put_varint(p, (uint32_t)(t->now[i].instr + 1));
		t->last[i] = t->now[i];
	}
	t->n_last = n;
	return put_natives(t, p);
}
