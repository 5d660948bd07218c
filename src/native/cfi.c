/*
 * cfi.c - see cfi.h. Only what decides the CFA, rbp and the return address is followed; what other
 * registers do is skipped.
 *
 * An instruction that we have no rule for makes the rows without rule that depend on it; one that
 * cannot be makes the whole program worthless.
 */
#include "native/cfi.h"

#include "core/err.h"
#include "native/regs.h"

#include <string.h>

#define MAX_REMEMBERED 32
#define SIGNAL_SP_AT 160 /* where a signal frame has the interrupted sp: gregs[REG_RSP] */

enum { /* of DWARF */
       DW_CFA_nop = 0x00,
       DW_CFA_advance_loc1 = 0x02,
       DW_CFA_advance_loc2 = 0x03,
       DW_CFA_advance_loc4 = 0x04,
       DW_CFA_offset_extended = 0x05,
       DW_CFA_restore_extended = 0x06,
       DW_CFA_undefined = 0x07,
       DW_CFA_same_value = 0x08,
       DW_CFA_register = 0x09,
       DW_CFA_remember_state = 0x0a,
       DW_CFA_restore_state = 0x0b,
       DW_CFA_def_cfa = 0x0c,
       DW_CFA_def_cfa_register = 0x0d,
       DW_CFA_def_cfa_offset = 0x0e,
       DW_CFA_def_cfa_expression = 0x0f,
       DW_CFA_expression = 0x10,
       DW_CFA_offset_extended_sf = 0x11,
       DW_CFA_def_cfa_sf = 0x12,
       DW_CFA_def_cfa_offset_sf = 0x13,
       DW_CFA_val_offset = 0x14,
       DW_CFA_val_offset_sf = 0x15,
       DW_CFA_val_expression = 0x16,
       DW_CFA_GNU_args_size = 0x2e,
       DW_CFA_GNU_negative_offset_extended = 0x2f,
       DW_CFA_advance_loc = 0x40, /* with the operand in the low six bits, as the next two */
       DW_CFA_offset = 0x80,
       DW_CFA_restore = 0xc0,

       DW_OP_deref = 0x06,
       DW_OP_const1u = 0x08,
       DW_OP_and = 0x1a,
       DW_OP_plus = 0x22,
       DW_OP_plus_uconst = 0x23,
       DW_OP_shl = 0x24,
       DW_OP_ge = 0x2a,
       DW_OP_lit0 = 0x30,
       DW_OP_lit31 = 0x4f,
       DW_OP_breg0 = 0x70,
       DW_OP_breg15 = 0x7f,
};

struct run {
	const struct fah_cie *cie;
	struct fah_cursor c;
	struct fah_cfi_state now, remembered[MAX_REMEMBERED];
	unsigned n_remembered;
	uint64_t pc, end;
	fah_cfi_row row; /* NULL: a CIE's program, which may not advance */
	void *ctx;
};

int64_t fah_get_sleb(struct fah_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;

	while (c->p < c->end && shift < 64) {
		uint8_t b = *c->p++;

		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (b < 0x80) {
			if (shift < 64 && (b & 0x40))
				v |= ~0ull << shift;
			return (int64_t)v;
		}
	}
	c->bad = true;
	c->p = c->end;
	return 0;
}

static uint64_t get_fixed(struct fah_cursor *c, unsigned n)
{
	const uint8_t *p = fah_get_bytes(c, n);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, n);
	return v;
}

/* A sum or product that doesn't fit 32 bits is no offset within a frame. */
static bool fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

static bool scaled(const struct run *r, int64_t factor, int64_t *ret)
{
	return !__builtin_mul_overflow(factor, r->cie->data_align, ret);
}

/* reg + off is the CFA, where both are possible. */
static void set_cfa(struct fah_cfi_state *s, uint64_t reg, int64_t off)
{
	s->signal_cfa = false;
	s->rule.add = 0;
	if (reg >= FAH_REGS || !fits(off)) {
		s->rule.cfa = FAH_CFA_NONE;
		return;
	}
	s->rule.cfa = FAH_CFA_REG;
	s->rule.reg = (uint8_t)reg;
	s->rule.off = (int32_t)off;
}

/* breg: *ret_reg and *ret_off. */
static bool get_breg(struct fah_cursor *e, uint8_t *ret_reg, int64_t *ret_off)
{
	uint64_t op = get_fixed(e, 1);

	if (e->bad || op < DW_OP_breg0 || op > DW_OP_breg15)
		return false;
	*ret_reg = (uint8_t)(op - DW_OP_breg0);
	*ret_off = fah_get_sleb(e);
	return !e->bad;
}

/* What a stub of a procedure linkage table has, behind its `rsp + off`: + ((rip & 15) >= n) << 3.
 */
static bool is_plt(struct fah_cursor e, uint8_t *ret_n)
{
	const uint8_t *p;

	if (e.end - e.p != 9)
		return false;
	p = e.p;
	*ret_n = (uint8_t)(p[4] - DW_OP_lit0);
	return p[0] == DW_OP_breg0 + FAH_REG_PC && p[1] == 0 && p[2] == DW_OP_lit0 + 15 &&
	       p[3] == DW_OP_and && *ret_n < 16 && p[5] == DW_OP_ge && p[6] == DW_OP_lit0 + 3 &&
	       p[7] == DW_OP_shl && p[8] == DW_OP_plus;
}

/* Behind the last deref or breg: nothing, or one constant to add. */
static bool get_addend(struct fah_cursor *e, int64_t *ret)
{
	uint64_t op, v;

	*ret = 0;
	if (e->p == e->end)
		return true;
	op = get_fixed(e, 1);
	if (op == DW_OP_plus_uconst) {
		v = fah_get_varint(e);
	} else {
		if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
			v = op - DW_OP_lit0;
		else if (op == DW_OP_const1u)
			v = get_fixed(e, 1);
		else
			return false;
		if (get_fixed(e, 1) != DW_OP_plus)
			return false;
	}
	*ret = (int64_t)v;
	return !e->bad && v <= INT32_MAX && e->p == e->end;
}

static void set_cfa_expression(struct fah_cfi_state *s, struct fah_cursor e)
{
	int64_t off, add;
	uint8_t reg, n;

	s->rule.cfa = FAH_CFA_NONE;
	s->signal_cfa = false;
	if (!get_breg(&e, &reg, &off) || !fits(off))
		return;
	if (is_plt(e, &n)) {
		set_cfa(s, reg, off);
		s->rule.cfa = FAH_CFA_PLT;
		s->rule.add = n;
		return;
	}
	if (e.p < e.end && *e.p == DW_OP_deref) {
		e.p++;
		if (!get_addend(&e, &add))
			return;
		set_cfa(s, reg, off);
		s->rule.cfa = FAH_CFA_DEREF;
		s->rule.add = (int32_t)add;
		s->signal_cfa = reg == FAH_REG_SP && off == SIGNAL_SP_AT && add == 0;
		return;
	}
	if (get_addend(&e, &add))
		set_cfa(s, reg, off + add);
}

static void set_fp(struct fah_cfi_state *s, enum fah_fp_kind kind, unsigned reg, int64_t off)
{
	bool good = fits(off);

	s->rule.fp = (good ? kind : FAH_FP_LOST) & 15;
	s->rule.fp_reg = good ? (uint8_t)reg : 0;
	s->rule.fp_off = good ? (int32_t)off : 0;
}

/* reg is saved at CFA + off. */
static void saved_at(struct fah_cfi_state *s, uint64_t reg, int64_t off)
{
	if (reg == FAH_REG_FP)
		set_fp(s, FAH_FP_AT_CFA, 0, off);
	else if (reg == FAH_REG_PC)
		s->ra = off == -8 ? FAH_RA_USUAL : FAH_RA_ODD;
}

static void saved_by_expression(struct fah_cfi_state *s, uint64_t reg, struct fah_cursor e)
{
	int64_t off;
	uint8_t base;

	if (reg == FAH_REG_PC) {
		s->ra = FAH_RA_ODD;
	} else if (reg == FAH_REG_FP) {
		if (get_breg(&e, &base, &off) && e.p == e.end)
			set_fp(s, FAH_FP_AT_REG, base, off);
		else
			set_fp(s, FAH_FP_LOST, 0, 0);
	}
}

/* The register's value is gone, or somewhere that we have no rule for. */
static void lost(struct fah_cfi_state *s, uint64_t reg, enum fah_cfi_ra ra)
{
	if (reg == FAH_REG_FP)
		set_fp(s, FAH_FP_LOST, 0, 0);
	else if (reg == FAH_REG_PC)
		s->ra = ra;
}

static void same(struct fah_cfi_state *s, uint64_t reg)
{
	if (reg == FAH_REG_FP)
		set_fp(s, FAH_FP_SAME, 0, 0);
	else if (reg == FAH_REG_PC)
		s->ra = FAH_RA_ODD;
}

static void restore(struct run *r, uint64_t reg)
{
	const struct fah_cfi_state *initial = &r->cie->initial;

	if (reg == FAH_REG_FP)
		set_fp(&r->now, initial->rule.fp, initial->rule.fp_reg, initial->rule.fp_off);
	else if (reg == FAH_REG_PC)
		r->now.ra = initial->ra;
}

static struct fah_rule rule_of(const struct fah_cie *cie, const struct fah_cfi_state *s)
{
	struct fah_rule none = {.cfa = FAH_CFA_NONE}, rule = s->rule;

	if (cie->signal && s->signal_cfa) {
		none.cfa = FAH_CFA_SIGNAL;
		return none;
	}
	if (s->ra == FAH_RA_NONE) {
		none.cfa = FAH_CFA_END;
		return none;
	}
	if (s->ra == FAH_RA_ODD || rule.cfa == FAH_CFA_NONE)
		return none;
	rule.flags = cie->signal ? FAH_RULE_EXACT : 0;
	return rule;
}

static bool advance(struct run *r, uint64_t delta)
{
	struct fah_rule rule;
	uint64_t by;

	if (!r->row || __builtin_mul_overflow(delta, r->cie->code_align, &by) ||
	    by > r->end - r->pc)
		return false;
	rule = rule_of(r->cie, &r->now);
	if (by && !r->row(r->ctx, r->pc, &rule))
		return false;
	r->pc += by;
	return true;
}

/* Whether the CFA is one that a new register or offset can be put into. */
static bool has_plain_cfa(const struct run *r)
{
	return r->now.rule.cfa == FAH_CFA_REG;
}

static struct fah_cursor get_block(struct fah_cursor *c)
{
	struct fah_cursor block = {c->p, c->p, true};
	uint64_t len = fah_get_varint(c);
	const uint8_t *p = fah_get_bytes(c, len);

	if (p)
		block = (struct fah_cursor){p, p + len, false};
	return block;
}

/* The instructions that have an offset to multiply. */
static bool do_offset(struct run *r, uint8_t op, uint64_t reg)
{
	int64_t factor, off;

	if (op == DW_CFA_offset_extended_sf || op == DW_CFA_val_offset_sf)
		factor = fah_get_sleb(&r->c);
	else
		factor = (int64_t)fah_get_varint(&r->c);
	if (op == DW_CFA_GNU_negative_offset_extended && __builtin_sub_overflow(0, factor, &factor))
		return false;
	if (!scaled(r, factor, &off))
		return false;
	if (op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf)
		lost(&r->now, reg, FAH_RA_ODD);
	else
		saved_at(&r->now, reg, off);
	return true;
}

static bool do_def_cfa(struct run *r, uint8_t op)
{
	uint64_t reg = r->now.rule.reg;
	int64_t off = r->now.rule.off;
	bool plain = has_plain_cfa(r);

	if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_register)
		reg = fah_get_varint(&r->c);
	if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_offset) {
		off = (int64_t)fah_get_varint(&r->c);
	} else if (op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf) {
		if (!scaled(r, fah_get_sleb(&r->c), &off))
			return false;
	}
	if (plain || op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf)
		set_cfa(&r->now, reg, off);
	else
		r->now.rule.cfa = FAH_CFA_NONE;
	return true;
}

static bool remember(struct run *r)
{
	if (r->n_remembered == MAX_REMEMBERED)
		return false;
	r->remembered[r->n_remembered++] = r->now;
	return true;
}

static bool recall(struct run *r)
{
	if (!r->n_remembered)
		return false;
	r->now = r->remembered[--r->n_remembered];
	return true;
}

static bool do_extended(struct run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_advance_loc1:
		return advance(r, get_fixed(&r->c, 1));
	case DW_CFA_advance_loc2:
		return advance(r, get_fixed(&r->c, 2));
	case DW_CFA_advance_loc4:
		return advance(r, get_fixed(&r->c, 4));
	case DW_CFA_remember_state:
		return remember(r);
	case DW_CFA_restore_state:
		return recall(r);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return do_def_cfa(r, op);
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(&r->now, get_block(&r->c));
		return true;
	case DW_CFA_GNU_args_size: /* for exceptions only */
		fah_get_varint(&r->c);
		return true;
	default:
		break;
	}
	reg = fah_get_varint(&r->c);
	switch (op) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		return do_offset(r, op, reg);
	case DW_CFA_restore_extended:
		restore(r, reg);
		return true;
	case DW_CFA_undefined:
		lost(&r->now, reg, FAH_RA_NONE);
		return true;
	case DW_CFA_same_value:
		same(&r->now, reg);
		return true;
	case DW_CFA_register:
		fah_get_varint(&r->c);
		lost(&r->now, reg, FAH_RA_ODD);
		return true;
	case DW_CFA_expression:
		saved_by_expression(&r->now, reg, get_block(&r->c));
		return true;
	case DW_CFA_val_expression:
		get_block(&r->c);
		lost(&r->now, reg, FAH_RA_ODD);
		return true;
	default:
		return false;
	}
}

static int run_program(struct run *r)
{
	bool good = true;

	while (good && r->c.p < r->c.end && !r->c.bad) {
		uint8_t op = *r->c.p++;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			good = advance(r, op & 0x3f);
			break;
		case DW_CFA_offset:
			good = do_offset(r, DW_CFA_offset, op & 0x3f);
			break;
		case DW_CFA_restore:
			restore(r, op & 0x3f);
			break;
		default:
			good = do_extended(r, op);
			break;
		}
	}
	return good && !r->c.bad ? 0 : FAH_ERR_DAMAGED;
}

int fah_cfi_initial(struct fah_cie *cie, struct fah_cursor program)
{
	struct run r = {.cie = cie, .c = program};
	int err;

	cie->initial = (struct fah_cfi_state){.ra = FAH_RA_ODD};
	r.now = cie->initial;
	err = run_program(&r);
	if (err < 0)
		return err;
	cie->initial = r.now;
	return 0;
}

int fah_cfi_run(const struct fah_cie *cie, struct fah_cursor program, uint64_t start, uint64_t end,
		fah_cfi_row row, void *ctx)
{
	struct run r = {.cie = cie, .c = program, .pc = start, .end = end, .row = row, .ctx = ctx};
	struct fah_rule rule;
	int err;

	if (end < start)
		return FAH_ERR_DAMAGED;
	r.now = cie->initial;
	err = run_program(&r);
	if (err < 0)
		return err;
	rule = rule_of(cie, &r.now);
	return row(ctx, r.pc, &rule) ? 0 : FAH_ERR_DAMAGED;
}
