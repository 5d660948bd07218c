/*
 * made_image.h - an ELF image as a compiler at run time hands it to debuggers, built by hand: not
 * linked, its sections at the addresses of the process, one function of CODE_LEN bytes that pushes
 * rbp, with its name and its .eh_frame.
 */
#ifndef FAH_TESTS_MADE_IMAGE_H
#define FAH_TESTS_MADE_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define CODE_LEN 64u

struct made_frames {
	/* CIE: CFA is rsp + 8, return address at CFA - 8; FDEs have absolute addresses */
	uint8_t cie[24];
	struct {
		uint32_t len, cie;
		uint64_t start, code_len;
		uint8_t augmentation, program[7];
	} __attribute__((packed)) fde;
	uint32_t end;
} __attribute__((packed));

struct made_image {
	Elf64_Ehdr head;
	Elf64_Shdr sections[6];
	struct made_frames frames;
	Elf64_Sym symbols[2];
	char strings[64], section_names[64];
};

static inline void made_frames_init(struct made_frames *f, uint64_t code)
{
	static const uint8_t cie[24] = {
		20,   0,    0,	 0,	  /* length */
		0,    0,    0,	 0,	  /* it is a CIE */
		1,    'z',  'R', 0,	  /* version, augmentation */
		1,    0x78, 16,	 1,    0, /* alignments, ra, absolute pointers */
		0x0c, 7,    8,	 0x90, 1, 0, 0};
	/* after 1 byte the CFA is rsp + 16, with rbp saved below */
	static const uint8_t program[7] = {0x41, 0x0e, 16, 0x86, 2, 0, 0};

	memset(f, 0, sizeof(*f));
	memcpy(f->cie, cie, sizeof(cie));
	f->fde.len = sizeof(f->fde) - 4;
	f->fde.cie = sizeof(cie) + 4;
	f->fde.start = code;
	f->fde.code_len = CODE_LEN;
	memcpy(f->fde.program, program, sizeof(program));
}

static inline Elf64_Shdr made_section(uint32_t name, uint32_t type, uint64_t flags, uint64_t addr,
				      uint64_t offset, uint64_t len, uint32_t link)
{
	return (Elf64_Shdr){.sh_name = name,
			    .sh_type = type,
			    .sh_flags = flags,
			    .sh_addr = addr,
			    .sh_offset = offset,
			    .sh_size = len,
			    .sh_link = link};
}

/* frames: where .eh_frame has been loaded to; 0: it is in the image only. */
static inline void made_image_init(struct made_image *im, const char *name, uint64_t code,
				   uint64_t frames)
{
	static const char names[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab";

	memset(im, 0, sizeof(*im));
	memcpy(im->head.e_ident, ELFMAG, SELFMAG);
	im->head.e_ident[EI_CLASS] = ELFCLASS64;
	im->head.e_ident[EI_DATA] = ELFDATA2LSB;
	im->head.e_ident[EI_VERSION] = EV_CURRENT;
	im->head.e_type = ET_REL;
	im->head.e_machine = EM_X86_64;
	im->head.e_shoff = offsetof(struct made_image, sections);
	im->head.e_shentsize = sizeof(Elf64_Shdr);
	im->head.e_shnum = 6;
	im->head.e_shstrndx = 5;
	memcpy(im->section_names, names, sizeof(names));
	strncpy(im->strings + 1, name, sizeof(im->strings) - 2);
	im->sections[1] =
		made_section(1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, code, 0, CODE_LEN, 0);
	im->sections[2] = made_section(7, SHT_PROGBITS, SHF_ALLOC, frames,
				       offsetof(struct made_image, frames), sizeof(im->frames), 0);
	im->sections[3] = made_section(17, SHT_SYMTAB, 0, 0, offsetof(struct made_image, symbols),
				       sizeof(im->symbols), 4);
	im->sections[4] = made_section(25, SHT_STRTAB, 0, 0, offsetof(struct made_image, strings),
				       sizeof(im->strings), 0);
	im->sections[5] =
		made_section(33, SHT_STRTAB, 0, 0, offsetof(struct made_image, section_names),
			     sizeof(im->section_names), 0);
	im->symbols[1] = (Elf64_Sym){.st_name = 1,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				     .st_shndx = 1,
				     .st_size = CODE_LEN};
	made_frames_init(&im->frames, code);
}

#endif
