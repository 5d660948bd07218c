/*
 * lines.c - from an instruction to its source position, for the three forms of line table.
 *
 * Pure functions over the table's bytes, which come from another process: every byte may be
 * anything. Numbers are kept in 64 bits and refused beyond what a source file can have.
 */
#include "core/err.h"
#include "core/varint.h"
#include "cpython/cpython.h"

#define LINE_MAX (1 << 30)

static int set_line(int64_t line, struct fah_py_position *ret)
{
	if (line < -LINE_MAX || line > LINE_MAX)
		return FAH_ERR_FORMAT;
	ret->line = ret->end_line = line > 0 ? (int32_t)line : 0;
	ret->column = ret->end_column = -1;
	return 0;
}

/* 3.8, 3.9: pairs of (bytes of code, signed lines), the first counted from co_firstlineno. */
static int position_lnotab(const uint8_t *table, size_t len, int64_t line, uint32_t instr,
			   struct fah_py_position *ret)
{
	uint64_t addr = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		addr += table[i];
		if (addr > instr)
			break;
		line += (int8_t)table[i + 1];
	}
	return set_line(line, ret);
}

/* 3.10: pairs of (bytes of code, signed lines) where the lines come first; -128: no line. */
static int position_310(const uint8_t *table, size_t len, int64_t line, uint32_t instr,
			struct fah_py_position *ret)
{
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		bool none = table[i + 1] == 0x80;

		if (!none)
			line += (int8_t)table[i + 1];
		end += table[i];
		if (instr < end)
			return set_line(none ? 0 : line, ret);
	}
	return FAH_ERR_FORMAT;
}

/* 3.11's varints: six bits a byte, lowest first, 64 set where more follow. */
static uint32_t get_varint6(struct fah_cursor *c)
{
	uint32_t value = 0;
	unsigned shift = 0;

	while (c->p < c->end && shift < 30) {
		uint8_t b = *c->p++;

		value |= (uint32_t)(b & 63) << shift;
		if ((b & 64) == 0)
			return value;
		shift += 6;
	}
	c->bad = true;
	c->p = c->end;
	return 0;
}

static int64_t get_svarint6(struct fah_cursor *c)
{
	uint32_t v = get_varint6(c);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/*
 * 3.11+: entries of a head byte (1 | code in 4 bits | units of code - 1 in 3 bits) and what the
 * code says: short columns, one line with columns, long, no columns, nothing.
 */
int fah_py_places_next(struct fah_py_places *p, struct fah_py_position *ret)
{
	struct fah_cursor *c = &p->c;
	int64_t end_line, column = -1, end_column = -1;
	const uint8_t *columns;
	unsigned code;
	uint8_t head;

	if (c->p >= c->end)
		return 0;
	head = *c->p++;
	code = head >> 3 & 15;
	if ((head & 0x80) == 0)
		return FAH_ERR_FORMAT;
	p->from = p->to;
	p->to += ((head & 7) + 1u) * 2;
	end_line = p->line;
	if (code == 14) {
		p->line += get_svarint6(c);
		end_line = p->line + get_varint6(c);
		column = (int64_t)get_varint6(c) - 1;
		end_column = (int64_t)get_varint6(c) - 1;
	} else if (code == 13) {
		p->line += get_svarint6(c);
		end_line = p->line;
	} else if (code >= 10 && code <= 12) {
		p->line += code - 10;
		end_line = p->line;
		columns = fah_get_bytes(c, 2);
		if (columns != NULL) {
			column = columns[0];
			end_column = columns[1];
		}
	} else if (code < 10) {
		columns = fah_get_bytes(c, 1);
		if (columns != NULL) {
			column = (int64_t)code << 3 | columns[0] >> 4;
			end_column = column + (columns[0] & 15);
		}
	}
	if (c->bad || p->line < -LINE_MAX || p->line > LINE_MAX || end_line > LINE_MAX)
		return FAH_ERR_FORMAT;
	set_line(0, ret);
	if (code == 15)
		return 1;
	ret->line = p->line > 0 ? (int32_t)p->line : 0;
	ret->end_line = end_line > 0 ? (int32_t)end_line : 0;
	ret->column = (int32_t)column;
	ret->end_column = (int32_t)end_column;
	return 1;
}

static int position_311(const uint8_t *table, size_t len, int64_t line, uint32_t instr,
			struct fah_py_position *ret)
{
	struct fah_py_places places = FAH_PY_PLACES(table, len, line);
	struct fah_py_position found;
	int got;

	while ((got = fah_py_places_next(&places, &found)) > 0) {
		if (instr >= places.to)
			continue;
		*ret = found;
		return 0;
	}
	return FAH_ERR_FORMAT;
}

int fah_py_position(enum fah_py_lines kind, const uint8_t *table, size_t len, int32_t firstlineno,
		    uint32_t instr, struct fah_py_position *ret)
{
	/* A frame that has not started stands where its function is defined, as Python itself says.
	 */
	if (instr == FAH_PY_NOT_STARTED)
		return set_line(firstlineno, ret);
	switch (kind) {
	case FAH_PY_LINES_LNOTAB:
		return position_lnotab(table, len, firstlineno, instr, ret);
	case FAH_PY_LINES_310:
		return position_310(table, len, firstlineno, instr, ret);
	case FAH_PY_LINES_311:
		return position_311(table, len, firstlineno, instr, ret);
	}
	return FAH_ERR_FORMAT;
}
