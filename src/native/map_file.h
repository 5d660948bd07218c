/*
 * map_file.h - which code a process has where, with the tables to unwind it: the file that the
 * collector writes and the agent maps. Both are of the same version.
 *
 *     struct fah_map_head
 *     struct fah_map_module modules[n]    sorted by start, not overlapping
 *     the tables (table.h), each at a multiple of 8
 *
 * Written whole, then given its name; never changed afterwards.
 */
#ifndef FAH_NATIVE_MAP_FILE_H
#define FAH_NATIVE_MAP_FILE_H

#include <stdint.h>

#define FAH_MAP_MAGIC 0x31444e5755484146ull /* "FAHUWND1" */
#define FAH_MAP_MODULES_MAX 4096u
#define FAH_MAP_SIZE_MAX (256u << 20)

struct fah_map_head {
	uint64_t magic;
	uint64_t size; /* of the file */
	uint32_t n;
	uint32_t reserved;
};

struct fah_map_module {
	uint64_t start, end, base; /* as struct fah_unwind_module */
	uint64_t table_at, table_len;
};

/* The file of one state of a process's modules, in the session's folder. */
#define FAH_MAP_NAME "map-%u.unwind"

#endif
