/*
 * code_map.h - what code a process has mapped at one time: read from /proc and from the process
 * itself, written for its agent to unwind with. One thread; only modules.c uses it.
 */
#ifndef FAH_COLLECT_CODE_MAP_H
#define FAH_COLLECT_CODE_MAP_H

#include "collect/module.h"

struct fah_mapped {
	uint64_t start, end, base;
	struct fah_module *module;
};

struct fah_code_map {
	struct fah_mapped *list; /* by start */
	size_t n, room;
	bool written; /* its file is there */
};

/*
 * What process pid has mapped now; frames: see fah_modules_look. The caller frees ret->list, also
 * after an error. FAH_ERR_SYS, FAH_ERR_NOMEM; FAH_ERR_FORMAT: it is just starting or ending.
 */
int fah_code_map_read(struct fah_module_store *s, uint32_t pid, uint64_t frames,
		      struct fah_code_map *ret);
bool fah_code_map_same(const struct fah_code_map *a, const struct fah_code_map *b);
/* Whose code stands at this address; NULL: nobody's. */
const struct fah_mapped *fah_code_map_find(const struct fah_code_map *map, uint64_t pc);
/* The file for agents, at once (native/map_file.h). FAH_ERR_RANGE: it would be too large. */
int fah_code_map_write(const struct fah_code_map *map, const char *path);

#endif
