/* debug_info_none.c - see debug_info.h: builds without libdw know symbols, but no inlined frames or
 * lines. */
#include "native/debug_info.h"

struct fah_dwarf *fah_dwarf_open(struct fah_elf *elf)
{
	(void)elf;
	return NULL;
}

struct fah_dwarf *fah_dwarf_open_mem(uint8_t *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return NULL;
}

void fah_dwarf_free(struct fah_dwarf *d)
{
	(void)d;
}

uint32_t fah_dwarf_find(struct fah_dwarf *d, uint64_t vaddr,
			struct fah_dwarf_frame frames[FAH_INLINE_MAX])
{
	(void)d;
	(void)vaddr;
	(void)frames;
	return 0;
}

const char *fah_dwarf_library(void)
{
	return NULL;
}
