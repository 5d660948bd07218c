/*
 * table_build.h - makes a module's unwind table from its .eh_frame. Tool side.
 */
#ifndef FAH_NATIVE_TABLE_BUILD_H
#define FAH_NATIVE_TABLE_BUILD_H

#include "native/elf_file.h"
#include "native/table.h"

#include <stddef.h>
#include <stdint.h>

struct fah_build_stats {
	uint32_t functions; /* that .eh_frame describes */
	uint32_t bad;	    /* entries that make no sense, functions whose program doesn't */
	uint32_t read;	    /* without an entry: their rules come from their code */
	uint32_t rows, rules;
	uint64_t code;	  /* bytes of executable segments */
	uint64_t covered; /* of them, bytes that a rule holds for */
};

/*
 * The table as the bytes that fah_table_open takes; the caller frees *ret. key (len at most
 * FAH_TABLE_KEY_MAX) goes into the head. A module without .eh_frame gets a table without rows.
 * ret_stats may be NULL. FAH_ERR_SYS, FAH_ERR_NOMEM, FAH_ERR_DAMAGED: the file is cut or makes no
 * sense.
 */
int fah_table_build(struct fah_elf *elf, const void *key, size_t key_len, void **ret,
		    size_t *ret_len, struct fah_build_stats *ret_stats);

/*
 * The same for code of no file, [start, end), which becomes the table's base: of eh, whose
 * addresses are the process's, the functions that lie inside. code: its bytes, to read functions
 * that only a symbol names (counted from start); NULL: they are not to be had.
 */
struct fah_ehframe;
struct fah_symbols;
int fah_table_build_made(const struct fah_ehframe *eh, const struct fah_symbols *syms,
			 const uint8_t *code, uint64_t start, uint64_t end, const void *key,
			 size_t key_len, void **ret, size_t *ret_len);

/*
 * Where functions begin by .eh_frame, counted from the module's base and rising: for code that no
 * symbol names. The caller frees *ret. FAH_ERR_SYS, FAH_ERR_NOMEM, FAH_ERR_DAMAGED.
 */
int fah_function_starts(struct fah_elf *elf, uint64_t **ret, size_t *ret_n);
/* Of such a list, which may be empty, the function that holds this place: one name for all of it.
 * The place itself where none begins before it. */
uint64_t fah_function_start(const uint64_t *starts, size_t n, uint64_t at);

#endif
