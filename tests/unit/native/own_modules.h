/*
 * own_modules.h - the tables of every module of the process that includes this, from its own maps.
 */
#ifndef FAH_TEST_OWN_MODULES_H
#define FAH_TEST_OWN_MODULES_H

#include "core/err.h"
#include "native/table_file.h"
#include "native/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_MAX 512

struct own_names {
	char path[OWN_MAX][256];
	size_t bytes; /* of all tables */
};

/* The stack that holds addr. */
static inline struct fah_stack own_stack(uint64_t addr)
{
	struct fah_stack stack = {0, 0, NULL};
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4352];
	uint64_t lo, hi;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi) == 2 && addr >= lo && addr < hi)
			stack = (struct fah_stack){lo, hi, &fah_mem_self};
	if (f)
		fclose(f);
	return stack;
}

/* All of them, from a folder of tables or (NULL) made anew. Never freed, as in the agent. */
static inline struct fah_unwind_modules *own_modules(const char *dir, struct own_names *names)
{
	struct fah_unwind_modules *mods = calloc(1, fah_unwind_modules_size(OWN_MAX));
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4352], perms[8], path[4096];
	uint64_t start, end, offset;

	names->bytes = 0;
	while (f && mods && fgets(line, sizeof(line), f) && mods->n < OWN_MAX) {
		struct fah_unwind_module *m = &mods->modules[mods->n];
		struct fah_table_bytes table = {0};
		struct fah_elf *elf = NULL;
		bool vdso;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]",
			   &start, &end, perms, &offset, path) != 5 ||
		    perms[2] != 'x')
			continue;
		vdso = !strcmp(path, "[vdso]");
		if (vdso ? fah_elf_open_vdso(&elf) : fah_elf_open(path, &elf))
			continue;
		if (fah_elf_base(elf, start, vdso ? 0 : offset, &m->base) == 0 &&
		    fah_table_get(elf, dir, &table) == 0 &&
		    fah_table_open(table.bytes, table.len, &m->table) == 0) {
			m->start = start;
			m->end = end;
			m->id = mods->n;
			snprintf(names->path[mods->n++], sizeof(names->path[0]), "%.255s", path);
			names->bytes += table.len;
		}
		fah_elf_free(elf);
	}
	if (f)
		fclose(f);
	if (!mods || fah_unwind_modules_sort(mods) < 0)
		abort();
	return mods;
}

static inline const char *own_name(const struct fah_unwind_modules *mods,
				   const struct own_names *names, uint64_t pc)
{
	const struct fah_unwind_module *m = fah_unwind_modules_find(mods, pc);

	return m ? names->path[m->id] : "?";
}

#endif
