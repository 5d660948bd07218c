/* memory_group.c - see memory_group.h. */
#include "target/memory_group.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)
#define LEVELS_MAX 64 /* groups above each other that are looked at */

static const struct names {
	const char *used, *limit, *cache, *kills;
} names[2] = {
	{"memory.current", "memory.max", "inactive_file", "memory.events"},
	{"memory.usage_in_bytes", "memory.limit_in_bytes", "total_inactive_file",
	 "memory.oom_control"},
};

void fah_group_init(struct fah_group *g)
{
	*g = (struct fah_group){.used_fd = -1, .limit = FAH_BYTES_UNKNOWN};
}

void fah_group_release(struct fah_group *g)
{
	if (g->used_fd >= 0)
		close(g->used_fd);
	free(g->found_in);
	fah_group_init(g);
}

void fah_group_at(struct fah_group *g, const struct fah_group_place *place)
{
	fah_group_release(g);
	g->place = *place;
	g->nearest = strlen(place->dir);
	fah_group_look(g);
}

/* A process that ends gives up its memory first, then its group: it is listed in the root then. */
static bool has_memory(uint32_t pid)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/statm", pid);
	return fah_file_read(path, FILE_MAX, &text, &len) == 0 &&
	       fah_text_resident(text, len, 1) != FAH_BYTES_UNKNOWN;
}

void fah_group_find(struct fah_group *g, uint32_t pid)
{
	_cleanup_(fah_freep) char *groups = NULL, *mounts = NULL;
	struct fah_group_place place;
	size_t n_groups, n_mounts;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cgroup", pid);
	if (fah_file_read(path, FILE_MAX, &groups, &n_groups) < 0 || !n_groups)
		return; /* it is gone: what was known stays */
	if (g->found_in && strcmp(g->found_in, groups) == 0)
		return;
	if (!has_memory(pid) ||
	    fah_file_read("/proc/self/mountinfo", FILE_MAX, &mounts, &n_mounts) < 0)
		return;
	if (fah_text_group(groups, n_groups, mounts, n_mounts, &place))
		fah_group_at(g, &place);
	else
		fah_group_release(g);
	g->found_in = TAKE_PTR(groups);
}

static void path_to(const struct fah_group *g, size_t level, const char *name,
		    char path[FAH_GROUP_PATH + 64])
{
	snprintf(path, FAH_GROUP_PATH + 64, "%.*s/%s", (int)level, g->place.dir, name);
}

/* Its number, or the one behind key. */
static uint64_t read_number(const struct fah_group *g, size_t level, const char *name,
			    const char *key)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[FAH_GROUP_PATH + 64];
	size_t len;

	path_to(g, level, name, path);
	if (fah_file_read(path, FILE_MAX, &text, &len) < 0)
		return FAH_BYTES_UNKNOWN;
	return key ? fah_text_keyed(text, len, key) : fah_text_limit(text, len);
}

static size_t level_above(const struct fah_group *g, size_t level)
{
	while (level > g->place.top && g->place.dir[level - 1] != '/')
		level--;
	while (level > g->place.top && g->place.dir[level - 1] == '/')
		level--;
	return level;
}

/* With equal room the inner one: it is the program's more than the outer one is. */
void fah_group_look(struct fah_group *g)
{
	const struct names *n = &names[g->place.v1];
	size_t level = strlen(g->place.dir), nearest = level;
	uint64_t least = UINT64_MAX, limit = FAH_BYTES_UNKNOWN;
	char path[FAH_GROUP_PATH + 64];

	if (!level)
		return;
	for (int i = 0; i < LEVELS_MAX; i++) {
		uint64_t max = read_number(g, level, n->limit, NULL), used;

		if (max == FAH_BYTES_NO_LIMIT && limit == FAH_BYTES_UNKNOWN)
			limit = FAH_BYTES_NO_LIMIT; /* so far */
		if (max < FAH_BYTES_NO_LIMIT) {
			used = read_number(g, level, n->used, NULL);
			used = used < max ? used : used == FAH_BYTES_UNKNOWN ? 0 : max;
			if (max - used < least) {
				least = max - used;
				limit = max;
				nearest = level;
			}
		}
		if (level <= g->place.top)
			break;
		level = level_above(g, level);
	}
	g->limit = limit;
	if (g->used_fd >= 0 && nearest == g->nearest)
		return;
	if (g->used_fd >= 0)
		close(g->used_fd);
	g->nearest = nearest;
	path_to(g, nearest, n->used, path);
	g->used_fd = open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t fah_group_used(const struct fah_group *g)
{
	char text[32];
	ssize_t n = g->used_fd < 0 ? -1 : pread(g->used_fd, text, sizeof(text), 0);
	uint64_t used = n <= 0 ? FAH_BYTES_UNKNOWN : fah_text_limit(text, (size_t)n);

	return used < FAH_BYTES_NO_LIMIT ? used : FAH_BYTES_UNKNOWN;
}

uint64_t fah_group_cache(const struct fah_group *g)
{
	return g->place.dir[0] ? read_number(g, g->nearest, "memory.stat", names[g->place.v1].cache)
			       : FAH_BYTES_UNKNOWN;
}

uint64_t fah_group_kills(const struct fah_group *g)
{
	return g->place.dir[0]
		       ? read_number(g, strlen(g->place.dir), names[g->place.v1].kills, "oom_kill")
		       : FAH_BYTES_UNKNOWN;
}
