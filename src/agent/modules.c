/*
 * modules.c - whose code a pc is: the interpreter's, the C runtime's, or someone else's.
 *
 * The scan runs once, outside of handlers (it takes the loader's lock); look-ups compare ranges.
 */
#include "agent/agent.h"

#include <link.h>
#include <string.h>

#define MAX_RANGES 32

struct range {
	uint64_t start, end;
	enum fah_code_owner owner;
};

static struct range ranges[MAX_RANGES];
static int n_ranges;

static bool is_runtime(const char *path)
{
	static const char *const names[] = {"libc.so",	  "libc-2",   "libm.so",    "libm-2",
					    "libpthread", "ld-linux", "ld-2",	    "libdl.so",
					    "libdl-2",	  "librt",    "linux-vdso", "libutil"};
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t wanted = *(const uint64_t *)data;
	enum fah_code_owner owner = is_runtime(info->dlpi_name) ? FAH_CODE_RUNTIME : FAH_CODE_OTHER;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && wanted - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
			owner = FAH_CODE_INTERPRETER;
	}
	for (i = 0; owner != FAH_CODE_OTHER && i < info->dlpi_phnum && n_ranges < MAX_RANGES; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		/* not the first bytes, so that what stands before a pc can be looked at */
		ranges[n_ranges].start = info->dlpi_addr + ph->p_vaddr + 16;
		ranges[n_ranges].end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		ranges[n_ranges++].owner = owner;
	}
	return 0;
}

void fah_modules_scan(uint64_t interpreter_address)
{
	n_ranges = 0;
	dl_iterate_phdr(add_module, &interpreter_address);
}

enum fah_code_owner fah_modules_owner(uint64_t pc)
{
	for (int i = 0; i < n_ranges; i++)
		if (pc - ranges[i].start < ranges[i].end - ranges[i].start)
			return ranges[i].owner;
	return FAH_CODE_OTHER;
}
