/*
 * fuzz_native_cfi.c - any bytes as .eh_frame, .eh_frame_hdr, code and a table: the parts of an ELF
 * file that a fuzzer seldom finds its way to.
 */
#include "native/code.h"
#include "native/ehframe.h"
#include "native/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool ok)
{
	if (!ok)
		abort();
}

struct seen {
	uint64_t pc, start, end;
};

static bool row(void *ctx, uint64_t pc, const struct fah_rule *rule)
{
	struct seen *seen = ctx;

	check(pc >= seen->pc && pc >= seen->start && pc <= seen->end);
	check(rule->cfa < FAH_CFA_KINDS && rule->fp < FAH_FP_KINDS && rule->reg < 16 &&
	      rule->fp_reg < 16);
	seen->pc = pc;
	return true;
}

static void functions(const uint8_t *data, size_t len)
{
	struct fah_ehframe eh;

	if (fah_ehframe_read(&eh, data, len, 0x400000, SIZE_MAX) < 0)
		return;
	for (size_t i = 0; i < eh.n_fdes; i++) {
		const struct fah_fde *fde = &eh.fdes[i];
		struct seen seen = {fde->start, fde->start, fde->end};

		check(fde->start < fde->end && fde->cie < eh.n_cies);
		check(!i || fde->start > fde[-1].start);
		fah_cfi_run(&eh.cies[fde->cie], fde->program, fde->start, fde->end, row, &seen);
	}
	fah_ehframe_release(&eh);
}

/* The checksum made right, so that what it covers is reached. */
static void table(const uint8_t *data, size_t len)
{
	struct fah_table_head *head;
	struct fah_table t;

	if (len < sizeof(*head))
		return;
	head = malloc(len);
	check(head != NULL);
	memcpy(head, data, len);
	memcpy(head->magic, FAH_TABLE_MAGIC, sizeof(head->magic));
	head->version = FAH_TABLE_VERSION;
	head->sum = fah_table_sum(head + 1, len - sizeof(*head));
	if (fah_table_open(head, len, &t) == 0)
		for (uint64_t pc = 0; pc < 100000; pc += 37)
			check(fah_table_find(&t, pc)->cfa < FAH_CFA_KINDS);
	free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint64_t eh_frame;
	size_t fdes;

	functions(data, len);
	fah_code_rows(data, len, 0x1000, row, &(struct seen){0x1000, 0x1000, 0x1000 + len});
	fah_ehframe_hdr(data, len, 0x400000, &eh_frame, &fdes);
	table(data, len);
	return 0;
}
