/*
 * plt.c - see plt.h. Linkers arrange stubs in several ways, in .plt, .plt.sec and .plt.got, so each
 * one's code is asked: it jumps through a word that a relocation fills in, or pushes that
 * relocation's number for the resolver.
 */
#include "native/plt.h"

#include "base/map.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "native/insn.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define MAX_STUBS 65536u
#define USUAL_STUB 16u

/* Everything that stubs can lead to. */
struct relocs {
	struct fah_map slots; /* vaddr of a word -> 1 + offset of its name in text */
	struct fah_map calls; /* number among .rela.plt -> the same */
	struct fah_strbuf text;
};

static void relocs_release(struct relocs *r)
{
	fah_map_release(&r->slots);
	fah_map_release(&r->calls);
	fah_strbuf_release(&r->text);
}

static const char *own_function(const struct fah_elf *elf, const struct fah_symbols *syms,
				uint64_t vaddr)
{
	const struct fah_symbol *s =
		vaddr >= elf->base ? fah_symbols_find(syms, vaddr - elf->base) : NULL;

	return s ? s->name : NULL;
}

/* 1 + where the relocation's name stands in the text; 0: it has none. */
static uint32_t name_of(struct relocs *r, const struct fah_elf *elf, const struct fah_symbols *syms,
			const Elf64_Rela *rela, const uint8_t *table, uint64_t table_len,
			const char *strings, uint64_t strings_len)
{
	uint64_t index = ELF64_R_SYM(rela->r_info), at = r->text.len;
	const char *name = NULL;
	Elf64_Sym sym;

	if (index && index < table_len / sizeof(sym)) {
		memcpy(&sym, table + index * sizeof(sym), sizeof(sym));
		if (sym.st_name < strings_len)
			name = strings + sym.st_name;
	} else if (ELF64_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE) {
		name = own_function(elf, syms, (uint64_t)rela->r_addend);
	}
	if (!name || !*name || at >= UINT32_MAX / 2)
		return 0;
	fah_strbuf_addf(&r->text, "%s@plt", name);
	fah_strbuf_addc(&r->text, 0);
	return (uint32_t)at + 1;
}

static int add_relocs(struct relocs *r, const struct fah_elf *elf, const struct fah_symbols *syms,
		      const struct fah_elf_section *section)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL, *table = NULL, *strings = NULL;
	bool is_plt = !strcmp(fah_elf_section_name(elf, section), ".rela.plt");
	const struct fah_elf_section *symtab, *names;
	Elf64_Rela rela;
	int err;

	if (section->link >= elf->n_sections)
		return 0;
	symtab = &elf->sections[section->link];
	if (symtab->link >= elf->n_sections)
		return 0;
	names = &elf->sections[symtab->link];
	err = fah_elf_read(elf, section->offset, section->len, &bytes);
	if (err == 0)
		err = fah_elf_read(elf, symtab->offset, symtab->len, &table);
	if (err == 0)
		err = fah_elf_read(elf, names->offset, names->len, &strings);
	if (err < 0)
		return err == FAH_ERR_DAMAGED ? 0 : err;
	for (uint64_t i = 0; i < section->len / sizeof(rela); i++) {
		uint32_t *slot, name;

		memcpy(&rela, bytes + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
		    ELF64_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT &&
		    ELF64_R_TYPE(rela.r_info) != R_X86_64_IRELATIVE)
			continue;
		name = name_of(r, elf, syms, &rela, table, symtab->len, (char *)strings,
			       names->len);
		if (!name)
			continue;
		slot = fah_map_put(&r->slots, fah_key_u64(rela.r_offset), NULL);
		if (slot)
			*slot = name;
		slot = is_plt ? fah_map_put(&r->calls, fah_key_u64(i), NULL) : NULL;
		if (slot)
			*slot = name;
	}
	return r->text.failed ? FAH_ERR_NOMEM : 0;
}

/* What one stub leads to: 1 + offset into the text; 0: unknown. */
static uint32_t read_stub(const struct relocs *r, const uint8_t *code, size_t len, uint64_t vaddr)
{
	struct fah_insn in;
	size_t at = 0;

	while (at < len && fah_insn_decode(code + at, len - at, &in) && in.len) {
		const uint32_t *name = NULL;

		at += in.len;
		if (in.map != 1)
			continue; /* endbr64, nops */
		if (in.op == 0xff && in.has_modrm && (in.reg & 7) == 4 && in.mod == 0 &&
		    (in.rm & 7) == 5) { /* jmp *disp(%rip) */
			int32_t disp;

			memcpy(&disp, code + at - 4, sizeof(disp));
			name = fah_map_get(&r->slots,
					   fah_key_u64(vaddr + at + (uint64_t)(int64_t)disp));
			return name ? *name : 0;
		}
		if (in.op == 0x68) { /* push $number */
			uint32_t number;

			memcpy(&number, code + at - 4, sizeof(number));
			name = fah_map_get(&r->calls, fah_key_u64(number));
			return name ? *name : 0;
		}
	}
	return 0;
}

static int add_stubs(const struct relocs *r, const struct fah_elf *elf,
		     const struct fah_elf_section *section, struct fah_symbols *syms)
{
	uint64_t step =
		section->entsize >= 8 && section->entsize <= 64 ? section->entsize : USUAL_STUB;
	uint64_t n = section->len / step;
	_cleanup_(fah_freep) uint8_t *code = NULL;
	struct fah_symbol *more;
	int err;

	if (n > MAX_STUBS || section->vaddr < elf->base || !fah_elf_is_code(elf, section->vaddr))
		return 0;
	err = fah_elf_read(elf, section->offset, section->len, &code);
	if (err < 0)
		return err == FAH_ERR_DAMAGED ? 0 : err;
	more = reallocarray(syms->symbols, syms->n + n + 1, sizeof(*more));
	if (!more)
		return FAH_ERR_NOMEM;
	syms->symbols = more;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = section->vaddr + i * step - elf->base;
		uint32_t name = read_stub(r, code + i * step, step, section->vaddr + i * step);

		if (name)
			more[syms->n++] =
				(struct fah_symbol){start, start + step, r->text.p + name - 1};
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct fah_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int fah_plt_read(struct fah_elf *elf, const struct fah_symbols *syms, struct fah_symbols *ret)
{
	static const char *const stubs[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	_cleanup_(relocs_release) struct relocs r = {FAH_MAP_INIT, FAH_MAP_INIT, FAH_STRBUF_INIT};
	_cleanup_(fah_symbols_release) struct fah_symbols found = {0};
	int err = fah_elf_sections(elf);

	*ret = (struct fah_symbols){0};
	if (err == FAH_ERR_DAMAGED)
		return 0;
	for (uint32_t i = 0; i < elf->n_sections && err == 0; i++)
		if (elf->sections[i].type == SHT_RELA)
			err = add_relocs(&r, elf, syms, &elf->sections[i]);
	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]) && err == 0 && r.text.len; i++) {
		const struct fah_elf_section *section = fah_elf_section(elf, stubs[i]);

		if (section && section->type == SHT_PROGBITS)
			err = add_stubs(&r, elf, section, &found);
	}
	if (err < 0 || !found.n)
		return err;
	qsort(found.symbols, found.n, sizeof(*found.symbols), by_start);
	found.strings[0] = (uint8_t *)r.text.p;
	r.text = (struct fah_strbuf)FAH_STRBUF_INIT;
	*ret = found;
	found = (struct fah_symbols){0};
	return 0;
}
