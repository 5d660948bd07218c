/*
 * stack.h - the stack of the calling thread, Python's and native, into a record. Of samples and of
 * blocks of memory. Signal-handler safe; signals are blocked, or the thread's state is busy.
 */
#ifndef FAH_AGENT_STACK_H
#define FAH_AGENT_STACK_H

#include "agent/agent.h"

#include <ucontext.h>

#define FAH_STACK_REGISTERS (REG_RSP + 1) /* all that may hold an address */

/* The thread as it was interrupted; regs: FAH_STACK_REGISTERS of them, of who->regs. */
struct fah_py_who fah_stack_who(const struct fah_thread_state *t, const ucontext_t *uc,
				uint64_t *regs);
/* The Python stack into t->now, by ids; fah_native_walk came before. Marks are added to *flags.
 * False: it cannot be had, for *ret_drop. */
bool fah_stack_look(struct fah_thread_state *t, struct fah_py_who *who, uint32_t *flags,
		    enum fah_drop *ret_drop);
/* The same without a frame that may have ended (FAH_SAMPLE_DYING). */
bool fah_stack_look_living(struct fah_thread_state *t, struct fah_py_who *who, uint32_t *flags,
			   enum fah_drop *ret_drop);
/* The frames of t->walk as ids into t->now, root first, joined to the native ones. False: one
 * cannot be described, for *ret_drop. */
bool fah_stack_name(struct fah_thread_state *t, enum fah_drop *ret_drop);
/* Bytes that fah_stack_put writes at most. */
size_t fah_stack_size(const struct fah_thread_state *t);
/* Both stacks as what differs from the chunk's last: see FAH_SEG_SAMPLE from `keep` on. */
uint8_t *fah_stack_put(struct fah_thread_state *t, uint8_t *p);

#endif
