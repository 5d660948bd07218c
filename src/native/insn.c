/*
 * insn.c - see insn.h. By the opcode maps of the processor's manual; what is not in 64-bit code, or
 * in nobody's, is refused.
 */
#include "native/insn.h"

#include <string.h>

#define MAX_LEN 15

struct reader {
	const uint8_t *p, *end, *start;
	bool bad;
};

static uint8_t next(struct reader *r)
{
	if (r->p >= r->end) {
		r->bad = true;
		return 0;
	}
	return *r->p++;
}

static int64_t next_number(struct reader *r, unsigned len)
{
	int64_t v = 0;

	if ((size_t)(r->end - r->p) < len) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->p, len);
	r->p += len;
	if (len && len < 8) /* all are signed */
		v = (int64_t)((uint64_t)v << (64 - 8 * len)) >> (64 - 8 * len);
	return v;
}

/* What an opcode has and writes. In the table of two bytes, ALONE is one without ModRM. */
enum {
	MODRM = 1,
	BYTE = 2, /* an immediate of one byte */
	WORD = 4, /* of four, or two behind 66 */
	BAD = 8,
	REG = 16,    /* writes the register operand */
	RM = 32,     /* writes the other one */
	OPCODE = 64, /* writes the register that the opcode names */
	ALONE = 128,
};

#define ALU(op) \
	[op] = MODRM | RM, [op + 1] = MODRM | RM, [op + 2] = MODRM | REG, [op + 3] = MODRM | REG, \
	[op + 4] = BYTE, [op + 5] = WORD

static const uint8_t one_byte[256] = {
	ALU(0x00),
	ALU(0x08),
	ALU(0x10),
	ALU(0x18),
	ALU(0x20),
	ALU(0x28),
	ALU(0x30),
	[0x06 ... 0x07] = BAD,
	[0x0e] = BAD,
	[0x16 ... 0x17] = BAD,
	[0x1e ... 0x1f] = BAD,
	[0x27] = BAD,
	[0x2f] = BAD,
	[0x37] = BAD,
	[0x38 ... 0x3b] = MODRM,
	[0x3c] = BYTE,
	[0x3d] = WORD,
	[0x3f ... 0x4f] = BAD,
	[0x60 ... 0x61] = BAD,
	[0x63] = MODRM | REG,
	[0x67] = BAD, /* addresses of 32 bits, which nobody uses */
	[0x68] = WORD,
	[0x69] = MODRM | WORD | REG,
	[0x6a] = BYTE,
	[0x6b] = MODRM | BYTE | REG,
	[0x70 ... 0x7f] = BYTE,
	[0x80] = MODRM | BYTE | RM,
	[0x81] = MODRM | WORD | RM,
	[0x82] = BAD,
	[0x83] = MODRM | BYTE | RM,
	[0x84 ... 0x85] = MODRM,
	[0x86 ... 0x87] = MODRM | REG | RM,
	[0x88 ... 0x89] = MODRM | RM,
	[0x8a ... 0x8b] = MODRM | REG,
	[0x8c] = MODRM | RM,
	[0x8d] = MODRM | REG,
	[0x8e] = MODRM,
	[0x8f] = MODRM | RM,
	[0x90 ... 0x97] = OPCODE,
	[0x9a] = BAD,
	[0xa8] = BYTE,
	[0xa9] = WORD,
	[0xb0 ... 0xb7] = BYTE | OPCODE,
	[0xb8 ... 0xbf] = OPCODE,
	[0xc0 ... 0xc1] = MODRM | BYTE | RM,
	[0xc6] = MODRM | BYTE | RM,
	[0xc7] = MODRM | WORD | RM,
	[0xcd] = BYTE,
	[0xce] = BAD,
	[0xd0 ... 0xd3] = MODRM | RM,
	[0xd4 ... 0xd6] = BAD,
	[0xd8 ... 0xdf] = MODRM,
	[0xe0 ... 0xe7] = BYTE,
	[0xea] = BAD,
	[0xeb] = BYTE,
	[0xf6 ... 0xf7] = MODRM,
	[0xfe ... 0xff] = MODRM,
};

static const uint8_t two_bytes[256] = {
	[0x02 ... 0x03] = REG,
	[0x05 ... 0x09] = ALONE,
	[0x0b] = ALONE,
	[0x0e] = ALONE,
	[0x0f] = BYTE,
	[0x30 ... 0x37] = ALONE,
	[0x40 ... 0x4f] = REG,
	[0x77] = ALONE,
	[0x80 ... 0x8f] = ALONE,
	[0x90 ... 0x9f] = RM,
	[0xa0 ... 0xa2] = ALONE,
	[0xa4] = BYTE | RM,
	[0xa5] = RM,
	[0xa8 ... 0xaa] = ALONE,
	[0xab] = RM,
	[0xac] = BYTE | RM,
	[0xad] = RM,
	[0xaf] = REG,
	[0xb0 ... 0xb1] = RM,
	[0xb3] = RM,
	[0xb6 ... 0xb8] = REG,
	[0xba] = BYTE | RM,
	[0xbb] = RM,
	[0xbc ... 0xbf] = REG,
	[0xc0 ... 0xc1] = REG | RM,
	[0xc8 ... 0xcf] = ALONE | OPCODE,
};

/* Vectors, with and without VEX. */
static const uint8_t vectors[256] = {
	[0x2c ... 0x2d] = REG, [0x50] = REG,  [0x70 ... 0x73] = BYTE,
	[0x77] = ALONE,	       [0xc2] = BYTE, [0xc4] = BYTE,
	[0xc5] = BYTE | REG,   [0xc6] = BYTE, [0xd7] = REG,
};

static uint8_t flags_of(const struct fah_insn *in)
{
	switch (in->map) {
	case 1:
		return one_byte[in->op];
	case 2:
		return (in->vex ? 0 : two_bytes[in->op]) | vectors[in->op];
	case 4:
		return BYTE;
	default:
		return 0;
	}
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0xf2 || b == 0xf3 || b == 0xf0 || (b & 0xfe) == 0x64 ||
	       (b & 0xe7) == 0x26;
}

static unsigned immediate_len(const struct fah_insn *in, uint8_t flags)
{
	unsigned word = in->half ? 2 : 4;
	uint8_t op = in->op;

	if (flags & (BYTE | WORD))
		return flags & BYTE ? 1 : word;
	if (in->map == 2)
		return !in->vex && op >> 4 == 8 ? 4 : 0;
	if (in->map != 1)
		return 0;
	if (op >= 0xb8 && op <= 0xbf)
		return in->wide ? 8 : word;
	if (op >= 0xa0 && op <= 0xa3)
		return 8;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	if (op == 0xc2 || op == 0xca)
		return 2;
	if (op == 0xc8)
		return 3;
	if (op == 0xf6 || op == 0xf7)
		return in->reg % 8 > 1 ? 0 : op == 0xf6 ? 1 : word;
	return 0;
}

/* VEX and EVEX carry the map and the high bits of the registers, turned over. */
static void read_vex(struct reader *r, struct fah_insn *in, uint8_t first, uint8_t *rex)
{
	uint8_t a = next(r), b, map;

	in->vex = true;
	*rex = (uint8_t)(a & 0x80 ? 0 : 4);
	in->map = 2;
	in->vvvv = ~(a >> 3) & 15;
	if (first == 0xc5) {
		in->half = (a & 3) == 1;
		return;
	}
	b = next(r);
	*rex |= (uint8_t)((a & 0x40 ? 0 : 2) | (a & 0x20 ? 0 : 1));
	map = first == 0x62 ? a & 7 : a & 31;
	in->wide = b & 0x80;
	in->vvvv = ~(b >> 3) & 15;
	in->half = (b & 3) == 1;
	if (first == 0x62)
		next(r);
	if (map == 5 || map == 6) /* half precision: as 0f 38 here */
		map = 2;
	if (map < 1 || map > 3)
		r->bad = true;
	in->map = map + 1;
}

static void read_modrm(struct reader *r, struct fah_insn *in, uint8_t rex)
{
	uint8_t modrm = next(r), sib;

	in->has_modrm = true;
	in->mod = modrm >> 6;
	in->reg = (uint8_t)((modrm >> 3 & 7) | (rex & 4) << 1);
	in->rm = (uint8_t)((modrm & 7) | (rex & 1) << 3);
	if (in->mod == 3)
		return;
	if ((modrm & 7) == 4) {
		sib = next(r);
		in->rm = (uint8_t)((sib & 7) | (rex & 1) << 3);
		in->has_index = (sib >> 3 & 7) != 4 || (rex & 2);
		if (in->mod == 0 && (sib & 7) == 5) {
			in->has_index = true; /* no base at all */
			in->disp = (int32_t)next_number(r, 4);
		}
	} else if (in->mod == 0 && (modrm & 7) == 5) {
		in->has_index = true;
		in->disp = (int32_t)next_number(r, 4);
	}
	if (in->mod == 1)
		in->disp = (int32_t)next_number(r, 1);
	else if (in->mod == 2)
		in->disp = (int32_t)next_number(r, 4);
}

static void read_opcode(struct reader *r, struct fah_insn *in, uint8_t *rex)
{
	uint8_t b = next(r);

	while (is_prefix(b) && !r->bad) {
		in->half |= b == 0x66;
		b = next(r);
	}
	if (b == 0xc4 || b == 0xc5 || b == 0x62) {
		read_vex(r, in, b, rex);
		in->op = next(r);
		return;
	}
	if ((b & 0xf0) == 0x40) {
		*rex = b & 15;
		in->rex = true;
		in->wide = b & 8;
		b = next(r);
	}
	in->map = 1;
	if (b == 0x0f) {
		b = next(r);
		in->map = 2;
		if (b == 0x38 || b == 0x3a) {
			in->map = b == 0x38 ? 3 : 4;
			b = next(r);
		}
	}
	in->op = b;
	if (in->map == 1 && (one_byte[b] & BAD))
		r->bad = true;
}

bool fah_insn_decode(const uint8_t *p, size_t max, struct fah_insn *ret)
{
	struct reader r = {p, p + (max < MAX_LEN ? max : MAX_LEN), p, false};
	struct fah_insn in = {0};
	uint8_t rex = 0;
	uint8_t flags;

	read_opcode(&r, &in, &rex);
	flags = flags_of(&in);
	if (in.map == 1 ? flags & MODRM : !(flags & ALONE))
		read_modrm(&r, &in, rex);
	else
		in.rm = (uint8_t)((in.op & 7) | (rex & 1) << 3);
	in.imm = next_number(&r, immediate_len(&in, flags));
	if (r.bad)
		return false;
	in.len = (uint8_t)(r.p - p);
	*ret = in;
	return true;
}

/* Of REG, RM and OPCODE those that the instruction has. */
static unsigned written(const struct fah_insn *in)
{
	uint8_t op = in->op, flags = flags_of(in);

	if (in->map == 1) {
		if (op >= 0x80 && op <= 0x83)
			return in->reg % 8 == 7 ? 0 : RM; /* cmp */
		if (op == 0xf6 || op == 0xf7)
			return in->reg % 8 == 2 || in->reg % 8 == 3 ? RM : 0;
		return op >= 0xfe ? (in->reg % 8 < 2 ? RM : 0) : flags;
	}
	if (in->map == 2) {
		if (op == 0x7e)
			return in->half ? RM : 0;
		return in->vex && op == 0x93 ? REG : flags;
	}
	if (in->map == 3)
		return op >= 0xf0 ? REG : 0;
	return op == 0xf0 ? REG : op >= 0x14 && op <= 0x17 ? RM : 0;
}

/* A register of one byte without REX: 4 to 7 are the second bytes of 0 to 3. */
static unsigned byte_register(const struct fah_insn *in, unsigned r)
{
	bool bytes = (in->map == 1 && (!(in->op & 1) || in->op >> 3 == 0xb0 >> 3) &&
		      in->op != 0x8d && (in->op < 0x40 || in->op >= 0x80) &&
		      in->op >> 3 != 0xb8 >> 3 && in->op >> 3 != 0x90 >> 3) ||
		     (in->map == 2 && !in->vex && in->op >> 4 == 9);

	return bytes && !in->rex && r >= 4 && r < 8 ? r - 4 : r;
}

bool fah_insn_writes(const struct fah_insn *in, unsigned r)
{
	unsigned what = written(in);

	if (in->map == 2 && !in->vex && in->op == 0xa2)
		return r == 3; /* cpuid names none, but writes rbx */
	if (in->map == 3 && in->vex && in->op >= 0xf0 && in->vvvv == r)
		return true;
	if (!(what & (REG | RM | OPCODE)))
		return false;
	return ((what & REG) && byte_register(in, in->reg) == r) ||
	       ((what & RM) && in->mod == 3 && byte_register(in, in->rm) == r) ||
	       ((what & OPCODE) && byte_register(in, in->rm) == r);
}
