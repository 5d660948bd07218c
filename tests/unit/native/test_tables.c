/*
 * test_tables.c - programs of call frame information by hand, tables that are damaged, ELF files
 * that are cut, the folder of tables, and every reason why a walk ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "core/err.h"
#include "native/cfi.h"
#include "native/code.h"
#include "native/eh_return.h"
#include "native/symbols.h"
#include "native/table_file.h"
#include "native/unwind.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- programs ---- */

struct got {
	unsigned n;
	uint64_t pcs[16];
	struct fah_rule rules[16];
};

static bool take(void *ctx, uint64_t pc, const struct fah_rule *rule)
{
	struct got *got = ctx;

	if (got->n == 16)
		return false;
	got->pcs[got->n] = pc;
	got->rules[got->n++] = *rule;
	return true;
}

static const uint8_t usual_cie[] = {0x0c, 7, 8, 0x90,
				    1}; /* def_cfa rsp, 8; offset rip at cfa - 8 */

/* Of a function at [0x1000, 0x1100) behind the usual CIE. */
static int run(struct got *got, const void *program, size_t len)
{
	struct fah_cie cie = {.code_align = 1, .data_align = -8};

	memset(got, 0, sizeof(*got));
	assert_int_equal(
		fah_cfi_initial(
			&cie, (struct fah_cursor){usual_cie, usual_cie + sizeof(usual_cie), false}),
		0);
	return fah_cfi_run(&cie,
			   (struct fah_cursor){program, (const uint8_t *)program + len, false},
			   0x1000, 0x1100, take, got);
}

#define RUN(got, ...) \
	run(got, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void assert_row(const struct got *got, unsigned i, uint64_t pc, int cfa, int reg, int off)
{
	assert_true(i < got->n);
	assert_int_equal(got->pcs[i], pc);
	assert_int_equal(got->rules[i].cfa, cfa);
	assert_int_equal(got->rules[i].reg, reg);
	assert_int_equal(got->rules[i].off, off);
}

static void test_frame_pointer_function(void **state)
{
	struct got got;

	/* push %rbp; mov %rsp,%rbp; ...; leave; ret */
	assert_int_equal(RUN(&got, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x80, 0x0c, 7, 8),
			 0);
	assert_int_equal(got.n, 4);
	assert_row(&got, 0, 0x1000, FAH_CFA_REG, FAH_REG_SP, 8);
	assert_int_equal(got.rules[0].fp, FAH_FP_SAME);
	assert_row(&got, 1, 0x1001, FAH_CFA_REG, FAH_REG_SP, 16);
	assert_int_equal(got.rules[1].fp, FAH_FP_AT_CFA);
	assert_int_equal(got.rules[1].fp_off, -16);
	assert_row(&got, 2, 0x1004, FAH_CFA_REG, FAH_REG_FP, 16);
	assert_row(&got, 3, 0x1084, FAH_CFA_REG, FAH_REG_SP, 8);
	assert_int_equal(got.rules[3].fp, FAH_FP_AT_CFA); /* nothing was restored */
}

static void test_remember_and_restore(void **state)
{
	struct got got;

	/* the epilogue in the middle: remembered before, restored behind */
	assert_int_equal(RUN(&got, 0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x0e, 8, 0xc6, 0x41, 0x0b),
			 0);
	assert_int_equal(got.n, 4);
	assert_row(&got, 2, 0x1002, FAH_CFA_REG, FAH_REG_SP, 8);
	assert_int_equal(got.rules[2].fp, FAH_FP_SAME);
	assert_row(&got, 3, 0x1003, FAH_CFA_REG, FAH_REG_SP, 16);
	assert_int_equal(got.rules[3].fp, FAH_FP_AT_CFA);
	assert_int_equal(RUN(&got, 0x0b), FAH_ERR_DAMAGED); /* nothing was remembered */
}

static void test_every_instruction_has_its_length(void **state)
{
	struct got got;

	/* each with its operands, then a def_cfa_offset that only a right length leads to */
	assert_int_equal(RUN(&got, 0x00, 0x05, 3, 4, 0x06, 3, 0x07, 3, 0x08, 3, 0x09, 3, 12, 0x10,
			     3, 2, 0x77, 0, 0x11, 3, 0x7e, 0x14, 3, 1, 0x15, 3, 0x7f, 0x16, 3, 1,
			     0x30, 0x2e, 8, 0x2f, 3, 1, 0x03, 4, 0, 0x04, 4, 0, 0, 0, 0x0e, 24),
			 0);
	assert_row(&got, got.n - 1, 0x1008, FAH_CFA_REG, FAH_REG_SP, 24);
	assert_int_equal(RUN(&got, 0x12, 6, 0x7e, 0x41, 0x13, 0x7d),
			 0); /* the signed ones: -2, -3 times -8 */
	assert_row(&got, 0, 0x1000, FAH_CFA_REG, FAH_REG_FP, 16);
	assert_row(&got, 1, 0x1001, FAH_CFA_REG, FAH_REG_FP, 24);
	assert_int_equal(RUN(&got, 0x05, 6, 2), 0);
	assert_int_equal(got.rules[0].fp_off, -16);
	assert_int_equal(RUN(&got, 0x11, 6, 0x02), 0);
	assert_int_equal(got.rules[0].fp_off, -16);
}

static void test_expressions(void **state)
{
	struct got got;

	/* a linkage table's stub */
	assert_int_equal(
		RUN(&got, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0);
	assert_row(&got, 0, 0x1000, FAH_CFA_PLT, FAH_REG_SP, 8);
	assert_int_equal(got.rules[0].add, 11);
	/* what realigned frames have: *(rbp - 16); rbp is at rbp + 0 */
	assert_int_equal(RUN(&got, 0x0f, 3, 0x76, 0x70, 0x06, 0x10, 6, 2, 0x76, 0), 0);
	assert_row(&got, 0, 0x1000, FAH_CFA_DEREF, FAH_REG_FP, -16);
	assert_int_equal(got.rules[0].fp, FAH_FP_AT_REG);
	assert_int_equal(got.rules[0].fp_reg, FAH_REG_FP);
	/* *(rsp + 40) + 8, in two ways */
	assert_int_equal(RUN(&got, 0x0f, 5, 0x77, 40, 0x06, 0x23, 8), 0);
	assert_row(&got, 0, 0x1000, FAH_CFA_DEREF, FAH_REG_SP, 40);
	assert_int_equal(got.rules[0].add, 8);
	assert_int_equal(RUN(&got, 0x0f, 5, 0x77, 40, 0x06, 0x38, 0x22), 0);
	assert_int_equal(got.rules[0].add, 8);
	/* one that we have no rule for, and an offset that has no register then; a new CFA heals it
	 */
	assert_int_equal(RUN(&got, 0x0f, 2, 0x30, 0x06, 0x41, 0x0e, 16, 0x41, 0x0c, 7, 16), 0);
	assert_row(&got, 0, 0x1000, FAH_CFA_NONE, 0, 0);
	assert_row(&got, 1, 0x1001, FAH_CFA_NONE, 0, 0);
	assert_row(&got, 2, 0x1002, FAH_CFA_REG, FAH_REG_SP, 16);
}

static void test_return_addresses(void **state)
{
	struct got got;

	assert_int_equal(RUN(&got, 0x07, 16), 0); /* undefined: the outermost */
	assert_int_equal(got.rules[0].cfa, FAH_CFA_END);
	assert_int_equal(RUN(&got, 0x09, 16, 3), 0); /* in rbx */
	assert_int_equal(got.rules[0].cfa, FAH_CFA_NONE);
	assert_int_equal(RUN(&got, 0x90, 2), 0); /* at cfa - 16 */
	assert_int_equal(got.rules[0].cfa, FAH_CFA_NONE);
	assert_int_equal(RUN(&got, 0x90, 2, 0x41, 0xd0), 0); /* and back */
	assert_int_equal(got.rules[1].cfa, FAH_CFA_REG);
}

static void test_impossible_programs(void **state)
{
	uint8_t many[64];
	struct got got;

	assert_int_equal(RUN(&got, 0x3f), FAH_ERR_DAMAGED);	     /* no such instruction */
	assert_int_equal(RUN(&got, 0x0e), FAH_ERR_DAMAGED);	     /* cut */
	assert_int_equal(RUN(&got, 0x04, 0, 1), FAH_ERR_DAMAGED);    /* cut */
	assert_int_equal(RUN(&got, 0x0f, 9, 0x77), FAH_ERR_DAMAGED); /* longer than there is */
	assert_int_equal(RUN(&got, 0x03, 1, 1), FAH_ERR_DAMAGED);    /* behind the function's end */
	assert_int_equal(RUN(&got, 0x04, 0xff, 0xff, 0xff, 0xff), FAH_ERR_DAMAGED);
	memset(many, 0x0a, sizeof(many)); /* remembers more than any compiler does */
	assert_int_equal(run(&got, many, sizeof(many)), FAH_ERR_DAMAGED);
	/* an offset of more than 32 bits is no frame */
	assert_int_equal(RUN(&got, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10), 0);
	assert_int_equal(got.rules[0].cfa, FAH_CFA_NONE);
	assert_int_equal(RUN(&got, 0x0d, 17), 0); /* a register that doesn't exist */
	assert_int_equal(got.rules[0].cfa, FAH_CFA_NONE);
}

/* ---- code without programs ---- */

static int read_code(struct got *got, const void *code, size_t len)
{
	memset(got, 0, sizeof(*got));
	return fah_code_rows(code, len, 0x1000, take, got);
}

#define READ(got, ...) \
	read_code(got, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_code(void **state)
{
	struct got got;

	/* push %rbp; mov %rsp,%rbp; and $-64,%rsp; nop; leave; ret */
	assert_int_equal(
		READ(&got, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xc0, 0x90, 0xc9, 0xc3), 0);
	assert_int_equal(got.n, 5);
	assert_row(&got, 0, 0x1000, FAH_CFA_REG, FAH_REG_SP, 8);
	assert_row(&got, 1, 0x1001, FAH_CFA_REG, FAH_REG_SP, 16);
	assert_int_equal(got.rules[1].fp, FAH_FP_AT_CFA);
	assert_int_equal(got.rules[1].fp_off, -16);
	assert_row(&got, 2, 0x1004, FAH_CFA_REG, FAH_REG_SP, 16); /* rbp is a copy now */
	assert_row(&got, 3, 0x1008, FAH_CFA_REG, FAH_REG_FP, 16);
	assert_row(&got, 4, 0x100a, FAH_CFA_REG, FAH_REG_SP, 8);
	assert_int_equal(got.rules[4].fp, FAH_FP_SAME);
	/* two ways to the end: jne over a push and a pop */
	assert_int_equal(READ(&got, 0x75, 0x02, 0x53, 0x5b, 0xc3), 0);
	assert_int_equal(got.n, 3);
}

static void test_code_in_doubt(void **state)
{
	struct got got;

	assert_int_equal(READ(&got, 0x53, 0xc3), FAH_ERR_DOUBT); /* push; ret */
	assert_int_equal(READ(&got, 0x75, 0x01, 0x53, 0xc3),
			 FAH_ERR_DOUBT);			       /* pushed on one way only */
	assert_int_equal(READ(&got, 0x89, 0xc5, 0xc3), FAH_ERR_DOUBT); /* rbp is not the caller's */
	assert_int_equal(READ(&got, 0x48, 0x89, 0xc4, 0xc3), FAH_ERR_DOUBT); /* mov %rax,%rsp */
	assert_int_equal(READ(&got, 0x48, 0x83, 0xe4, 0xf0, 0xc3),
			 FAH_ERR_DOUBT);			       /* and without a copy */
	assert_int_equal(READ(&got, 0x53, 0xff, 0xe0), FAH_ERR_DOUBT); /* jmp *%rax, pushed */
	assert_int_equal(READ(&got, 0x53, 0xeb, 0x40), FAH_ERR_DOUBT); /* away, pushed */
	assert_int_equal(READ(&got, 0x90), FAH_ERR_DOUBT);	 /* runs out of the function */
	assert_int_equal(READ(&got, 0x06, 0xc3), FAH_ERR_DOUBT); /* no instruction */
	assert_int_equal(READ(&got, 0x48, 0x81), FAH_ERR_DOUBT); /* cut */
	/* mov %rsp,%rbx; and; xor %ebx,%ebx: the copy is gone */
	assert_int_equal(READ(&got, 0x48, 0x89, 0xe3, 0x48, 0x83, 0xe4, 0xc0, 0x31, 0xdb, 0xc3),
			 FAH_ERR_DOUBT);
	assert_int_equal(got.n, 0);
}

/* ---- files ---- */

static char dir[64];

static int enter(void **state)
{
	strcpy(dir, "/tmp/fah-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) == 0 ? 0 : -1;
}

static void own_file(char **ret, size_t *ret_len)
{
	assert_int_equal(fah_file_read("/proc/self/exe", 1 << 26, ret, ret_len), 0);
}

static void own_table(struct fah_table_bytes *ret)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;

	assert_int_equal(fah_elf_open("/proc/self/exe", &elf), 0);
	assert_int_equal(fah_table_get(elf, NULL, ret), 0);
}

static void test_own_symbols(void **state)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	struct fah_symbols syms;
	const struct fah_symbol *found = NULL;

	assert_int_equal(fah_elf_open("/proc/self/exe", &elf), 0);
	assert_int_equal(elf->build_id_len, 20);
	assert_int_equal(fah_symbols_read(elf, &syms), 0);
	for (size_t i = 0; i < syms.n; i++)
		if (!strcmp(syms.symbols[i].name, "test_own_symbols"))
			found = &syms.symbols[i];
	assert_non_null(found);
	assert_ptr_equal(fah_symbols_find(&syms, found->start), found);
	assert_ptr_equal(fah_symbols_find(&syms, found->end - 1), found);
	assert_ptr_not_equal(fah_symbols_find(&syms, found->end), found);
	assert_null(fah_symbols_find(&syms, 0));
	assert_null(fah_symbols_find(&syms, UINT64_MAX));
	fah_symbols_release(&syms);
}

static void test_base_of_a_mapping(void **state)
{
	struct fah_elf_segment segments[] = {{0x400000, 0x1234, 0, 0x1234, false},
					     {0x402e10, 0x800, 0x1e10, 0x700, true}};
	struct fah_elf elf = {.base = 0x400000, .segments = segments, .n_segments = 2};
	uint64_t base = 1;

	assert_int_equal(fah_elf_base(&elf, 0x7f0000002000, 0x1000, &base), 0);
	assert_true(base == 0x7f0000000000);
	assert_int_equal(fah_elf_base(&elf, 0x7f0000000000, 0, &base), 0);
	assert_true(base == 0x7f0000000000);
	assert_int_equal(fah_elf_base(&elf, 0x7f0000000000, 0x3000, &base), FAH_ERR_RANGE);
}

/* Any cut of a file is an error or a smaller table, never more. */
static void test_cut_files(void **state)
{
	_cleanup_(fah_freep) char *file = NULL;
	size_t len, at, built = 0, refused = 0;

	own_file(&file, &len);
	for (at = 0; at < len; at += at < 4096 ? 7 : 977) {
		_cleanup_(fah_freep) char *cut = malloc(at + 1); /* so that reading on is seen */
		_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
		struct fah_table_bytes table = {0};
		struct fah_symbols syms = {0};

		memcpy(cut, file, at);
		if (fah_elf_open_mem(cut, at, &elf) < 0) {
			refused++;
			continue;
		}
		assert_int_equal(fah_symbols_read(elf, &syms), 0);
		fah_symbols_release(&syms);
		if (fah_table_get(elf, NULL, &table) == 0)
			built++;
		free(table.bytes);
	}
	assert_true(refused > 1 && built > 1);
}

static void test_not_elf(void **state)
{
	struct fah_elf *elf = NULL;
	Elf64_Ehdr eh = {.e_ident = ELFMAG, .e_machine = EM_386};

	assert_int_equal(fah_elf_open("/proc/self/exe/nothing", &elf), FAH_ERR_SYS);
	assert_int_equal(fah_elf_open("/proc/self/maps", &elf), FAH_ERR_FORMAT);
	assert_int_equal(fah_elf_open("/dev/null", &elf), FAH_ERR_FORMAT);
	assert_int_equal(fah_elf_open("/tmp", &elf), FAH_ERR_FORMAT);
	assert_int_equal(fah_elf_open_mem(&eh, sizeof(eh), &elf), FAH_ERR_FORMAT);
	assert_null(elf);
}

/* No damage of a table is taken, and one whose checksum was made right again leads nowhere outside.
 */
static void test_damaged_tables(void **state)
{
	struct fah_table_bytes table;
	struct fah_table t;
	uint8_t *bytes;
	size_t at;

	own_table(&table);
	bytes = table.bytes;
	assert_int_equal(fah_table_open(bytes, table.len, &t), 0);
	for (at = 0; at < table.len; at++) {
		struct fah_table_head *head = table.bytes;
		bool in_key = at >= offsetof(struct fah_table_head, key_len) &&
			      at < offsetof(struct fah_table_head, sum);
		uint64_t sum = head->sum;

		bytes[at] ^= 0x41;
		if (!in_key)
			assert_true(fah_table_open(bytes, table.len, &t) < 0);
		if (at >= sizeof(*head)) {
			head->sum = fah_table_sum(bytes + sizeof(*head), table.len - sizeof(*head));
			if (fah_table_open(bytes, table.len, &t) == 0)
				for (uint64_t pc = 0; pc < 0x40000; pc += 999)
					assert_true(fah_table_find(&t, pc) < t.rules + t.n_rules);
			head->sum = sum;
		}
		bytes[at] ^= 0x41;
		if (at > 4096)
			at += 12;
	}
	for (at = 0; at < table.len; at += 8)
		assert_true(fah_table_open(bytes, at, &t) < 0);
	free(bytes);
}

/* The index leads to what a plain search finds. */
static void test_look_ups(void **state)
{
	struct fah_table_bytes table;
	struct fah_table t;
	uint32_t row = 0;

	own_table(&table);
	assert_int_equal(fah_table_open(table.bytes, table.len, &t), 0);
	assert_true(t.n_rows > 100);
	for (uint64_t pc = 0; pc < (uint64_t)t.rows[t.n_rows - 1].pc + 5000; pc++) {
		while (row < t.n_rows && t.rows[row].pc <= pc)
			row++;
		assert_ptr_equal(fah_table_find(&t, pc), &t.rules[row ? t.rows[row - 1].rule : 0]);
	}
	assert_int_equal(fah_table_find(&t, UINT64_MAX)->cfa, FAH_CFA_NONE);
	assert_int_equal(fah_table_find(&t, 1ull << 32)->cfa, FAH_CFA_NONE);
	free(table.bytes);
}

static void get(const char *folder, bool expect_made)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	struct fah_table_bytes table;

	assert_int_equal(fah_elf_open("/proc/self/exe", &elf), 0);
	assert_int_equal(fah_table_get(elf, folder, &table), 0);
	assert_int_equal(table.made, expect_made);
	free(table.bytes);
}

static void test_folder(void **state)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_freep) char *whole = NULL, *cache = NULL;
	char folder[128], path[256];
	size_t len;

	snprintf(folder, sizeof(folder), "%s/a/b", dir);
	get(folder, true);
	get(folder, false);
	assert_int_equal(fah_elf_open("/proc/self/exe", &elf), 0);
	fah_table_name(elf, &name);
	assert_int_equal(name.len, 40 + 1 + 16);
	snprintf(path, sizeof(path), "%s/%s", folder, name.p);
	assert_int_equal(fah_file_read(path, 1 << 24, &whole, &len), 0);

	assert_int_equal(truncate(path, (off_t)len / 2), 0); /* cut */
	get(folder, true);
	get(folder, false);
	whole[offsetof(struct fah_table_head, version)]++; /* of another version */
	assert_int_equal(fah_file_replace(path, whole, len), 0);
	get(folder, true);
	whole[offsetof(struct fah_table_head, version)]--;
	whole[offsetof(struct fah_table_head, key)] ^= 1; /* of another module */
	assert_int_equal(fah_file_replace(path, whole, len), 0);
	get(folder, true);
	get("/proc/nothing/here", true); /* where nothing can be kept */

	setenv("XDG_CACHE_HOME", "/x/y", 1);
	assert_int_equal(fah_native_cache_dir("unwind", &cache), 0);
	assert_string_equal(cache, "/x/y/fixingahole/unwind");

	/* a home that is not there is not made */
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/proc/nothing", 1);
	assert_int_equal(fah_native_cache_dir("unwind", &cache), FAH_ERR_USAGE);
}

/* ---- walks over a stack by hand ---- */

static struct {
	struct fah_table_head head;
	struct fah_rule rules[8];
	uint32_t index[2];
	struct fah_row rows[8];
} made;

static union {
	struct fah_unwind_modules mods;
	char room[sizeof(struct fah_unwind_modules) + 4 * sizeof(struct fah_unwind_module)];
} block;

static uint64_t words[64];
static struct fah_stack stack;

/* One module at 0x10000 with rule i at [i * 0x100, (i + 1) * 0x100): 1 rsp + 16; 2 rbp + 16, rbp at
 * cfa - 16; 3 the end; 4 a signal's return; 5 rsp - 8; 6 *(rsp + 8) + 0; 7 none. */
static int build_module(void **state)
{
	static const struct fah_rule rules[8] = {
		[1] = {.cfa = FAH_CFA_REG, .reg = FAH_REG_SP, .off = 16},
		[2] = {.cfa = FAH_CFA_REG,
		       .reg = FAH_REG_FP,
		       .off = 16,
		       .fp = FAH_FP_AT_CFA,
		       .fp_off = -16},
		[3] = {.cfa = FAH_CFA_END},
		[4] = {.cfa = FAH_CFA_SIGNAL},
		[5] = {.cfa = FAH_CFA_REG, .reg = FAH_REG_SP, .off = -8},
		[6] = {.cfa = FAH_CFA_DEREF, .reg = FAH_REG_SP, .off = 8},
	};

	memset(&made, 0, sizeof(made));
	memcpy(made.head.magic, FAH_TABLE_MAGIC, 8);
	made.head.version = FAH_TABLE_VERSION;
	made.head.n_rules = 8;
	made.head.n_buckets = 1;
	made.head.n_rows = 8;
	made.head.shift = 16;
	memcpy(made.rules, rules, sizeof(rules));
	made.index[1] = 8;
	for (unsigned i = 0; i < 8; i++) {
		made.rows[i] = (struct fah_row){i * 0x100, (uint16_t)(i % 7)};
	}
	made.head.sum = fah_table_sum(made.rules, sizeof(made) - sizeof(made.head));
	block.mods.n = 1;
	block.mods.modules[0] =
		(struct fah_unwind_module){.start = 0x10000, .end = 0x20000, .base = 0x10000};
	if (fah_table_open(&made, sizeof(made), &block.mods.modules[0].table) < 0 ||
	    fah_unwind_modules_sort(&block.mods) < 0)
		return -1;
	memset(words, 0, sizeof(words));
	stack = (struct fah_stack){(uint64_t)(uintptr_t)words, (uint64_t)(uintptr_t)(words + 64),
				   NULL};
	return 0;
}

static uint64_t at_word(unsigned i)
{
	return (uint64_t)(uintptr_t)&words[i];
}

static struct fah_unwind_result walk(uint64_t pc, unsigned sp, uint64_t fp, int max, int expect_n)
{
	struct fah_regs regs = {.pc = pc, .known = 1u << FAH_REG_SP | (fp ? 1u << FAH_REG_FP : 0)};
	struct fah_unwind_result result;
	uint64_t pcs[16];

	regs.r[FAH_REG_SP] = at_word(sp);
	regs.r[FAH_REG_FP] = fp;
	assert_int_equal(fah_unwind(&block.mods, NULL, &regs, &stack, pcs, NULL, max, &result),
			 expect_n);
	if (expect_n)
		assert_true(pcs[0] == pc);
	return result;
}

static void test_reasons(void **state)
{
	struct fah_unwind_result r;

	words[1] = 0x10301; /* behind a call in the outermost frame */
	r = walk(0x10100, 0, 0, 16, 2);
	assert_int_equal(r.stop, FAH_UNWIND_END);
	assert_true(r.pc == 0x10301 && r.sp == at_word(2));
	words[1] = 0;
	assert_int_equal(walk(0x10100, 0, 0, 16, 1).stop, FAH_UNWIND_END); /* pc 0 */
	words[1] = 0x10101;
	words[3] = 0x10101;
	assert_int_equal(walk(0x10100, 0, 0, 2, 2).stop, FAH_UNWIND_LIMIT);
	assert_int_equal(walk(0x10100, 0, 0, 0, 0).stop, FAH_UNWIND_LIMIT);
	words[1] = 0x99999999;
	assert_int_equal(walk(0x10100, 0, 0, 16, 2).stop, FAH_UNWIND_NO_MODULE);
	words[1] = 0x10300; /* right behind a call that ends rule 2's function: rbp is not known */
	assert_int_equal(walk(0x10100, 0, 0, 16, 2).stop, FAH_UNWIND_NO_REG);
	words[1] = 0x10701;
	assert_int_equal(walk(0x10100, 0, 0, 16, 2).stop, FAH_UNWIND_NO_RULE);
	words[1] = 0x10501; /* a rule that leads down */
	assert_int_equal(walk(0x10100, 0, 0, 16, 2).stop, FAH_UNWIND_BAD_CFA);
	assert_int_equal(walk(0x10100, 63, 0, 16, 1).stop, FAH_UNWIND_BAD_CFA); /* off the stack */
	assert_int_equal(walk(0x10400, 60, 0, 16, 1).stop,
			 FAH_UNWIND_BAD_READ); /* a signal's frame, cut */
	words[1] = 0x1234567;		       /* a CFA that is not on the stack */
	assert_int_equal(walk(0x10600, 0, 0, 16, 1).stop, FAH_UNWIND_BAD_CFA);
	words[1] = at_word(0); /* one that is this very frame */
	assert_int_equal(walk(0x10600, 0, 0, 16, 1).stop, FAH_UNWIND_BAD_CFA);
	assert_int_equal(walk(0x10200, 0, at_word(3) + 4, 16, 1).stop,
			 FAH_UNWIND_BAD_CFA); /* odd */
	stack.lo = stack.hi = 0;	      /* nothing may be read */
	assert_int_equal(walk(0x10100, 0, 0, 16, 1).stop, FAH_UNWIND_BAD_READ);
}

static void test_chain_of_frame_pointers(void **state)
{
	words[10] = at_word(20);
	words[11] = 0x10210;
	words[20] = at_word(30);
	words[21] = 0x10210;
	words[30] = 0;
	words[31] = 0x10310;
	assert_int_equal(walk(0x10200, 4, at_word(10), 16, 4).stop, FAH_UNWIND_END);
	words[20] = at_word(10); /* a loop */
	assert_int_equal(walk(0x10200, 4, at_word(10), 16, 3).stop, FAH_UNWIND_BAD_CFA);
}

/* Behind a signal's frame everything is known again, and the pc is not behind a call. */
static void test_signal_frame(void **state)
{
	uint64_t *gregs = &words[10 + FAH_CONTEXT_REGS_AT / 8];
	struct fah_unwind_result r;

	gregs[10] = at_word(50); /* rbp */
	gregs[15] = at_word(45); /* rsp */
	gregs[16] = 0x10200;	 /* the first byte of rule 2 */
	words[51] = 0x10310;
	r = walk(0x10400, 10, 0, 16, 3);
	assert_int_equal(r.stop, FAH_UNWIND_END);
	assert_int_equal(r.signal_frames, 1);
}

static void test_modules(void **state)
{
	struct fah_unwind_module *m = block.mods.modules;

	m[1] = m[0];
	m[1].start = m[1].base = 0x8000;
	m[1].end = 0x10000;
	m[2] = m[0];
	m[2].start = m[2].base = 0x30000;
	m[2].end = 0x30001;
	block.mods.n = 3;
	assert_int_equal(fah_unwind_modules_sort(&block.mods), 0);
	assert_true(m[0].start == 0x8000 && m[1].start == 0x10000 && m[2].start == 0x30000);
	assert_ptr_equal(fah_unwind_modules_find(&block.mods, 0x8000), &m[0]);
	assert_ptr_equal(fah_unwind_modules_find(&block.mods, 0xffff), &m[0]);
	assert_ptr_equal(fah_unwind_modules_find(&block.mods, 0x10000), &m[1]);
	assert_ptr_equal(fah_unwind_modules_find(&block.mods, 0x30000), &m[2]);
	assert_null(fah_unwind_modules_find(&block.mods, 0x7fff));
	assert_null(fah_unwind_modules_find(&block.mods, 0x20000));
	assert_null(fah_unwind_modules_find(&block.mods, 0x30001));
	m[0].end = 0x10001; /* overlap */
	assert_int_equal(fah_unwind_modules_sort(&block.mods), FAH_ERR_RANGE);
	m[0].end = m[0].start;
	assert_int_equal(fah_unwind_modules_sort(&block.mods), FAH_ERR_RANGE);
	block.mods.n = 0;
	assert_int_equal(fah_unwind_modules_sort(&block.mods), 0);
	assert_null(fah_unwind_modules_find(&block.mods, 0x10000));
}

/* Functions that go on elsewhere: sure up to the call before the last. */
static void test_eh_return(void **state)
{
	/* push %rbp; call; call *%rax; nop; call; mov %rax,%rcx */
	static const uint8_t code[] = {0x55, 0xe8, 1, 2, 3, 4,	  0xff, 0xd0, 0x90,
				       0xe8, 0xe8, 0, 0, 0, 0x48, 0x89, 0xc1};
	static const struct fah_rule usual = {.cfa = FAH_CFA_REG, .reg = 6, .off = 16},
				     last = {.cfa = FAH_CFA_REG, .reg = 2, .off = 8};

	assert_int_equal(fah_eh_return_sure(code, sizeof(code)), 6);
	assert_int_equal(fah_eh_return_sure(code, 9), 1);
	assert_int_equal(fah_eh_return_sure(code, 6), 0);  /* one call only */
	assert_int_equal(fah_eh_return_sure(code, 12), 0); /* cut inside of one */
	assert_int_equal(fah_eh_return_sure(code, 0), 0);
	assert_true(fah_eh_return_is(&last));
	assert_false(fah_eh_return_is(&usual));
}

/* In the unwinder that this program has, if it is libgcc's: a stretch without a rule at its end. */
static void test_own_unwinder(void **state)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = NULL;
	_cleanup_(fah_symbols_release) struct fah_symbols syms = {0};
	_cleanup_(fah_freep) void *bytes = NULL;
	const struct fah_symbol *raise = NULL;
	struct fah_table table;
	uint64_t without = 0;
	size_t len;

	if (fah_elf_open("/lib/x86_64-linux-gnu/libgcc_s.so.1", &elf) < 0)
		skip();
	assert_int_equal(fah_symbols_read(elf, &syms), 0);
	for (size_t i = 0; i < syms.n; i++)
		if (!strcmp(syms.symbols[i].name, "_Unwind_RaiseException"))
			raise = &syms.symbols[i];
	assert_non_null(raise);
	assert_int_equal(fah_table_build(elf, "", 0, &bytes, &len, NULL), 0);
	assert_int_equal(fah_table_open(bytes, len, &table), 0);
	for (uint64_t pc = raise->start; pc < raise->end; pc++)
		without += fah_table_find(&table, pc)->cfa == FAH_CFA_NONE;
	assert_true(without > 16 && without < (raise->end - raise->start) / 2);
}

int main(void)
{
	const struct CMUnitTest programs[] = {
		cmocka_unit_test(test_frame_pointer_function),
		cmocka_unit_test(test_remember_and_restore),
		cmocka_unit_test(test_every_instruction_has_its_length),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_return_addresses),
		cmocka_unit_test(test_impossible_programs),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_code_in_doubt),
	};
	const struct CMUnitTest files[] = {
		cmocka_unit_test(test_own_symbols),    cmocka_unit_test(test_base_of_a_mapping),
		cmocka_unit_test(test_cut_files),      cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_damaged_tables), cmocka_unit_test(test_look_ups),
		cmocka_unit_test(test_folder),	       cmocka_unit_test(test_eh_return),
		cmocka_unit_test(test_own_unwinder),
	};
	const struct CMUnitTest walks[] = {
		cmocka_unit_test_setup(test_reasons, build_module),
		cmocka_unit_test_setup(test_chain_of_frame_pointers, build_module),
		cmocka_unit_test_setup(test_signal_frame, build_module),
		cmocka_unit_test_setup(test_modules, build_module),
	};

	return cmocka_run_group_tests(programs, NULL, NULL) +
	       cmocka_run_group_tests(files, enter, leave) +
	       cmocka_run_group_tests(walks, NULL, NULL);
}
