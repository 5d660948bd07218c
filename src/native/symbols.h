/*
 * symbols.h - names of code addresses by a module's symbol tables (.symtab, .dynsym). Tool side.
 */
#ifndef FAH_NATIVE_SYMBOLS_H
#define FAH_NATIVE_SYMBOLS_H

#include "native/elf_file.h"

#define FAH_SYMBOL_TABLES 6

struct fah_symbol {
	uint64_t start, end; /* count from the module's base, as tables do */
	const char *name;    /* never empty; as it stands in the file, not demangled */
};

struct fah_symbols {
	struct fah_symbol *symbols; /* by start; one for each start */
	size_t n;
	uint8_t *strings[FAH_SYMBOL_TABLES]; /* where the names are */
};

/*
 * A file without symbols gives none. A table that makes no sense is left out. The file may be
 * closed after. FAH_ERR_SYS, FAH_ERR_NOMEM.
 */
int fah_symbols_read(struct fah_elf *elf, struct fah_symbols *ret);
/* The same with what n other files (NULLs are fine) know of this one: its debug file, and what
 * .gnu_debugdata has. */
int fah_symbols_read_all(struct fah_elf *elf, struct fah_elf *const *others, size_t n,
			 struct fah_symbols *ret);
void fah_symbols_release(struct fah_symbols *syms);

/* Where a variable of this name is, as an address of the file. False: the file has none. */
bool fah_symbols_data(struct fah_elf *elf, const char *name, uint64_t *ret);

/* The symbol that holds this offset from the module's base; NULL: none does. */
const struct fah_symbol *fah_symbols_find(const struct fah_symbols *syms, uint64_t offset);

#endif
