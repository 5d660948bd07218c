/*
 * elf_file.h - what profiling needs of an ELF file: its build-id, its segments, its unwind
 * information, its sections of symbols. Tool side.
 *
 * Every byte is untrusted and everything is copied before it is looked at: the file may be damaged,
 * hostile, or rewritten while we read. 64-bit little-endian files for x86-64 only.
 */
#ifndef FAH_NATIVE_ELF_FILE_H
#define FAH_NATIVE_ELF_FILE_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_BUILD_ID_MAX 40
#define FAH_ELF_PAGE 4096u

struct fah_elf_segment { /* a PT_LOAD */
	uint64_t vaddr, memsz, offset, filesz;
	bool executable;
};

struct fah_elf {
	int fd; /* -1: mem */
	const uint8_t *mem;
	uint64_t len; /* of the file */
	uint64_t dev, ino, mtime_ns;
	bool is_object; /* ET_REL: its symbols count from their sections */
	uint64_t base;	/* lowest PT_LOAD, rounded down to a page: offset 0 of tables and symbols */
	uint64_t end;	/* behind the highest PT_LOAD */
	uint64_t head_sum; /* of the program headers: tells edited copies with one build-id apart */
	uint8_t build_id[FAH_BUILD_ID_MAX];
	uint32_t build_id_len; /* 0: it has none */
	struct fah_elf_segment *segments;
	uint32_t n_segments;
	uint64_t eh_frame_hdr; /* vaddr of PT_GNU_EH_FRAME; 0: none */
	uint64_t eh_frame_hdr_len;
	struct fah_elf_section *sections; /* NULL: not read yet, or none */
	uint32_t n_sections;
	char *section_names;
	size_t section_names_len;
};

struct fah_elf_section {
	uint32_t name, type, link, info;
	uint64_t flags, vaddr, offset, len, entsize;
};

/*
 * FAH_ERR_SYS; FAH_ERR_FORMAT: not an ELF file of this CPU; FAH_ERR_DAMAGED: its head says what
 * cannot be. On success the caller owns *ret (fah_elf_free). open: never waits for a pipe, regular
 * files only.
 */
int fah_elf_open(const char *path, struct fah_elf **ret);
/* An image in memory, e.g. the vdso; borrowed until fah_elf_free. */
int fah_elf_open_mem(const void *bytes, size_t len, struct fah_elf **ret);
/*
 * An image that a compiler at run time gives to debuggers: its sections say where its code is, also
 * where it has no program headers or is not linked (ET_REL). Those with an address are its
 * segments. Borrowed as above. FAH_ERR_DAMAGED also where no section has an address.
 */
int fah_elf_open_made(const void *bytes, size_t len, struct fah_elf **ret);
/* The vdso of this very process: the same in every 64-bit process of the machine. FAH_ERR_FORMAT:
 * there is none. */
int fah_elf_open_vdso(struct fah_elf **ret);
void fah_elf_free(struct fah_elf *elf); /* NULL is fine */
FAH_DEFINE_FREEP(struct fah_elf *, fah_elf_free)

/* len bytes of the file and 8 zeroes behind them; the caller frees *ret. FAH_ERR_DAMAGED: not in
 * the file. */
int fah_elf_read(const struct fah_elf *elf, uint64_t offset, uint64_t len, uint8_t **ret);
/* The same for an address. */
int fah_elf_read_at(const struct fah_elf *elf, uint64_t vaddr, uint64_t len, uint8_t **ret);
/* How many bytes the file has from vaddr to the end of its segment; 0: none. */
uint64_t fah_elf_room_at(const struct fah_elf *elf, uint64_t vaddr);
bool fah_elf_is_code(const struct fah_elf *elf, uint64_t vaddr);

/* Reads the section headers, once. 0 also where there are none. */
int fah_elf_sections(struct fah_elf *elf);
/* "" for a damaged one. Borrowed from elf. */
const char *fah_elf_section_name(const struct fah_elf *elf, const struct fah_elf_section *section);
/* NULL: there is none. */
const struct fah_elf_section *fah_elf_section(const struct fah_elf *elf, const char *name);

/*
 * Where this file's base is in a process that has the file's bytes from `offset` on mapped at
 * `start` (a line of /proc/PID/maps): what struct fah_unwind_module calls base. FAH_ERR_RANGE: no
 * segment of this file is mapped like that.
 */
int fah_elf_base(const struct fah_elf *elf, uint64_t start, uint64_t offset, uint64_t *ret_base);

#endif
