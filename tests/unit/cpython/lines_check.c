/*
 * lines_check.c - reads a dump of lines_dump.py on stdin and compares each instruction's position
 * with what fah_py_position says. Cut and damaged forms of each table go through it as well:
 * whatever they give, nothing may be read outside (run under ASan).
 */
#include "cpython/cpython.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
	uint32_t kind;
	int32_t firstlineno;
	uint32_t table_len, rows;
};

static void damage(const struct head *h, const uint8_t *table, uint32_t *seed)
{
	/* A block of its own, exactly as long as the table: ASan sees each byte too far. */
	uint32_t len = h->table_len;
	uint8_t *copy;
	struct fah_py_position position;

	if (len == 0)
		return;
	*seed = *seed * 1664525 + 1013904223;
	len = *seed % len + 1;
	copy = malloc(len);
	if (copy == NULL)
		exit(2);
	memcpy(copy, table, len);
	copy[(*seed >> 8) % len] = (uint8_t)(*seed >> 24);
	for (uint32_t instr = 0; instr < 64; instr += 2)
		fah_py_position(h->kind, copy, len, h->firstlineno, instr * (*seed % 9), &position);
	fah_py_position(h->kind, copy, len, h->firstlineno, 0x7ffffffe, &position);
	free(copy);
}

int main(void)
{
	struct head h;
	unsigned long codes = 0, rows = 0, wrong = 0;
	uint32_t seed = 1;

	while (fread(&h, sizeof(h), 1, stdin) == 1) {
		uint8_t *table = malloc(h.table_len + 1);
		struct fah_py_position want, have;

		if (table == NULL || fread(table, 1, h.table_len, stdin) != h.table_len)
			return 2;
		for (uint32_t i = 0; i < h.rows; i++, rows++) {
			int err;

			if (fread(&want, sizeof(want), 1, stdin) != 1)
				return 2;
			memset(&have, 0x55, sizeof(have));
			err = fah_py_position(h.kind, table, h.table_len, h.firstlineno, i * 2,
					      &have);
			if ((err < 0 || memcmp(&want, &have, sizeof(want)) != 0) && wrong++ < 10)
				fprintf(stderr,
					"code %lu, instruction %u: %d, line %d-%d column %d-%d, "
					"Python says %d-%d %d-%d\n",
					codes, i, err, have.line, have.end_line, have.column,
					have.end_column, want.line, want.end_line, want.column,
					want.end_column);
		}
		if (h.rows > 0 && h.kind != FAH_PY_LINES_LNOTAB &&
		    fah_py_position(h.kind, table, h.table_len, h.firstlineno, h.rows * 2, &have) ==
			    0 &&
		    wrong++ < 10)
			fprintf(stderr, "code %lu: a position behind its end\n", codes);
		if (fah_py_position(h.kind, table, h.table_len, h.firstlineno, FAH_PY_NOT_STARTED,
				    &have) != 0 ||
		    have.line != (h.firstlineno > 0 ? h.firstlineno : 0))
			wrong++;
		damage(&h, table, &seed);
		free(table);
		codes++;
	}
	printf("%lu instructions of %lu code objects, %lu wrong\n", rows, codes, wrong);
	return wrong || rows < 1000 ? 1 : 0;
}
