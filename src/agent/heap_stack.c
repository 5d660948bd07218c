/* heap_stack.c - see heap_stack.h. */
#include "agent/heap_stack.h"

#include "agent/gil.h"
#include "agent/heap_here.h"
#include "agent/stack.h"

/*
 * A thread with the GIL is at no instruction of the interpreter's where its frames are half made:
 * plain loads give the stack that a walk with proofs does, in a tenth of the time. While garbage
 * is being collected, it takes the other: whose time it is stands on the C stack.
 */
static bool near_stack(struct fah_thread_state *t)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	bool none, collecting;
	uint64_t executor = 0;
	enum fah_drop drop;

	t->tstate = fah_gil_state(&none);
	if (!t->tstate || fah_py_gc_collecting(&fah_mem_plain, l, t->tstate, &collecting) < 0 ||
	    collecting || fah_py_walk_here(&t->walk, l, t->tstate) < 0)
		return false;
	if (l->ts_executor)
		fah_load(&fah_mem_plain, t->tstate + l->ts_executor, &executor, sizeof(executor));
	if (executor)
		fah_py_walk_see_jit(&t->walk, &t->mem, l, executor);
	return fah_stack_name(t, &drop);
}

static bool far_stack(struct fah_thread_state *t, uint32_t *flags)
{
	uint64_t regs[FAH_STACK_REGISTERS];
	struct fah_py_who who = fah_stack_who(t, &t->here, regs);
	enum fah_drop drop;

	fah_ahead_begin(&t->ahead);
	return fah_stack_look_living(t, &who, flags, &drop);
}

void fah_heap_stack(struct fah_thread_state *t, uint32_t *ret_flags)
{
	*ret_flags = 0;
	fah_native_walk(t, &t->here);
	fah_heap_strip_own(t);
	if (near_stack(t)) {
		*ret_flags |= t->walk.truncated ? FAH_SAMPLE_TRUNCATED : 0;
		return;
	}
	if (far_stack(t, ret_flags))
		return;
	t->walk.n_frames = 0;
	t->map = 0;
}
