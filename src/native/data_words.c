/* data_words.c - see data_words.h. Words that other modules fill in stay 0. */
#include "native/data_words.h"

#include "core/err.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *word_at(const struct fah_data_words *d, uint64_t vaddr)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct fah_data_part *p = &d->parts[i];

		if (vaddr >= p->vaddr && vaddr % 8 == 0 && (vaddr - p->vaddr) / 8 < p->n)
			return &p->words[(vaddr - p->vaddr) / 8];
	}
	return NULL;
}

bool fah_data_words_at(const struct fah_data_words *d, uint64_t vaddr, uint64_t *ret)
{
	const uint64_t *word = word_at(d, vaddr);

	if (word)
		*ret = *word;
	return word != NULL;
}

void fah_data_words_release(struct fah_data_words *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->parts[i].words);
	free(d->parts);
	*d = (struct fah_data_words){0};
}

static bool is_data(const struct fah_elf_section *s)
{
	return s->type == SHT_PROGBITS && s->flags & SHF_ALLOC && s->flags & SHF_WRITE &&
	       !(s->flags & SHF_EXECINSTR) && s->vaddr % 8 == 0 && s->len >= 8;
}

static int read_parts(const struct fah_elf *elf, struct fah_data_words *d)
{
	d->parts = calloc(elf->n_sections + 1, sizeof(*d->parts));
	if (!d->parts)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const struct fah_elf_section *s = &elf->sections[i];
		uint8_t *bytes;
		int err;

		if (!is_data(s))
			continue;
		err = fah_elf_read(elf, s->offset, s->len, &bytes);
		if (err < 0)
			return err;
		d->parts[d->n++] =
			(struct fah_data_part){s->vaddr, (uint64_t *)(void *)bytes, s->len / 8};
	}
	return 0;
}

/* .relr.dyn needs nothing: what it names already has its address. */
static void relocate(struct fah_data_words *d, const uint8_t *relocs, uint64_t len,
		     const uint8_t *symbols, uint64_t symbols_len)
{
	Elf64_Rela rela;
	Elf64_Sym sym;

	for (uint64_t i = 0; i < len / sizeof(rela); i++) {
		uint64_t *word, index;

		memcpy(&rela, relocs + i * sizeof(rela), sizeof(rela));
		index = ELF64_R_SYM(rela.r_info);
		word = word_at(d, rela.r_offset);
		if (!word)
			continue;
		if (ELF64_R_TYPE(rela.r_info) == R_X86_64_RELATIVE) {
			*word = (uint64_t)rela.r_addend;
		} else if (ELF64_R_TYPE(rela.r_info) == R_X86_64_64 &&
			   index < symbols_len / sizeof(sym)) {
			memcpy(&sym, symbols + index * sizeof(sym), sizeof(sym));
			*word = sym.st_shndx == SHN_UNDEF ? 0
							  : sym.st_value + (uint64_t)rela.r_addend;
		}
	}
}

static int relocate_all(const struct fah_elf *elf, struct fah_data_words *d)
{
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const struct fah_elf_section *s = &elf->sections[i];
		_cleanup_(fah_freep) uint8_t *relocs = NULL, *symbols = NULL;
		int err;

		if (s->type != SHT_RELA || !(s->flags & SHF_ALLOC) || s->link >= elf->n_sections)
			continue;
		err = fah_elf_read(elf, s->offset, s->len, &relocs);
		if (err == 0)
			err = fah_elf_read(elf, elf->sections[s->link].offset,
					   elf->sections[s->link].len, &symbols);
		if (err < 0)
			return err;
		relocate(d, relocs, s->len, symbols, elf->sections[s->link].len);
	}
	return 0;
}

int fah_data_words_read(struct fah_elf *elf, struct fah_data_words *ret)
{
	_cleanup_(fah_data_words_release) struct fah_data_words d = {0};
	int err = fah_elf_sections(elf);

	if (err == 0)
		err = read_parts(elf, &d);
	if (err == 0)
		err = relocate_all(elf, &d);
	if (err < 0)
		return err;
	*ret = d;
	d = (struct fah_data_words){0};
	return 0;
}
