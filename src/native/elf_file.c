/*
 * elf_file.c - see elf_file.h. Reads with pread, never through a mapping: a file that shrinks
 * meanwhile is an error, not a SIGBUS.
 */
#include "native/elf_file.h"

#include "core/err.h"
#include "core/time.h"
#include "native/table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define MAX_PHDRS 512
#define MAX_SECTIONS 65536
#define MAX_NOTES (64u << 10)
#define MAX_PIECE (1u << 30)

static int read_into(const struct fah_elf *elf, uint64_t offset, void *dst, size_t len)
{
	size_t done = 0;

	if (offset > elf->len || len > elf->len - offset)
		return FAH_ERR_DAMAGED;
	if (elf->fd < 0) {
		if (len)
			memcpy(dst, elf->mem + offset, len);
		return 0;
	}
	while (done < len) {
		ssize_t got =
			pread(elf->fd, (uint8_t *)dst + done, len - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return FAH_ERR_SYS;
		if (got == 0)
			return FAH_ERR_DAMAGED;
		done += (size_t)got;
	}
	return 0;
}

int fah_elf_read(const struct fah_elf *elf, uint64_t offset, uint64_t len, uint8_t **ret)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	int err;

	if (offset > elf->len || len > elf->len - offset || len > MAX_PIECE)
		return FAH_ERR_DAMAGED;
	bytes = malloc(len + 8);
	if (!bytes)
		return FAH_ERR_NOMEM;
	err = read_into(elf, offset, bytes, len);
	if (err < 0)
		return err;
	memset(bytes + len, 0, 8);
	*ret = TAKE_PTR(bytes);
	return 0;
}

static const struct fah_elf_segment *segment_at(const struct fah_elf *elf, uint64_t vaddr)
{
	for (uint32_t i = 0; i < elf->n_segments; i++)
		if (vaddr - elf->segments[i].vaddr < elf->segments[i].memsz)
			return &elf->segments[i];
	return NULL;
}

uint64_t fah_elf_room_at(const struct fah_elf *elf, uint64_t vaddr)
{
	const struct fah_elf_segment *s = segment_at(elf, vaddr);

	return s && vaddr - s->vaddr < s->filesz ? s->filesz - (vaddr - s->vaddr) : 0;
}

bool fah_elf_is_code(const struct fah_elf *elf, uint64_t vaddr)
{
	const struct fah_elf_segment *s = segment_at(elf, vaddr);

	return s && s->executable;
}

int fah_elf_read_at(const struct fah_elf *elf, uint64_t vaddr, uint64_t len, uint8_t **ret)
{
	const struct fah_elf_segment *s = segment_at(elf, vaddr);

	if (!s || len > fah_elf_room_at(elf, vaddr))
		return FAH_ERR_DAMAGED;
	return fah_elf_read(elf, s->offset + (vaddr - s->vaddr), len, ret);
}

/* The first NT_GNU_BUILD_ID among the notes. Notes are aligned to 4, in some files to 8. */
static void find_build_id(struct fah_elf *elf, const uint8_t *notes, uint64_t len, uint64_t align)
{
	uint64_t at = 0, name_at, desc_at;
	Elf64_Nhdr note;

	align = align == 8 ? 8 : 4;
	while (len - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		name_at = at + sizeof(note);
		desc_at = name_at + ((note.n_namesz + align - 1) & ~(align - 1));
		if (desc_at > len || note.n_descsz > len - desc_at)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name_at, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= FAH_BUILD_ID_MAX) {
			elf->build_id_len = note.n_descsz;
			memcpy(elf->build_id, notes + desc_at, note.n_descsz);
			return;
		}
		at = desc_at + ((note.n_descsz + align - 1) & ~(align - 1));
		if (at > len)
			return;
	}
}

static void extend(struct fah_elf *elf, const struct fah_elf_segment *s)
{
	if (s->vaddr < elf->base)
		elf->base = s->vaddr;
	if (s->vaddr + s->memsz > elf->end)
		elf->end = s->vaddr + s->memsz;
}

static int add_phdr(struct fah_elf *elf, const Elf64_Phdr *ph)
{
	_cleanup_(fah_freep) uint8_t *notes = NULL;
	struct fah_elf_segment *s = &elf->segments[elf->n_segments];

	switch (ph->p_type) {
	case PT_LOAD:
		if (!ph->p_memsz)
			return 0;
		if (ph->p_filesz > ph->p_memsz || ph->p_vaddr + ph->p_memsz < ph->p_vaddr ||
		    ph->p_offset + ph->p_filesz < ph->p_offset)
			return FAH_ERR_DAMAGED;
		*s = (struct fah_elf_segment){ph->p_vaddr, ph->p_memsz, ph->p_offset, ph->p_filesz,
					      ph->p_flags & PF_X};
		elf->n_segments++;
		extend(elf, s);
		return 0;
	case PT_GNU_EH_FRAME:
		elf->eh_frame_hdr = ph->p_vaddr;
		elf->eh_frame_hdr_len = ph->p_memsz;
		return 0;
	case PT_NOTE:
		if (elf->build_id_len || ph->p_filesz > MAX_NOTES ||
		    fah_elf_read(elf, ph->p_offset, ph->p_filesz, &notes) < 0)
			return 0; /* it is good without a build-id */
		find_build_id(elf, notes, ph->p_filesz, ph->p_align);
		return 0;
	default:
		return 0;
	}
}

static bool is_ours(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_machine == EM_X86_64;
}

/* The head of a file whose sections take the place of segments. */
static int read_made(struct fah_elf *elf)
{
	Elf64_Ehdr eh;
	int err = read_into(elf, 0, &eh, sizeof(eh));

	if (err < 0 || !is_ours(&eh))
		return FAH_ERR_FORMAT;
	elf->is_object = eh.e_type == ET_REL;
	err = fah_elf_sections(elf);
	if (err < 0)
		return err;
	elf->segments = calloc(elf->n_sections + 1u, sizeof(*elf->segments));
	if (!elf->segments)
		return FAH_ERR_NOMEM;
	elf->base = UINT64_MAX;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const struct fah_elf_section *from = &elf->sections[i];
		struct fah_elf_segment *s = &elf->segments[elf->n_segments];

		if (!(from->flags & SHF_ALLOC) || !from->vaddr || !from->len ||
		    from->vaddr + from->len < from->vaddr)
			continue;
		*s = (struct fah_elf_segment){from->vaddr, from->len, from->offset,
					      from->type == SHT_NOBITS ? 0 : from->len,
					      from->flags & SHF_EXECINSTR};
		elf->n_segments++;
		extend(elf, s);
	}
	if (!elf->n_segments)
		return FAH_ERR_DAMAGED;
	elf->base &= ~(uint64_t)(FAH_ELF_PAGE - 1);
	return 0;
}

static int read_head(struct fah_elf *elf)
{
	_cleanup_(fah_freep) uint8_t *phdrs = NULL;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int err = read_into(elf, 0, &eh, sizeof(eh));

	if (err == FAH_ERR_DAMAGED)
		return FAH_ERR_FORMAT;
	if (err < 0)
		return err;
	if (!is_ours(&eh) || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN))
		return FAH_ERR_FORMAT;
	if (eh.e_phentsize != sizeof(ph) || !eh.e_phnum || eh.e_phnum > MAX_PHDRS)
		return FAH_ERR_DAMAGED;
	err = fah_elf_read(elf, eh.e_phoff, eh.e_phnum * sizeof(ph), &phdrs);
	if (err < 0)
		return err;
	elf->segments = calloc(eh.e_phnum + 1u, sizeof(*elf->segments));
	if (!elf->segments)
		return FAH_ERR_NOMEM;
	elf->base = UINT64_MAX;
	elf->head_sum = fah_table_sum(phdrs, eh.e_phnum * sizeof(ph));
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, phdrs + i * sizeof(ph), sizeof(ph));
		err = add_phdr(elf, &ph);
		if (err < 0)
			return err;
	}
	if (!elf->n_segments)
		return FAH_ERR_DAMAGED;
	elf->base &= ~(uint64_t)(FAH_ELF_PAGE - 1);
	return 0;
}

static int open_source(struct fah_elf source, int (*read)(struct fah_elf *), struct fah_elf **ret)
{
	_cleanup_(fah_elf_freep) struct fah_elf *elf = malloc(sizeof(*elf));
	int err;

	if (!elf) {
		if (source.fd >= 0)
			close(source.fd);
		return FAH_ERR_NOMEM;
	}
	*elf = source;
	err = read(elf);
	if (err < 0)
		return err;
	*ret = TAKE_PTR(elf);
	return 0;
}

int fah_elf_open(const char *path, struct fah_elf **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return FAH_ERR_SYS;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return FAH_ERR_FORMAT;
	}
	return open_source((struct fah_elf){.fd = fd,
					    .len = (uint64_t)st.st_size,
					    .dev = st.st_dev,
					    .ino = st.st_ino,
					    .mtime_ns = fah_timespec_ns(st.st_mtim)},
			   read_head, ret);
}

int fah_elf_open_mem(const void *bytes, size_t len, struct fah_elf **ret)
{
	return open_source((struct fah_elf){.fd = -1, .mem = bytes, .len = len}, read_head, ret);
}

int fah_elf_open_made(const void *bytes, size_t len, struct fah_elf **ret)
{
	return open_source((struct fah_elf){.fd = -1, .mem = bytes, .len = len}, read_made, ret);
}

int fah_elf_open_vdso(struct fah_elf **ret)
{
	const Elf64_Ehdr *eh =
		(const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* the kernel's word */

	if (!eh)
		return FAH_ERR_FORMAT;
	return fah_elf_open_mem(eh, eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize, ret);
}

void fah_elf_free(struct fah_elf *elf)
{
	if (!elf)
		return;
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->segments);
	free(elf->sections);
	free(elf->section_names);
	free(elf);
}

int fah_elf_sections(struct fah_elf *elf)
{
	_cleanup_(fah_freep) uint8_t *bytes = NULL;
	uint8_t *names = NULL;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	int err;

	if (elf->sections)
		return 0;
	err = read_into(elf, 0, &eh, sizeof(eh));
	if (err < 0)
		return err;
	if (!eh.e_shoff || !eh.e_shnum || eh.e_shentsize != sizeof(sh))
		return 0;
	err = fah_elf_read(elf, eh.e_shoff, (uint64_t)eh.e_shnum * sizeof(sh), &bytes);
	if (err < 0)
		return err;
	elf->sections = calloc(eh.e_shnum, sizeof(*elf->sections));
	if (!elf->sections)
		return FAH_ERR_NOMEM;
	elf->n_sections = eh.e_shnum;
	for (unsigned i = 0; i < eh.e_shnum; i++) {
		memcpy(&sh, bytes + i * sizeof(sh), sizeof(sh));
		elf->sections[i] = (struct fah_elf_section){
			sh.sh_name, sh.sh_type,	  sh.sh_link, sh.sh_info,   sh.sh_flags,
			sh.sh_addr, sh.sh_offset, sh.sh_size, sh.sh_entsize};
	}
	if (eh.e_shstrndx < eh.e_shnum) {
		const struct fah_elf_section *s = &elf->sections[eh.e_shstrndx];

		if (s->type == SHT_STRTAB && fah_elf_read(elf, s->offset, s->len, &names) == 0) {
			elf->section_names = (char *)names;
			elf->section_names_len = s->len;
		}
	}
	return 0;
}

const char *fah_elf_section_name(const struct fah_elf *elf, const struct fah_elf_section *section)
{
	return section->name < elf->section_names_len ? elf->section_names + section->name : "";
}

const struct fah_elf_section *fah_elf_section(const struct fah_elf *elf, const char *name)
{
	for (uint32_t i = 0; i < elf->n_sections; i++)
		if (!strcmp(fah_elf_section_name(elf, &elf->sections[i]), name))
			return &elf->sections[i];
	return NULL;
}

int fah_elf_base(const struct fah_elf *elf, uint64_t start, uint64_t offset, uint64_t *ret_base)
{
	const uint64_t page = ~(uint64_t)(FAH_ELF_PAGE - 1);

	/* the executable segments first: two may share the page of the file between them */
	for (int executable = 1; executable >= 0; executable--) {
		for (uint32_t i = 0; i < elf->n_segments; i++) {
			const struct fah_elf_segment *s = &elf->segments[i];
			uint64_t from = s->offset & page;

			if (s->executable != executable || offset < from ||
			    offset >= s->offset + s->filesz)
				continue;
			*ret_base = start - (offset - from) - ((s->vaddr & page) - elf->base);
			return 0;
		}
	}
	return FAH_ERR_RANGE;
}
