/* heap_here.c - see heap_here.h. */
#include "agent/heap_here.h"

#include "agent/heap.h"
#include "agent/stack.h"

#include <string.h>

/* The agent's own code: those frames are none of the program's. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

struct fah_thread_state *fah_heap_write_begin(uint64_t *ret_mask)
{
	uint64_t all = UINT64_MAX;
	struct fah_thread_state *t;

	if (!atomic_load(&fah_agent.active))
		return NULL;
	fah_heap_thread.inside++;
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_mask, 8);
	t = fah_thread_write_begin();
	if (t)
		return t;
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, ret_mask, NULL, 8);
	fah_heap_thread.inside--;
	return NULL;
}

void fah_heap_write_end(struct fah_thread_state *t, const uint64_t *mask)
{
	fah_thread_write_end(t);
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, 8);
	fah_heap_thread.inside--;
}

/* The registers of the caller, as a handler would have them of who was interrupted. */
static inline __attribute__((always_inline)) void registers_here(ucontext_t *uc)
{
	greg_t *r = uc->uc_mcontext.gregs;

	memset(r, 0, sizeof(uc->uc_mcontext.gregs));
	__asm__ volatile("lea 0(%%rip), %%rax\n\t"
			 "mov %%rax, %0\n\t"
			 "mov %%rsp, %1\n\t"
			 "mov %%rbp, %2\n\t"
			 "mov %%rbx, %3\n\t"
			 "mov %%r12, %4\n\t"
			 "mov %%r13, %5\n\t"
			 "mov %%r14, %6\n\t"
			 "mov %%r15, %7"
			 : "=m"(r[REG_RIP]), "=m"(r[REG_RSP]), "=m"(r[REG_RBP]), "=m"(r[REG_RBX]),
			   "=m"(r[REG_R12]), "=m"(r[REG_R13]), "=m"(r[REG_R14]), "=m"(r[REG_R15])
			 :
			 : "rax");
}

void fah_heap_strip_own(struct fah_thread_state *t)
{
	uint32_t own = 0;

	while (own < t->n_pcs &&
	       t->pcs[own] - (uint64_t)(uintptr_t)__ehdr_start < (uint64_t)(etext - __ehdr_start))
		own++;
	t->n_pcs -= own;
	memmove(t->pcs, t->pcs + own, t->n_pcs * sizeof(*t->pcs));
	memmove(t->sps, t->sps + own, t->n_pcs * sizeof(*t->sps));
	if (own && t->n_pcs)
		t->pcs[0]--; /* behind a call: inside of it, as the innermost one is looked up */
}

struct here {
	struct fah_thread_state *t;
	void (*fn)(struct fah_thread_state *, void *);
	void *arg;
};

static void run(void *arg)
{
	struct here *h = arg;

	h->fn(h->t, h->arg);
}

__attribute__((noinline)) bool fah_heap_here(void (*fn)(struct fah_thread_state *, void *),
					     void *arg)
{
	uint64_t mask;
	struct here h = {.t = fah_heap_write_begin(&mask), .fn = fn, .arg = arg};

	if (!h.t)
		return false;
	registers_here(&h.t->here);
	fah_arch_call_on(h.t->stack + sizeof(h.t->stack), run, &h);
	fah_heap_write_end(h.t, &mask);
	return true;
}

static void walk(struct fah_thread_state *t, void *arg)
{
	const struct here *h = arg;
	uint64_t regs[FAH_STACK_REGISTERS];
	struct fah_py_who who = fah_stack_who(t, &t->here, regs);

	fah_ahead_begin(&t->ahead);
	t->walk.n_frames = 0;
	if (fah_py_running(&t->ahead.mem, &fah_agent.layout, fah_agent.runtime, &who, &t->tstate) ==
		    0 &&
	    t->tstate)
		fah_py_walk_thread(&t->walk, &t->ahead.mem, &fah_agent.layout, t->tstate);
	h->fn(t, h->arg);
}

bool fah_heap_walk(void (*fn)(struct fah_thread_state *, void *), void *arg)
{
	struct here h = {.fn = fn, .arg = arg};

	return fah_heap_here(walk, &h);
}
