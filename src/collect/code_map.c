/* code_map.c - see code_map.h. */
#include "collect/code_map.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/made_code.h"
#include "core/err.h"
#include "native/map_file.h"
#include "target/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_MAX (64u << 20) /* bytes of /proc/PID/maps */
#define MAPPED_MAX (16u * FAH_MAP_MODULES_MAX)

/* One line of /proc/PID/maps, if it is code; the module is NULL where no file has it that can be
 * read. */
static bool take_line(struct fah_module_store *s, uint32_t pid, char *line, struct fah_mapped *ret)
{
	uint64_t start, end, offset, ino;
	unsigned major, minor;
	struct fah_module *mod;
	const char *space = strchr(line, ' ');
	char perms[5];
	int path = 0;

	if (!space || strlen(space) < 4 || space[3] != 'x')
		return false; /* most are data: those are not worth the parsing */
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start,
		   &end, perms, &offset, &major, &minor, &ino, &path) < 7 ||
	    !path || perms[2] != 'x' || start >= end)
		return false;
	*ret = (struct fah_mapped){start, end, start, NULL};
	if (!strcmp(line + path, "[vdso]"))
		ino = 0;
	else if (!ino || line[path] != '/')
		return line[path] != '['; /* the kernel's own pages */
	mod = fah_module_of_file(s, pid, line + path, ino ? (uint64_t)major << 32 | minor : 0, ino);
	if (!mod)
		return false;
	ret->module = mod;
	return !mod->elf || fah_elf_base(mod->elf, start, offset, &ret->base) == 0;
}

static int by_start(const void *a, const void *b)
{
	const struct fah_mapped *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_mapped(struct fah_code_map *map, const struct fah_mapped *one)
{
	struct fah_mapped *bigger;

	if (map->n == map->room) {
		bigger = reallocarray(map->list, map->room ? 2 * map->room : 64, sizeof(*bigger));
		if (!bigger)
			return false;
		map->list = bigger;
		map->room = map->room ? 2 * map->room : 64;
	}
	map->list[map->n++] = *one;
	return true;
}

/* All code of the process; entries without a module are code of no file. */
static int read_maps(struct fah_module_store *s, uint32_t pid, struct fah_code_map *ret)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[64], *line, *next;
	size_t len;
	int err;

	*ret = (struct fah_code_map){0};
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	err = fah_file_read(path, MAPS_MAX, &text, &len);
	if (err < 0)
		return err;
	for (line = text; *line; line = next) {
		struct fah_mapped one;

		next = strchr(line, '\n');
		next = next ? (*next = 0, next + 1) : line + strlen(line);
		if (take_line(s, pid, line, &one) &&
		    (ret->n == MAPPED_MAX || !add_mapped(ret, &one)))
			break;
	}
	return 0;
}

static bool is_made(const struct fah_mapped *one)
{
	return !one->module || !one->module->elf;
}

/* Where the process has the list of a compiler that is in this module; 0: there is none. */
static uint64_t list_of(const struct fah_mapped *one)
{
	struct fah_module *mod = one->module;
	uint64_t list;

	if (is_made(one) || mod->kind == FAH_MODULE_RUNTIME)
		return 0;
	return fah_module_list(mod, &list) ? one->base + (list - mod->elf->base) : 0;
}

static int read_made(const struct fah_mem *mem, uint64_t frames, const struct fah_code_map *map,
		     struct fah_made *ret)
{
	int err = 0;

	for (size_t i = 0; i < map->n && err == 0; i++) {
		uint64_t list = list_of(&map->list[i]);

		if (list && (!i || list != list_of(&map->list[i - 1])))
			err = fah_made_code_list(mem, list, ret);
	}
	if (frames && err == 0)
		err = fah_made_code_frames(mem, frames, ret);
	fah_made_sort(ret);
	return err;
}

/* Code of no file becomes what the process says of it, or goes. */
static void take_made(struct fah_module_store *s, uint32_t pid, uint64_t frames,
		      struct fah_code_map *map)
{
	_cleanup_(fah_made_release) struct fah_made made = {.store = &s->debugs};
	const struct fah_mem mem = fah_target_mem(pid);
	size_t n = 0, files = 0;

	for (size_t i = 0; i < map->n; i++)
		files += !is_made(&map->list[i]);
	if (files == map->n || read_made(&mem, frames, map, &made) < 0)
		fah_made_release(&made);
	for (size_t i = 0; i < map->n; i++) {
		struct fah_mapped *one = &map->list[i];
		struct fah_made_part part;

		if (is_made(one) && files < FAH_MAP_MODULES_MAX &&
		    fah_made_cut(&made, one->start, one->end, &mem, &part)) {
			struct fah_module *mod = fah_module_of_part(s, &part);

			if (mod)
				*one = (struct fah_mapped){part.start, part.end, part.start, mod};
			files++;
			fah_made_part_release(&part);
		}
		if (one->module && n < FAH_MAP_MODULES_MAX)
			map->list[n++] = *one;
	}
	map->n = n;
}

int fah_code_map_read(struct fah_module_store *s, uint32_t pid, uint64_t frames,
		      struct fah_code_map *ret)
{
	int err = read_maps(s, pid, ret);

	if (err < 0)
		return err;
	take_made(s, pid, frames, ret);
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_start);
	return ret->n ? 0 : FAH_ERR_FORMAT; /* it is just starting or ending */
}

bool fah_code_map_same(const struct fah_code_map *a, const struct fah_code_map *b)
{
	return a->n == b->n && !memcmp(a->list, b->list, a->n * sizeof(*a->list));
}

const struct fah_mapped *fah_code_map_find(const struct fah_code_map *map, uint64_t pc)
{
	size_t lo = 0, hi = map->n;

	while (lo < hi) { /* the first that begins behind pc */
		size_t mid = lo + (hi - lo) / 2;

		if (map->list[mid].start <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && pc < map->list[lo - 1].end ? &map->list[lo - 1] : NULL;
}

static uint64_t aligned(uint64_t n)
{
	return (n + 7) & ~7ull;
}

/* Each module's table once, also where it is mapped in several parts. */
int fah_code_map_write(const struct fah_code_map *map, const char *path)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf out = FAH_STRBUF_INIT;
	struct fah_map_head head = {.magic = FAH_MAP_MAGIC, .n = (uint32_t)map->n};
	uint64_t at = sizeof(head) + map->n * sizeof(struct fah_map_module);

	fah_strbuf_add(&out, &head, sizeof(head));
	for (size_t i = 0; i < map->n; i++) {
		const struct fah_mapped *one = &map->list[i];
		struct fah_map_module entry = {one->start, one->end, one->base, 0, 0};
		size_t before = 0;

		if (one->module->table.bytes) {
			while (before < i && map->list[before].module != one->module)
				before++;
			entry.table_len = one->module->table.len;
			if (before < i) {
				const struct fah_map_module *earlier =
					(const void *)(fah_strbuf_str(&out) + sizeof(head));

				entry.table_at = earlier[before].table_at;
			} else {
				entry.table_at = at;
				at = aligned(at + entry.table_len);
			}
		}
		fah_strbuf_add(&out, &entry, sizeof(entry));
	}
	for (size_t i = 0; i < map->n; i++) {
		const struct fah_table_bytes *table = &map->list[i].module->table;
		size_t before = 0;

		while (before < i && map->list[before].module != map->list[i].module)
			before++;
		if (!table->bytes || before < i)
			continue;
		fah_strbuf_add(&out, table->bytes, table->len);
		fah_strbuf_add(&out, "\0\0\0\0\0\0\0", aligned(table->len) - table->len);
	}
	if (out.failed)
		return FAH_ERR_NOMEM;
	if (out.len != at || at > FAH_MAP_SIZE_MAX)
		return FAH_ERR_RANGE;
	head.size = at;
	memcpy(out.p, &head, sizeof(head));
	return fah_file_replace(path, out.p, out.len);
}
