/* made_debug.c - see made_debug.h. */
#include "native/made_debug.h"

#include "native/table.h"

#include <elf.h>
#include <string.h>

/* What libdw reads for functions and lines, and the names of it one after the other. */
static const char *const wanted[] = {
	".debug_info",	 ".debug_abbrev",   ".debug_line", ".debug_str",	 ".debug_line_str",
	".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets", ".debug_aranges",
};
#define N_WANTED (sizeof(wanted) / sizeof(wanted[0]))
#define NAMES_MAX 256u
#define N_SECTIONS (N_WANTED + 2) /* none at all before, their names behind */

struct part {
	const struct fah_elf_section *from; /* NULL: the image has none */
	uint64_t at;			    /* in the file of our own */
};

void fah_made_debugs_release(struct fah_made_debugs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		fah_dwarf_free(all->list[i]->dwarf);
		free(all->list[i]->bytes);
		free(all->list[i]);
	}
	free(all->list);
	fah_map_release(&all->known);
	*all = (struct fah_made_debugs){0};
}

static uint64_t aligned(uint64_t n)
{
	return (n + 7) & ~7ull;
}

/* Where each part comes to stand, and how long all is; 0: no debug information, or too much. */
static uint64_t lay_out(const struct fah_elf *elf, struct part parts[N_WANTED])
{
	uint64_t at = sizeof(Elf64_Ehdr) + N_SECTIONS * sizeof(Elf64_Shdr) + NAMES_MAX;

	for (size_t i = 0; i < N_WANTED; i++) {
		const struct fah_elf_section *s = fah_elf_section(elf, wanted[i]);

		if (s && (s->type == SHT_NOBITS || s->flags & SHF_COMPRESSED))
			s = NULL;
		parts[i] = (struct part){s, at};
		if (!s)
			continue;
		if (s->len > elf->len)
			return 0;
		at = aligned(at + s->len);
	}
	return parts[0].from && parts[1].from ? at : 0;
}

static bool write_file(const struct fah_elf *elf, const struct part parts[N_WANTED], uint8_t *to)
{
	Elf64_Ehdr head = {.e_type = ET_EXEC,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = sizeof(head),
			   .e_ehsize = sizeof(head),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = N_SECTIONS,
			   .e_shstrndx = N_SECTIONS - 1};
	Elf64_Shdr sections[N_SECTIONS] = {{0}};
	char names[NAMES_MAX] = "\0.shstrtab";
	uint32_t name = 1 + sizeof(".shstrtab");

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	for (size_t i = 0; i < N_WANTED; i++) {
		_cleanup_(fah_freep) uint8_t *bytes = NULL;
		const struct fah_elf_section *s = parts[i].from;

		if (!s) /* stays a section of no type and no bytes */
			continue;
		if (fah_elf_read(elf, s->offset, s->len, &bytes) < 0)
			return false;
		memcpy(to + parts[i].at, bytes, s->len);
		sections[i + 1] = (Elf64_Shdr){.sh_name = name,
					       .sh_type = SHT_PROGBITS,
					       .sh_offset = parts[i].at,
					       .sh_size = s->len,
					       .sh_addralign = 1};
		memcpy(names + name, wanted[i], strlen(wanted[i]) + 1);
		name += (uint32_t)strlen(wanted[i]) + 1;
	}
	sections[N_SECTIONS - 1] = (Elf64_Shdr){.sh_name = 1,
						.sh_type = SHT_STRTAB,
						.sh_offset = sizeof(head) + sizeof(sections),
						.sh_size = NAMES_MAX,
						.sh_addralign = 1};
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), sections, sizeof(sections));
	memcpy(to + sizeof(head) + sizeof(sections), names, sizeof(names));
	return true;
}

/* What a relocation's symbol stands for. Sections that are not loaded count from their beginning.
 */
static bool symbol_value(const struct fah_elf *elf, const uint8_t *symbols, uint64_t n, uint64_t i,
			 uint64_t *ret)
{
	Elf64_Sym sym;

	if (i >= n)
		return false;
	memcpy(&sym, symbols + i * sizeof(sym), sizeof(sym));
	*ret = sym.st_value;
	if (sym.st_shndx == SHN_ABS)
		return true;
	if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= elf->n_sections)
		return false;
	if (elf->sections[sym.st_shndx].flags & SHF_ALLOC)
		*ret += elf->sections[sym.st_shndx].vaddr;
	return true;
}

/* Those that debug sections have; what another one would write stays as it is. */
static void relocate(const struct fah_elf *elf, const struct fah_elf_section *relocations,
		     uint8_t *to, uint64_t len)
{
	_cleanup_(fah_freep) uint8_t *symbols = NULL, *bytes = NULL;
	const struct fah_elf_section *table;
	uint64_t n = relocations->len / sizeof(Elf64_Rela);

	if (relocations->link >= elf->n_sections)
		return;
	table = &elf->sections[relocations->link];
	if (fah_elf_read(elf, relocations->offset, relocations->len, &bytes) < 0 ||
	    fah_elf_read(elf, table->offset, table->len, &symbols) < 0)
		return;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Rela r;
		uint64_t value, size;

		memcpy(&r, bytes + i * sizeof(r), sizeof(r));
		switch (ELF64_R_TYPE(r.r_info)) {
		case R_X86_64_64:
			size = 8;
			break;
		case R_X86_64_32:
		case R_X86_64_32S:
			size = 4;
			break;
		default:
			continue;
		}
		if (r.r_offset > len || size > len - r.r_offset ||
		    !symbol_value(elf, symbols, table->len / sizeof(Elf64_Sym),
				  ELF64_R_SYM(r.r_info), &value))
			continue;
		value += (uint64_t)r.r_addend;
		memcpy(to + r.r_offset, &value, size); /* little-endian: its lower half */
	}
}

static void relocate_all(const struct fah_elf *elf, const struct part parts[N_WANTED], uint8_t *to)
{
	if (!elf->is_object)
		return;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const struct fah_elf_section *r = &elf->sections[i];

		if (r->type != SHT_RELA || r->info >= elf->n_sections)
			continue;
		for (size_t p = 0; p < N_WANTED; p++)
			if (parts[p].from == &elf->sections[r->info])
				relocate(elf, r, to + parts[p].at, parts[p].from->len);
	}
}

static bool has_code(const struct fah_elf *elf, struct fah_made_debug *debug)
{
	debug->start = UINT64_MAX;
	for (uint32_t i = 0; i < elf->n_segments; i++) {
		const struct fah_elf_segment *s = &elf->segments[i];

		if (!s->executable)
			continue;
		if (s->vaddr < debug->start)
			debug->start = s->vaddr;
		if (s->vaddr + s->memsz > debug->end)
			debug->end = s->vaddr + s->memsz;
	}
	return debug->start < debug->end;
}

static struct fah_made_debug *debug_new(const struct fah_elf *elf, uint64_t room)
{
	struct fah_made_debug *debug = calloc(1, sizeof(*debug));
	struct part parts[N_WANTED];

	if (debug && has_code(elf, debug))
		debug->len = lay_out(elf, parts);
	if (debug && debug->len && debug->len <= room)
		debug->bytes = calloc(1, debug->len + 1); /* the last text may have no end */
	if (!debug || !debug->bytes || !write_file(elf, parts, debug->bytes)) {
		if (debug)
			free(debug->bytes);
		free(debug);
		return NULL;
	}
	relocate_all(elf, parts, debug->bytes);
	return debug;
}

static bool add(struct fah_made_debugs *all, struct fah_made_debug *debug)
{
	if (all->n == all->room) {
		size_t room = all->room ? 2 * all->room : 16;
		struct fah_made_debug **more = reallocarray(all->list, room, sizeof(*more));

		if (!more)
			return false;
		all->list = more;
		all->room = room;
	}
	all->list[all->n++] = debug;
	all->kept += debug->len;
	return true;
}

struct fah_made_debug *fah_made_debugs_take(struct fah_made_debugs *all, const struct fah_elf *elf)
{
	struct fah_made_debug *debug;
	uint32_t *index;
	uint64_t sum;

	if (!fah_elf_section(elf, wanted[0]))
		return NULL;
	sum = fah_table_sum(elf->mem, elf->len & ~7ull);
	index = fah_map_put(&all->known, (struct fah_key){sum, elf->len}, NULL);
	if (!index)
		return NULL;
	if (*index)
		return all->list[*index - 1];
	debug = debug_new(elf, FAH_MADE_DEBUG_MAX - all->kept);
	if (!debug)
		return NULL;
	debug->sum = sum;
	if (!add(all, debug)) {
		free(debug->bytes);
		free(debug);
		return NULL;
	}
	*index = (uint32_t)all->n;
	return debug;
}

uint32_t fah_made_debug_find(struct fah_made_debug *debug, uint64_t address,
			     struct fah_dwarf_frame frames[FAH_INLINE_MAX])
{
	if (address < debug->start || address >= debug->end)
		return 0;
	if (!debug->opened) {
		debug->opened = true;
		debug->dwarf = fah_dwarf_open_mem(debug->bytes, debug->len);
	}
	return debug->dwarf ? fah_dwarf_find(debug->dwarf, address, frames) : 0;
}
