/*
 * debug_info.h - functions, inlined functions and lines by a file's debug information. Tool side,
 * one thread.
 *
 * Sections are read when they are first needed, a unit's functions and lines when one of its
 * addresses is first asked for.
 */
#ifndef FAH_NATIVE_DEBUG_INFO_H
#define FAH_NATIVE_DEBUG_INFO_H

#include "native/elf_file.h"

#define FAH_INLINE_MAX 64 /* frames at one address: deeper ones are left out */

struct fah_dwarf; /* opaque */

struct fah_dwarf_frame {
	const char *linkage; /* mangled; NULL: none */
	const char *name;    /* NULL: none */
	const char *file;    /* where the function is written; NULL: not said */
	const char *dir;     /* what a relative file is relative to; NULL: not said */
	uint32_t line;	     /* in that file, at which it runs or calls the next; 0: not said */
};

/* elf is borrowed until fah_dwarf_free. NULL: no debug information, or this build reads none. */
struct fah_dwarf *fah_dwarf_open(struct fah_elf *elf);
/* The same for an ELF file in memory, whose head is known to be good. */
struct fah_dwarf *fah_dwarf_open_mem(uint8_t *bytes, size_t len);
void fah_dwarf_free(struct fah_dwarf *d); /* NULL is fine */

/* The frames at an address of the file, outermost first; how many, 0: nothing is known. It may be a
 * line without a name. The strings live as long as d. */
uint32_t fah_dwarf_find(struct fah_dwarf *d, uint64_t vaddr,
			struct fah_dwarf_frame frames[FAH_INLINE_MAX]);

/* The library that does it, with its version; NULL: this build has none. */
const char *fah_dwarf_library(void);

#endif
