/*
 * regs.h - the registers of a thread, numbered as unwind tables number them (DWARF, x86-64). In
 * both sides, also inside a signal handler: no calls, no state.
 */
#ifndef FAH_NATIVE_REGS_H
#define FAH_NATIVE_REGS_H

#include <stdint.h>

enum fah_reg {
	FAH_REG_FP = 6, /* rbp */
	FAH_REG_SP = 7, /* rsp */
	FAH_REG_PC = 16,
	FAH_REGS = 16, /* the general ones, without the pc */
};

struct fah_regs {
	uint64_t r[FAH_REGS];
	uint64_t pc;
	uint32_t known; /* bit i: r[i] is what the thread has. SP must be known. */
};

#define FAH_REGS_ALL 0xffffu

/* Where the kernel's signal frame has them: uc_mcontext.gregs of a ucontext_t. */
#define FAH_CONTEXT_REGS 17
#define FAH_CONTEXT_REGS_AT 40 /* bytes from the start of the ucontext_t */

/* From the handler's third argument: fah_regs_of_context(&regs, uc->uc_mcontext.gregs). */
static inline void fah_regs_of_context(struct fah_regs *regs, const void *gregs)
{
	static const uint8_t place[FAH_REGS] = {13, 12, 14, 11, 9, 8, 10, 15,
						0,  1,	2,  3,	4, 5, 6,  7};
	const uint64_t *from = (const uint64_t *)gregs;

	for (int i = 0; i < FAH_REGS; i++)
		regs->r[i] = from[place[i]];
	regs->pc = from[16];
	regs->known = FAH_REGS_ALL;
}

#endif
