/*
 * symbols.c - see symbols.h. Of several names for one address the one that people know is kept:
 * global before weak before local, then with a size, then with fewer underscores in front.
 */
#include "native/symbols.h"

#include "core/err.h"

#include <elf.h>
#include <string.h>

struct candidate {
	struct fah_symbol symbol;
	uint8_t rank; /* the lower, the better */
};

struct candidates {
	struct candidate *items;
	size_t n;
};

static unsigned underscores(const char *name)
{
	return (unsigned)strspn(name, "_");
}

static uint8_t rank_of(const Elf64_Sym *sym)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info), type = ELF64_ST_TYPE(sym->st_info);

	return (uint8_t)((type == STT_NOTYPE) << 3 | (sym->st_size == 0) << 2 |
			 (bind == STB_LOCAL ? 2 : bind == STB_WEAK));
}

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	unsigned ux, uy;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	ux = underscores(x->symbol.name);
	uy = underscores(y->symbol.name);
	if (ux != uy)
		return ux < uy ? -1 : 1;
	return strcmp(x->symbol.name, y->symbol.name);
}

/* In a file that is not linked, symbols count from their sections. */
static bool place(const struct fah_elf *from, Elf64_Sym *sym)
{
	if (!from->is_object || sym->st_shndx == SHN_UNDEF)
		return true;
	if (sym->st_shndx >= from->n_sections || !from->sections[sym->st_shndx].vaddr)
		return false;
	sym->st_value += from->sections[sym->st_shndx].vaddr;
	return true;
}

static bool is_function(const struct fah_elf *elf, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_value >= elf->base &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       fah_elf_is_code(elf, sym->st_value);
}

/* from: the file that has the table; elf: the one with the code. */
static int add_table(struct candidates *all, const struct fah_elf *elf, const struct fah_elf *from,
		     const struct fah_elf_section *table, uint8_t **ret_strings)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL, *strings = NULL;
	const struct fah_elf_section *names;
	uint64_t n = table->len / sizeof(Elf64_Sym);
	struct candidate *items;
	Elf64_Sym sym;
	int err;

	if (table->link >= from->n_sections)
		return 0;
	names = &from->sections[table->link];
	err = fah_elf_read(from, table->offset, table->len, &bytes);
	if (err == 0)
		err = fah_elf_read(from, names->offset, names->len, &strings);
	if (err < 0)
		return err == FAH_ERR_DAMAGED ? 0 : err;
	items = realloc(all->items, (all->n + n + 1) * sizeof(*items));
	if (!items)
		return FAH_ERR_NOMEM;
	all->items = items;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t end;

		memcpy(&sym, bytes + i * sizeof(sym), sizeof(sym));
		if (sym.st_name >= names->len || !strings[sym.st_name] || !place(from, &sym) ||
		    !is_function(elf, &sym))
			continue;
		if (__builtin_add_overflow(sym.st_value, sym.st_size, &end) || end > elf->end)
			end = elf->end;
		items[all->n++] = (struct candidate){
			{sym.st_value - elf->base, end - elf->base, (char *)strings + sym.st_name},
			rank_of(&sym)};
	}
	*ret_strings = TAKE_PTR(strings);
	return 0;
}

/* Where the code that holds `start` ends: no symbol without a size reaches further. */
static uint64_t code_end(const struct fah_elf *elf, uint64_t start)
{
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct fah_elf_segment *s = &elf->segments[i];

		if (elf->base + start - s->vaddr < s->memsz)
			return s->vaddr + s->memsz - elf->base;
	}
	return start;
}

/* One symbol a start; those without a size reach to the next. */
static int finish(const struct fah_elf *elf, const struct candidates *all, struct fah_symbols *syms)
{
	size_t i;

	if (!all->n)
		return 0;
	qsort(all->items, all->n, sizeof(*all->items), compare);
	syms->symbols = malloc(all->n * sizeof(*syms->symbols));
	if (!syms->symbols)
		return FAH_ERR_NOMEM;
	for (i = 0; i < all->n; i++)
		if (!i || all->items[i].symbol.start != all->items[i - 1].symbol.start)
			syms->symbols[syms->n++] = all->items[i].symbol;
	for (i = 0; i < syms->n; i++) {
		struct fah_symbol *s = &syms->symbols[i];
		uint64_t most = i + 1 < syms->n ? s[1].start : code_end(elf, s->start);

		if (s->end <= s->start)
			s->end = most;
	}
	return 0;
}

static int add_file(struct candidates *all, const struct fah_elf *elf, struct fah_elf *from,
		    struct fah_symbols *syms)
{
	int err = fah_elf_sections(from), n = 0;

	while (n < FAH_SYMBOL_TABLES && syms->strings[n])
		n++;
	for (uint32_t i = 0; i < from->n_sections && n < FAH_SYMBOL_TABLES && err == 0; i++) {
		if (from->sections[i].type != SHT_SYMTAB && from->sections[i].type != SHT_DYNSYM)
			continue;
		err = add_table(all, elf, from, &from->sections[i], &syms->strings[n]);
		n += syms->strings[n] != NULL;
	}
	return err == FAH_ERR_DAMAGED ? 0 : err;
}

int fah_symbols_read_all(struct fah_elf *elf, struct fah_elf *const *others, size_t n,
			 struct fah_symbols *ret)
{
	_cleanup_(fah_symbols_release) struct fah_symbols syms = {0};
	struct candidates all = {0};
	int err = add_file(&all, elf, elf, &syms);

	for (size_t i = 0; i < n && err == 0; i++)
		if (others[i])
			err = add_file(&all, elf, others[i], &syms);
	if (err == 0)
		err = finish(elf, &all, &syms);
	free(all.items);
	if (err < 0)
		return err;
	*ret = syms;
	syms = (struct fah_symbols){0};
	return 0;
}

/* True where the string table names it, NULs and all: most files don't, and their symbols are not
 * read. */
static bool has_name(const uint8_t *strings, uint64_t len, const char *name)
{
	return memmem(strings, len, name, strlen(name) + 1) != NULL;
}

static bool data_in(const struct fah_elf *elf, const struct fah_elf_section *table,
		    const char *name, uint64_t *ret)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL, *strings = NULL;
	const struct fah_elf_section *names;
	Elf64_Sym sym;

	if (table->link >= elf->n_sections)
		return false;
	names = &elf->sections[table->link];
	if (fah_elf_read(elf, names->offset, names->len, &strings) < 0 ||
	    !has_name(strings, names->len, name) ||
	    fah_elf_read(elf, table->offset, table->len, &bytes) < 0)
		return false;
	for (uint64_t i = 0; i < table->len / sizeof(sym); i++) {
		memcpy(&sym, bytes + i * sizeof(sym), sizeof(sym));
		if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) != STT_OBJECT ||
		    sym.st_name >= names->len || strcmp((char *)strings + sym.st_name, name) != 0)
			continue;
		*ret = sym.st_value;
		return true;
	}
	return false;
}

bool fah_symbols_data(struct fah_elf *elf, const char *name, uint64_t *ret)
{
	if (fah_elf_sections(elf) < 0)
		return false;
	for (uint32_t i = 0; i < elf->n_sections; i++)
		if ((elf->sections[i].type == SHT_SYMTAB || elf->sections[i].type == SHT_DYNSYM) &&
		    data_in(elf, &elf->sections[i], name, ret))
			return true;
	return false;
}

int fah_symbols_read(struct fah_elf *elf, struct fah_symbols *ret)
{
	return fah_symbols_read_all(elf, NULL, 0, ret);
}

void fah_symbols_release(struct fah_symbols *syms)
{
	free(syms->symbols);
	for (int i = 0; i < FAH_SYMBOL_TABLES; i++)
		free(syms->strings[i]);
	*syms = (struct fah_symbols){0};
}

const struct fah_symbol *fah_symbols_find(const struct fah_symbols *syms, uint64_t offset)
{
	size_t lo = 0, hi = syms->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (syms->symbols[mid].start <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* a small one inside a bigger one, as an entry point in assembly, may end before offset */
	for (int tries = 0; lo > 0 && tries < 4; lo--, tries++)
		if (offset < syms->symbols[lo - 1].end)
			return &syms->symbols[lo - 1];
	return NULL;
}
