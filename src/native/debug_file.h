/*
 * debug_file.h - what was stripped from a module and kept elsewhere: its debug file, and the small
 * table of symbols that some distributions leave in .gnu_debugdata. Tool side, untrusted bytes.
 */
#ifndef FAH_NATIVE_DEBUG_FILE_H
#define FAH_NATIVE_DEBUG_FILE_H

#include "native/elf_file.h"

/*
 * The file of the same build: by build-id in ROOT/usr/lib/debug/.build-id, else by .gnu_debuglink
 * beside the module (path, as seen in ROOT), in .debug there, or in ROOT/usr/lib/debug. root is ""
 * or a folder. FAH_ERR_FORMAT: there is none. The caller owns *ret.
 */
int fah_debug_file_open(struct fah_elf *elf, const char *root, const char *path,
			struct fah_elf **ret);

/* .gnu_debugdata unpacked; *ret_bytes must live as long as *ret, the caller frees both.
 * FAH_ERR_FORMAT: there is none, or this build cannot unpack it. */
int fah_debug_data_open(struct fah_elf *elf, uint8_t **ret_bytes, struct fah_elf **ret);

/* unpack.c, or unpack_none.c: an .xz file in memory; the caller frees *ret. FAH_ERR_DAMAGED,
 * FAH_ERR_NOMEM, FAH_ERR_RANGE: bigger than FAH_UNPACK_MAX. FAH_ERR_FORMAT: this build cannot. */
#define FAH_UNPACK_MAX (256u << 20)
int fah_unpack(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len);
/* The library that does it; NULL: this build has none. */
const char *fah_unpack_library(void);

#endif
