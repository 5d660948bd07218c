/*
 * code.c - see code.h. Follows what each instruction does to rsp, to a copy of rsp in a register
 * that calls keep, and to rbp.
 */
#include "native/code.h"

#include "base/cleanup.h"
#include "core/err.h"
#include "native/insn.h"
#include "native/regs.h"

#include <string.h>

enum { RBX = 3, RSP = 4, RBP = 5 };

#define MAX_FRAME (1 << 24)
#define MAX_STATES 512 /* different ones in a function */
#define LEN_SHIFT 12
#define NUMBER_MASK 0xfff

/* Before an instruction. */
struct state {
	bool by_copy; /* rsp was aligned: the CFA is found by the copy only */
	int32_t off;  /* CFA - rsp */
	uint8_t copy; /* a register that holds CFA - copy_off; 0: none */
	int32_t copy_off;
	uint8_t fp;	/* enum fah_fp_kind: SAME, AT_CFA or LOST */
	int32_t fp_off; /* where it was saved, from the CFA */
};

struct reading {
	const uint8_t *code;
	size_t len;
	uint16_t *at;	/* for each byte the number of its state + 1, 0: no path leads here; and the
			   length of its instruction << LEN_SHIFT */
	uint32_t *todo; /* places whose state is new */
	size_t n_todo;
	struct state states[MAX_STATES];
	unsigned n_states;
};

static bool same_state(const struct state *a, const struct state *b)
{
	return a->by_copy == b->by_copy && (a->by_copy || a->off == b->off) && a->copy == b->copy &&
	       (!a->copy || a->copy_off == b->copy_off) && a->fp == b->fp &&
	       (a->fp != FAH_FP_AT_CFA || a->fp_off == b->fp_off);
}

/* As a function is entered and must be left. */
static bool is_outside(const struct state *s)
{
	return !s->by_copy && s->off == 8 && s->fp == FAH_FP_SAME;
}

/* The state's number + 1; 0: too many. The newest are looked at first: mostly nothing has changed.
 */
static uint16_t number_of(struct reading *r, const struct state *s)
{
	for (unsigned i = r->n_states; i > 0; i--)
		if (same_state(&r->states[i - 1], s))
			return (uint16_t)i;
	if (r->n_states == MAX_STATES)
		return 0;
	r->states[r->n_states++] = *s;
	return (uint16_t)r->n_states;
}

/* A path leads to this place with this state, which must be that of every other path. */
static bool reach(struct reading *r, int64_t at, const struct state *s)
{
	uint16_t number;

	if (at < 0 || (uint64_t)at >= r->len)
		return is_outside(s); /* a jump to another function */
	number = number_of(r, s);
	if (!number || r->at[at])
		return number && (r->at[at] & NUMBER_MASK) == number;
	r->at[at] = number;
	r->todo[r->n_todo++] = (uint32_t)at;
	return true;
}

static bool keeps_over_calls(unsigned reg)
{
	return reg == RBX || reg == RBP || reg >= 12;
}

/* The register is written: what it was to us is gone. False: the CFA is. */
static bool forget(struct state *s, unsigned reg)
{
	if (reg == RSP)
		return false;
	if (s->copy && reg == s->copy) {
		if (s->by_copy)
			return false;
		s->copy = 0;
	}
	if (reg == RBP && s->fp == FAH_FP_SAME)
		s->fp = FAH_FP_LOST;
	return true;
}

static bool grow(struct state *s, int64_t by)
{
	if (s->by_copy)
		return true;
	by += s->off;
	if (by < 8 || by > MAX_FRAME)
		return false;
	s->off = (int32_t)by;
	return true;
}

static bool push(struct state *s, int reg)
{
	if (!grow(s, 8))
		return false;
	if (reg == RBP && s->fp == FAH_FP_SAME && !s->by_copy) {
		s->fp = FAH_FP_AT_CFA;
		s->fp_off = -s->off;
	}
	return true;
}

static bool pop(struct state *s, unsigned reg)
{
	bool restores = reg == RBP && s->fp == FAH_FP_AT_CFA && !s->by_copy && s->fp_off == -s->off;

	if (!grow(s, -8) || !forget(s, reg))
		return false;
	if (restores)
		s->fp = FAH_FP_SAME;
	return true;
}

/* rsp = the copy + disp. It has done its work: other paths to the end may have none. */
static bool from_copy(struct state *s, unsigned reg, int64_t disp)
{
	if (!s->copy || reg != s->copy)
		return false;
	s->by_copy = false;
	s->off = s->copy_off;
	s->copy = 0;
	return grow(s, -disp);
}

/* reg = rsp + disp. */
static bool to_copy(struct state *s, unsigned reg, int64_t disp)
{
	if (!forget(s, reg))
		return false;
	if (!s->by_copy && !s->copy && keeps_over_calls(reg)) {
		s->copy = (uint8_t)reg;
		s->copy_off = s->off - (int32_t)disp;
	}
	return true;
}

static bool is_at_sp(const struct fah_insn *in)
{
	return in->mod != 3 && in->rm == RSP && !in->has_index;
}

/* add, sub and and with a constant. */
static bool add_to_sp(struct state *s, const struct fah_insn *in)
{
	if (!in->wide)
		return false;
	switch (in->reg % 8) {
	case 0:
		return grow(s, -in->imm);
	case 5:
		return grow(s, in->imm);
	case 4:
		s->by_copy = true;
		return s->copy != 0;
	case 7: /* cmp */
		return true;
	default:
		return false;
	}
}

static bool move(struct state *s, const struct fah_insn *in)
{
	bool load = in->op == 0x8b;
	unsigned from = load ? in->rm : in->reg, to = load ? in->reg : in->rm;

	if (in->mod == 3 && to == RSP)
		return in->wide && from_copy(s, from, 0);
	if (in->mod == 3 && from == RSP && in->wide)
		return to_copy(s, to, 0);
	if (is_at_sp(in) && in->reg == RBP && in->wide && !s->by_copy) {
		int32_t slot = in->disp - s->off;

		if (!load && s->fp == FAH_FP_SAME && slot <= -16) {
			s->fp = FAH_FP_AT_CFA;
			s->fp_off = slot;
			return true;
		}
		if (load && s->fp == FAH_FP_AT_CFA && slot == s->fp_off) {
			if (!forget(s, RBP))
				return false;
			s->fp = FAH_FP_SAME;
			return true;
		}
	}
	return (in->mod != 3 && !load) || forget(s, to);
}

static bool lea(struct state *s, const struct fah_insn *in)
{
	if (in->reg == RSP && is_at_sp(in) && in->wide)
		return grow(s, -(int64_t)in->disp);
	if (in->reg == RSP)
		return in->wide && !in->has_index && from_copy(s, in->rm, in->disp);
	if (is_at_sp(in) && in->wide)
		return to_copy(s, in->reg, in->disp);
	return forget(s, in->reg);
}

/* What names none of the registers that we follow as its result, or only such that this ends it. */
static bool other(struct state *s, const struct fah_insn *in)
{
	unsigned copy = s->copy;

	return !fah_insn_writes(in, RSP) && (!fah_insn_writes(in, RBP) || forget(s, RBP)) &&
	       (!copy || !fah_insn_writes(in, copy) || forget(s, copy));
}

/* Whether control comes to the next instruction; *ok false: give up. */
static bool follow(struct reading *r, size_t at, const struct fah_insn *in, struct state *s,
		   bool *ok)
{
	int64_t next = (int64_t)at + in->len;
	uint8_t op = in->op;

	if (in->map == 2 && !in->vex && op >> 4 == 8) { /* jcc */
		*ok = reach(r, next + in->imm, s);
		return true;
	}
	if (in->map == 2 && !in->vex && op == 0x0b) /* ud2 */
		return false;
	if (in->map != 1) {
		*ok = other(s, in);
		return true;
	}
	if (op >> 3 == 0x50 >> 3) {
		*ok = push(s, in->rm);
	} else if (op >> 3 == 0x58 >> 3) {
		*ok = pop(s, in->rm);
	} else if (op == 0x68 || op == 0x6a || (op == 0xff && in->reg % 8 == 6)) {
		*ok = push(s, -1);
	} else if ((op == 0x81 || op == 0x83) && in->mod == 3 && in->rm == RSP) {
		*ok = add_to_sp(s, in);
	} else if (op == 0x89 || op == 0x8b) {
		*ok = move(s, in);
	} else if (op == 0x8d) {
		*ok = lea(s, in);
	} else if (op == 0xc9) { /* leave */
		*ok = from_copy(s, RBP, 0) && pop(s, RBP);
	} else if (op >> 4 == 7 || (op >= 0xe0 && op <= 0xe3)) {
		*ok = reach(r, next + in->imm, s);
	} else if (op == 0xeb || op == 0xe9) {
		*ok = reach(r, next + in->imm, s);
		return false;
	} else if (op == 0xc3) {
		*ok = is_outside(s);
		return false;
	} else if (op == 0xe8 || (op == 0xff && in->reg % 8 == 2)) {
		*ok = op != 0xe8 || in->imm != 0; /* call to the next: a push of the pc */
	} else if (op == 0xff && in->reg % 8 == 4) {
		*ok = is_outside(s); /* to another function; else a table of jumps */
		return false;
	} else if (op == 0xcc || op == 0xf4) {
		return false;
	} else if (op == 0x9c || op == 0x9d || op == 0xc2 || op == 0xc8 || op == 0x8f ||
		   op == 0xcb || (op == 0xff && in->reg % 8 > 2)) {
		*ok = false;
	} else {
		*ok = other(s, in);
	}
	return true;
}

static bool read_all(struct reading *r)
{
	struct state s = {.off = 8};
	struct fah_insn in;
	bool ok = reach(r, 0, &s);

	while (ok && r->n_todo) {
		size_t at = r->todo[--r->n_todo];
		bool on;

		s = r->states[(r->at[at] & NUMBER_MASK) - 1];
		ok = fah_insn_decode(r->code + at, r->len - at, &in);
		if (ok)
			r->at[at] |= (uint16_t)(in.len << LEN_SHIFT);
		on = ok && follow(r, at, &in, &s, &ok);
		if (ok && on)
			ok = at + in.len < r->len && reach(r, (int64_t)at + in.len, &s);
	}
	return ok;
}

static struct fah_rule rule_of(const struct state *s)
{
	/* by DWARF's numbers */
	static const uint8_t number[FAH_REGS] = {0, 2, 1,  3,  FAH_REG_SP, FAH_REG_FP, 4,  5,
						 8, 9, 10, 11, 12,	   13,	       14, 15};
	struct fah_rule rule = {
		.cfa = FAH_CFA_REG, .reg = FAH_REG_SP, .off = s->off, .fp = s->fp & 15};

	if (s->by_copy) {
		rule.reg = number[s->copy];
		rule.off = s->copy_off;
	}
	if (s->fp == FAH_FP_AT_CFA)
		rule.fp_off = s->fp_off;
	return rule;
}

int fah_code_rows(const uint8_t *code, size_t len, uint64_t start, fah_cfi_row row, void *ctx)
{
	_cleanup_(fah_freep) uint16_t *numbers = NULL;
	_cleanup_(fah_freep) uint32_t *todo = NULL;
	struct reading r = {.code = code, .len = len};

	if (!len || len > FAH_CODE_MAX)
		return FAH_ERR_DOUBT;
	r.at = numbers = calloc(len, sizeof(*numbers));
	r.todo = todo = malloc(len * sizeof(*todo));
	if (!numbers || !todo)
		return FAH_ERR_NOMEM;
	if (!read_all(&r))
		return FAH_ERR_DOUBT;
	for (size_t at = 0, last = NUMBER_MASK; at < len;
	     at += numbers[at] ? numbers[at] >> LEN_SHIFT : 1) {
		struct fah_rule rule = {.cfa = FAH_CFA_NONE}; /* no path: padding, data */
		unsigned number = numbers[at] & NUMBER_MASK;

		if (number)
			rule = rule_of(&r.states[number - 1]);
		if (number != last && !row(ctx, start + at, &rule))
			return FAH_ERR_NOMEM;
		last = number;
	}
	return 0;
}
