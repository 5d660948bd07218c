/*
 * perf_map.h - names of code made at run time, as runtimes write them into /tmp/perf-PID.map for
 * perf: lines of start, length (both hex) and a name. Tool side, pure functions over untrusted
 * bytes.
 */
#ifndef FAH_NATIVE_PERF_MAP_H
#define FAH_NATIVE_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

struct fah_perf_entry {
	uint64_t start, end;
	const char *name; /* borrowed from the text, not empty */
	uint32_t line;	  /* of the map: of two that overlap the later one holds */
};

struct fah_perf_map {
	struct fah_perf_entry *entries; /* by start; of one start the last line's only */
	size_t n;
};

/*
 * text (len bytes and a NUL) is cut into names and borrowed for as long as *ret is used. Lines that
 * make no sense, and a last one without its end, are left out. FAH_ERR_NOMEM.
 */
int fah_perf_map_parse(char *text, size_t len, struct fah_perf_map *ret);
void fah_perf_map_release(struct fah_perf_map *map);

/* NULL: no code of the map is there. */
const struct fah_perf_entry *fah_perf_map_find(const struct fah_perf_map *map, uint64_t pc);

#endif
