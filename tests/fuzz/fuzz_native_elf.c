/*
 * fuzz_native_elf.c - any bytes as an ELF file: its head, symbols, stubs and unwind table. Whatever
 * comes of it, a table that is built is one that opens, and a walk by its rules ends within bounds.
 */
#include "native/plt.h"
#include "native/table_file.h"
#include "native/unwind.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void symbols(struct fah_elf *elf)
{
	struct fah_symbols syms, stubs;

	if (fah_symbols_read(elf, &syms) < 0)
		return;
	for (size_t i = 0; i < syms.n; i++) {
		const struct fah_symbol *s = &syms.symbols[i];

		check(s->name[0] && strlen(s->name) < SIZE_MAX);
		check(!i || s->start > s[-1].start);
		check(s->end == s->start || fah_symbols_find(&syms, s->start) == s);
	}
	if (fah_plt_read(elf, &syms, &stubs) == 0) {
		for (size_t i = 0; i < stubs.n; i++)
			check(strlen(stubs.symbols[i].name) > strlen("@plt"));
		fah_symbols_release(&stubs);
	}
	fah_symbols_release(&syms);
}

/* From every row, over a stack of numbers that may be addresses of it. */
static void walks(const struct fah_table *table)
{
	static uint64_t words[256];
	union {
		struct fah_unwind_modules mods;
		char room[sizeof(struct fah_unwind_modules) + sizeof(struct fah_unwind_module)];
	} block = {.mods = {.n = 1}};
	struct fah_stack stack = {(uint64_t)(uintptr_t)words, (uint64_t)(uintptr_t)(words + 256),
				  NULL};
	struct fah_unwind_result result;
	struct fah_regs regs = {.known = FAH_REGS_ALL};
	uint64_t pcs[8];

	block.mods.modules[0] = (struct fah_unwind_module){
		.start = 0x1000, .end = 1ull << 33, .base = 0x1000, .table = *table};
	check(fah_unwind_modules_sort(&block.mods) == 0);
	for (unsigned i = 0; i < 256; i++)
		words[i] = i % 3 && table->n_rows ? 0x1000 + table->rows[i % table->n_rows].pc
						  : (uint64_t)(uintptr_t)&words[i * 7 % 256];
	for (unsigned i = 0; i < FAH_REGS; i++)
		regs.r[i] = (uint64_t)(uintptr_t)&words[i * 9];
	for (uint32_t row = 0; row < table->n_rows && row < 1000; row++) {
		regs.pc = 0x1000 + table->rows[row].pc;
		check(fah_unwind(&block.mods, NULL, &regs, &stack, pcs, NULL, 8, &result) <= 8);
		check(result.stop < FAH_UNWIND_STOPS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fah_build_stats stats;
	struct fah_elf *elf = NULL;
	struct fah_table table;
	size_t table_len;
	void *bytes;

	if (fah_elf_open_mem(data, len, &elf) < 0)
		return 0;
	symbols(elf);
	if (fah_table_build(elf, "key", 3, &bytes, &table_len, &stats) == 0) {
		check(fah_table_open(bytes, table_len, &table) == 0);
		check(table.n_rows == stats.rows);
		walks(&table);
		free(bytes);
	}
	fah_elf_free(elf);
	return 0;
}
