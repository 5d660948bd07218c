/*
 * insn.h - as much of an x86-64 instruction as following the stack takes: its length, its operands'
 * registers, and which registers that a callee must keep it writes. Tool side, untrusted bytes.
 */
#ifndef FAH_NATIVE_INSN_H
#define FAH_NATIVE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_insn {
	uint8_t len;
	uint8_t map; /* 1: one byte, 2: 0f, 3: 0f 38, 4: 0f 3a */
	uint8_t op;
	bool vex;	/* VEX or EVEX: mostly vectors */
	bool wide;	/* REX.W */
	bool rex, half; /* half: 66 */
	bool has_modrm;
	uint8_t mod, reg, rm; /* as the processor numbers registers, which is not DWARF's way */
	uint8_t vvvv;
	bool has_index; /* a memory operand with an index, or relative to rip */
	int32_t disp;
	int64_t imm;
};

/* False: not one that we know, or longer than max. */
bool fah_insn_decode(const uint8_t *p, size_t max, struct fah_insn *ret);

/* Whether it writes general register r (0 rax … 4 rsp, 5 rbp … 15) by an operand. Push, pop, call
 * and leave are not counted, nor registers that some instructions write without naming them (rax,
 * rcx, rdx, rsi, rdi). */
bool fah_insn_writes(const struct fah_insn *in, unsigned r);

#endif
