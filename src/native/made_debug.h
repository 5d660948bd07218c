/*
 * made_debug.h - debug information of code made at run time: that of the images which compilers
 * hand to debuggers. Tool side, one thread; every byte is the process's word.
 *
 * An image is an object file as the compiler wrote it; only its section headers say where its code
 * has come to stand. So its debug sections are copied into a small ELF file of our own, with the
 * addresses put in: libdw sees no header that somebody else made.
 */
#ifndef FAH_NATIVE_MADE_DEBUG_H
#define FAH_NATIVE_MADE_DEBUG_H

#include "base/map.h"
#include "native/debug_info.h"

#define FAH_MADE_DEBUG_MAX (128u << 20) /* bytes of all that a store keeps; what is more is not */

struct fah_made_debug {
	uint64_t start, end; /* all code of the image lies between, as addresses of the process */
	uint64_t sum;	     /* of the image's bytes */
	uint8_t *bytes;	     /* the file of our own */
	size_t len;
	struct fah_dwarf *dwarf; /* NULL: nobody has asked yet, or it says nothing */
	bool opened;
};

/* Each image's once, however often its process is looked at. */
struct fah_made_debugs {
	struct fah_made_debug **list;
	size_t n, room;
	struct fah_map known; /* {sum, length} of an image -> 1 + its index */
	uint64_t kept;	      /* bytes */
};

void fah_made_debugs_release(struct fah_made_debugs *all);

/* That of this image (elf is that of bytes, by fah_elf_open_made); NULL: it has none that can be
 * used, or no memory. Borrowed, lives as long as all. */
struct fah_made_debug *fah_made_debugs_take(struct fah_made_debugs *all, const struct fah_elf *elf);

/* As fah_dwarf_find, for an address of the process. */
uint32_t fah_made_debug_find(struct fah_made_debug *debug, uint64_t address,
			     struct fah_dwarf_frame frames[FAH_INLINE_MAX]);

#endif
