/*
 * table_tool.c - looks at modules from the command line, for check_tables.py and for measuring.
 *
 *   table_tool rows FILE       every row: pc, then the rule in words
 *   table_tool stats FILE...   one line a file: rows, rules, bytes, ms to make, functions, bad,
 * coverage table_tool symbols FILE    every symbol: start, end, name table_tool cached DIR FILE...
 * ms to get each from the folder
 */
#include "native/insn.h"
#include "native/symbols.h"
#include "native/table_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *const regs[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
				   "r8",  "r9",	 "r10", "r11", "r12", "r13", "r14", "r15"};

static void print_rule(const struct fah_rule *r)
{
	static const char *const plain[] = {
		[FAH_CFA_NONE] = "none", [FAH_CFA_END] = "end", [FAH_CFA_SIGNAL] = "signal"};

	if (r->cfa == FAH_CFA_REG)
		printf("%s%+d", regs[r->reg], r->off);
	else if (r->cfa == FAH_CFA_DEREF)
		printf("*(%s%+d)%+d", regs[r->reg], r->off, r->add);
	else if (r->cfa == FAH_CFA_PLT)
		printf("plt(%s%+d,%d)", regs[r->reg], r->off, r->add);
	else
		printf("%s", plain[r->cfa]);
	if (r->fp == FAH_FP_AT_CFA)
		printf(" c%+d", r->fp_off);
	else if (r->fp == FAH_FP_AT_REG)
		printf(" %s%+d", regs[r->fp_reg], r->fp_off);
	else
		printf(" %s", r->fp == FAH_FP_SAME ? "u" : "lost");
	printf("%s\n", r->flags ? " exact" : "");
}

static int rows(struct fah_elf *elf)
{
	struct fah_table t;
	size_t len;
	void *bytes;

	if (fah_table_build(elf, "", 0, &bytes, &len, NULL) < 0 ||
	    fah_table_open(bytes, len, &t) < 0)
		return 1;
	for (uint32_t i = 0; i < t.n_rows; i++) {
		printf("%" PRIx64 " ", elf->base + t.rows[i].pc);
		print_rule(&t.rules[t.rows[i].rule]);
	}
	free(bytes);
	return 0;
}

static int stats(struct fah_elf *elf, const char *path)
{
	struct fah_build_stats s;
	double begun = milliseconds(), made;
	struct fah_table t;
	size_t len;
	void *bytes;

	if (fah_table_build(elf, "", 0, &bytes, &len, &s) < 0)
		return 1;
	made = milliseconds();
	if (fah_table_open(bytes, len, &t) < 0)
		return 1;
	printf("%8u rows %5u rules %8zu bytes %7.2f ms +%5.2f check %6u functions %u read %u bad "
	       "%.2f%% of "
	       "code shift %u %s\n",
	       s.rows, s.rules, len, made - begun, milliseconds() - made, s.functions, s.read,
	       s.bad, s.code ? 100.0 * (double)s.covered / (double)s.code : 0.0, t.shift, path);
	free(bytes);
	return 0;
}

static int symbols(struct fah_elf *elf)
{
	struct fah_symbols syms;

	if (fah_symbols_read(elf, &syms) < 0)
		return 1;
	for (size_t i = 0; i < syms.n; i++)
		printf("%" PRIx64 " %" PRIx64 " %s\n", elf->base + syms.symbols[i].start,
		       elf->base + syms.symbols[i].end, syms.symbols[i].name);
	fah_symbols_release(&syms);
	return 0;
}

static int cached(struct fah_elf *elf, const char *dir, const char *path)
{
	double begun = milliseconds();
	struct fah_table_bytes table;

	if (fah_table_get(elf, dir, &table) < 0)
		return 1;
	printf("%7.3f ms %s %s\n", milliseconds() - begun, table.made ? "made" : "found", path);
	free(table.bytes);
	return 0;
}

static int lengths(void)
{
	unsigned n = 0, refused = 0, wrong = 0;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		uint8_t bytes[32];
		struct fah_insn in;
		unsigned byte;
		size_t len = 0;
		int used;

		for (char *p = line; len < sizeof(bytes) && sscanf(p, "%2x %n", &byte, &used) == 1;
		     p += used)
			bytes[len++] = (uint8_t)byte;
		n++;
		if (!fah_insn_decode(bytes, len, &in)) {
			refused++;
		} else if (in.len != len) {
			wrong++;
			printf("%d %s", in.len, line);
		}
	}
	printf("%u %u %u\n", n, refused, wrong);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	int status = 0, first = argc > 1 && !strcmp(argv[1], "cached") ? 3 : 2;

	if (argc == 2 && !strcmp(argv[1], "lengths"))
		return lengths();
	if (argc <= first)
		return 2;
	for (int i = first; i < argc; i++) {
		_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
		int err = !strcmp(argv[i], "[vdso]") ? fah_elf_open_vdso(&elf)
						     : fah_elf_open(argv[i], &elf);

		if (err < 0) {
			fprintf(stderr, "%s: %d\n", argv[i], err);
			status = 1;
		} else if (!strcmp(argv[1], "rows")) {
			status |= rows(elf);
		} else if (!strcmp(argv[1], "stats")) {
			status |= stats(elf, argv[i]);
		} else if (!strcmp(argv[1], "cached")) {
			status |= cached(elf, argv[2], argv[i]);
		} else {
			status |= symbols(elf);
		}
	}
	return status;
}
