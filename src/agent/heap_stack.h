/* heap_stack.h - the stack of a thread that allocates, for a record. By fah_heap_here alone. */
#ifndef FAH_AGENT_HEAP_STACK_H
#define FAH_AGENT_HEAP_STACK_H

#include "agent/agent.h"

/* Both stacks, as fah_stack_put writes them; *ret_flags: enum fah_sample_flags of them. What
 * cannot be had is left out: a block counts all the same. */
void fah_heap_stack(struct fah_thread_state *t, uint32_t *ret_flags);

#endif
