/* modules.c - see modules.h. All files are somebody else's: src/native takes no byte on trust. */
#include "collect/modules.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/made_code.h"
#include "core/err.h"
#include "native/made.h"
#include "native/table_build.h"
#include "native/map_file.h"
#include "native/names.h"
#include "native/table_file.h"
#include "target/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAPS_MAX (64u << 20) /* bytes of /proc/PID/maps */
#define MAPPED_MAX (16u * FAH_MAP_MODULES_MAX)
#define EVAL "_PyEval_EvalFrameDefault" /* also the head of its compiler-made parts' names */

/* A file that some process runs code of, or code that some process has made at run time. */
struct module {
	struct module *next;
	char *path;
	uint64_t dev, ino; /* 0, 0: the vdso */
	uint64_t start;	   /* of code made at run time; 0: a file's */
	uint64_t *starts;  /* of its functions */
	size_t n_starts;
	bool has_list; /* of the GDB JIT interface, in a variable at */
	uint64_t list; /* as an address of the file */
	bool is_list_known;
	enum fah_module_kind kind;
	struct fah_elf *elf; /* NULL: it cannot be read */
	struct fah_names *names;
	bool is_known; /* whether it is the interpreter */
	struct fah_table_bytes table;
};

struct mapped {
	uint64_t start, end, base;
	struct module *module;
};

/* Where processes look for files: kept open, since names are asked for after their end too. */
struct root {
	struct root *next;
	uint64_t dev, ino;
	int fd;	       /* -1: ours */
	char path[32]; /* "" for ours */
};

struct map {
	struct mapped *list; /* by start */
	size_t n, room;
	bool written; /* its file is there */
};

struct fah_modules {
	char *dir, *cache, *names_cache;
	struct module *modules;
	struct root *roots;
	struct map *maps; /* by number - 1 */
	uint32_t n_maps;
	struct fah_names *nowhere;     /* addresses that no module has */
	struct fah_made_debugs debugs; /* of code made at run time; names of its modules have it */
	struct fah_turns *turns;       /* borrowed; NULL: nobody else is at work */
};

struct fah_modules *fah_modules_new(const char *session_dir)
{
	struct fah_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->dir = strdup(session_dir);
	m->nowhere = fah_names_new(NULL, "", "");
	if (!m->dir || !m->nowhere) {
		fah_modules_free(m);
		return NULL;
	}
	if (fah_native_cache_dir("unwind", &m->cache) < 0)
		m->cache = NULL; /* nowhere to keep tables: they are made anew each time */
	if (fah_native_cache_dir("names", &m->names_cache) < 0)
		m->names_cache = NULL;
	return m;
}

void fah_modules_share(struct fah_modules *m, struct fah_turns *turns)
{
	m->turns = turns;
}

static void module_free(struct module *mod)
{
	fah_names_free(mod->names);
	fah_elf_free(mod->elf);
	free(mod->table.bytes);
	free(mod->starts);
	free(mod->path);
	free(mod);
}

/* Names that were found, for the next run. */
static void save_names(const struct fah_modules *m)
{
	bool saved = false;

	for (struct module *mod = m->modules; mod; mod = mod->next)
		saved |= fah_names_save(mod->names);
	if (saved)
		fah_names_trim(m->names_cache);
}

void fah_modules_free(struct fah_modules *m)
{
	struct module *next;

	if (!m)
		return;
	save_names(m);
	for (; m->modules; m->modules = next) {
		next = m->modules->next;
		module_free(m->modules);
	}
	fah_made_debugs_release(&m->debugs);
	while (m->roots) {
		struct root *root = m->roots;

		m->roots = root->next;
		if (root->fd >= 0)
			close(root->fd);
		free(root);
	}
	for (uint32_t i = 0; i < m->n_maps; i++)
		free(m->maps[i].list);
	free(m->maps);
	fah_names_free(m->nowhere);
	free(m->cache);
	free(m->names_cache);
	free(m->dir);
	free(m);
}

/* The C library and what belongs to it: work that Python code has done, not code of somebody. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = {"libc.so.",	   "libc-2.",  "libm.so.",  "libm-2.",
					    "libpthread",  "ld-linux", "ld-2.",	    "ld-musl",
					    "libdl.so.",   "libdl-2.", "librt.so.", "librt-2.",
					    "libgcc_s.so."};
	const char *name = fah_basename(path);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static void see_whether_interpreter(struct fah_modules *m, struct module *mod)
{
	if (mod->is_known)
		return;
	fah_turn_end(m->turns);
	mod->is_known = true;
	if (mod->kind == FAH_MODULE_OTHER && fah_names_has(mod->names, EVAL))
		mod->kind = FAH_MODULE_INTERPRETER;
	/* from here on it is at hand */
	if (mod->kind == FAH_MODULE_INTERPRETER)
		(void)fah_names_symbol(mod->names, 0);
	fah_turn_begin(m->turns);
}

/* The folder that is "/" for the process; ours where that cannot be seen. */
static const char *root_of(struct fah_modules *m, uint32_t pid)
{
	char path[64];
	struct stat st, own;
	struct root *root;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
	if (stat(path, &st) < 0 || stat("/", &own) < 0)
		return "";
	for (root = m->roots; root; root = root->next)
		if (root->dev == st.st_dev && root->ino == st.st_ino)
			return root->path;
	root = calloc(1, sizeof(*root));
	if (!root)
		return "";
	root->dev = st.st_dev;
	root->ino = st.st_ino;
	root->fd = -1;
	if (st.st_dev != own.st_dev || st.st_ino != own.st_ino)
		root->fd = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (root->fd >= 0)
		snprintf(root->path, sizeof(root->path), "/proc/self/fd/%d", root->fd);
	root->next = m->roots;
	m->roots = root;
	return root->path;
}

/* As process pid sees the path: it may live in another root. The inode says whether it is that
 * file; device numbers differ between the two on some file systems. */
static int open_of(uint32_t pid, const char *path, uint64_t ino, struct fah_elf **ret)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf seen = FAH_STRBUF_INIT;
	int err;

	fah_strbuf_addf(&seen, "/proc/%" PRIu32 "/root%s", pid, path);
	if (seen.failed)
		return FAH_ERR_NOMEM;
	err = fah_elf_open(fah_strbuf_str(&seen), ret);
	if (err < 0)
		err = fah_elf_open(path, ret);
	if (err == 0 && (*ret)->ino != ino) {
		fah_elf_free(*ret);
		*ret = NULL;
		return FAH_ERR_FORMAT;
	}
	return err;
}

static struct module *find_module(struct fah_modules *m, uint32_t pid, const char *path,
				  uint64_t dev, uint64_t ino)
{
	struct module *mod;

	for (mod = m->modules; mod; mod = mod->next)
		if (mod->dev == dev && mod->ino == ino && !strcmp(mod->path, path))
			return mod;
	mod = calloc(1, sizeof(*mod));
	if (!mod)
		return NULL;
	mod->path = strdup(path);
	mod->dev = dev;
	mod->ino = ino;
	mod->kind = !ino || is_runtime(path) ? FAH_MODULE_RUNTIME : FAH_MODULE_OTHER;
	if (!mod->path) {
		free(mod);
		return NULL;
	}
	if ((!ino ? fah_elf_open_vdso(&mod->elf) : open_of(pid, path, ino, &mod->elf)) == 0) {
		if (fah_table_get(mod->elf, m->cache, &mod->table) < 0)
			mod->table = (struct fah_table_bytes){0};
	}
	mod->names = fah_names_new(mod->elf, root_of(m, pid), path);
	if (!mod->names) {
		module_free(mod);
		return NULL;
	}
	if (m->names_cache)
		fah_names_keep_in(mod->names, m->names_cache);
	/* also one that cannot be read: it is not tried again each time */
	mod->next = m->modules;
	m->modules = mod;
	return mod;
}

/* One line of /proc/PID/maps, if it is code; the module is NULL where no file has it that can be
 * read. */
static bool take_line(struct fah_modules *m, uint32_t pid, char *line, struct mapped *ret)
{
	uint64_t start, end, offset, ino;
	unsigned major, minor;
	struct module *mod;
	const char *space = strchr(line, ' ');
	char perms[5];
	int path = 0;

	if (!space || strlen(space) < 4 || space[3] != 'x')
		return false; /* most are data: those are not worth the parsing */
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start,
		   &end, perms, &offset, &major, &minor, &ino, &path) < 7 ||
	    !path || perms[2] != 'x' || start >= end)
		return false;
	*ret = (struct mapped){start, end, start, NULL};
	if (!strcmp(line + path, "[vdso]"))
		ino = 0;
	else if (!ino || line[path] != '/')
		return line[path] != '['; /* the kernel's own pages */
	mod = find_module(m, pid, line + path, ino ? (uint64_t)major << 32 | minor : 0, ino);
	if (!mod)
		return false;
	ret->module = mod;
	return !mod->elf || fah_elf_base(mod->elf, start, offset, &ret->base) == 0;
}

static int by_start(const void *a, const void *b)
{
	const struct mapped *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_mapped(struct map *map, const struct mapped *one)
{
	struct mapped *bigger;

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
static int read_maps(struct fah_modules *m, uint32_t pid, struct map *ret)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[64], *line, *next;
	size_t len;
	int err;

	*ret = (struct map){0};
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	err = fah_file_read(path, MAPS_MAX, &text, &len);
	if (err < 0)
		return err;
	for (line = text; *line; line = next) {
		struct mapped one;

		next = strchr(line, '\n');
		next = next ? (*next = 0, next + 1) : line + strlen(line);
		if (take_line(m, pid, line, &one) &&
		    (ret->n == MAPPED_MAX || !add_mapped(ret, &one)))
			break;
	}
	return 0;
}

static bool is_made(const struct mapped *one)
{
	return !one->module || !one->module->elf;
}

/* Where the process has the list of a compiler that is in this module; 0: there is none. */
static uint64_t list_of(const struct mapped *one)
{
	struct module *mod = one->module;

	if (is_made(one) || mod->kind == FAH_MODULE_RUNTIME)
		return 0;
	if (!mod->is_list_known) {
		mod->is_list_known = true;
		mod->has_list = fah_symbols_data(mod->elf, FAH_JIT_DESCRIPTOR, &mod->list);
	}
	return mod->has_list ? one->base + (mod->list - mod->elf->base) : 0;
}

static int read_made(const struct fah_mem *mem, uint64_t frames, const struct map *map,
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

/* The module that stands for this part: the same one as long as nothing about it changes. */
static struct module *made_module(struct fah_modules *m, struct fah_made_part *part)
{
	struct module *mod;

	for (mod = m->modules; mod; mod = mod->next)
		if (mod->start == part->start && mod->table.len == part->table.len &&
		    !memcmp(mod->table.bytes, part->table.bytes, part->table.len))
			return mod;
	mod = calloc(1, sizeof(*mod));
	if (!mod)
		return NULL;
	mod->path = strdup("");
	mod->names = fah_names_new(NULL, "", "");
	if (!mod->path || !mod->names) {
		module_free(mod);
		return NULL;
	}
	fah_names_give(mod->names, &part->symbols);
	fah_names_give_debug(mod->names, part->start, part->debugs, part->n_debugs);
	mod->table = part->table;
	part->table = (struct fah_table_bytes){0};
	mod->starts = TAKE_PTR(part->starts);
	mod->n_starts = part->n_starts;
	mod->start = part->start;
	mod->is_known = true;
	mod->next = m->modules;
	m->modules = mod;
	return mod;
}

/* Code of no file becomes what the process says of it, or goes. */
static void take_made(struct fah_modules *m, uint32_t pid, uint64_t frames, struct map *map)
{
	_cleanup_(fah_made_release) struct fah_made made = {.store = &m->debugs};
	const struct fah_mem mem = fah_target_mem(pid);
	size_t n = 0, files = 0;

	for (size_t i = 0; i < map->n; i++)
		files += !is_made(&map->list[i]);
	if (files == map->n || read_made(&mem, frames, map, &made) < 0)
		fah_made_release(&made);
	for (size_t i = 0; i < map->n; i++) {
		struct mapped *one = &map->list[i];
		struct fah_made_part part;

		if (is_made(one) && files < FAH_MAP_MODULES_MAX &&
		    fah_made_cut(&made, one->start, one->end, &mem, &part)) {
			struct module *mod = made_module(m, &part);

			if (mod)
				*one = (struct mapped){part.start, part.end, part.start, mod};
			files++;
			fah_made_part_release(&part);
		}
		if (one->module && n < FAH_MAP_MODULES_MAX)
			map->list[n++] = *one;
	}
	map->n = n;
}

static int read_map(struct fah_modules *m, uint32_t pid, uint64_t frames, struct map *ret)
{
	int err = read_maps(m, pid, ret);

	if (err < 0)
		return err;
	take_made(m, pid, frames, ret);
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_start);
	return ret->n ? 0 : FAH_ERR_FORMAT; /* it is just starting or ending */
}

static uint64_t aligned(uint64_t n)
{
	return (n + 7) & ~7ull;
}

/* Each module's table once, also where it is mapped in several parts. */
static int write_map(const struct fah_modules *m, const struct map *map, uint32_t number)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf out = FAH_STRBUF_INIT,
							path = FAH_STRBUF_INIT;
	struct fah_map_head head = {.magic = FAH_MAP_MAGIC, .n = (uint32_t)map->n};
	uint64_t at = sizeof(head) + map->n * sizeof(struct fah_map_module);

	fah_strbuf_add(&out, &head, sizeof(head));
	for (size_t i = 0; i < map->n; i++) {
		const struct mapped *one = &map->list[i];
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
	fah_strbuf_addf(&path, "%s/" FAH_MAP_NAME, m->dir, number);
	if (out.failed || path.failed)
		return FAH_ERR_NOMEM;
	if (out.len != at || at > FAH_MAP_SIZE_MAX)
		return FAH_ERR_RANGE;
	head.size = at;
	memcpy(out.p, &head, sizeof(head));
	return fah_file_replace(fah_strbuf_str(&path), out.p, out.len);
}

static bool same(const struct map *a, const struct map *b)
{
	return a->n == b->n && !memcmp(a->list, b->list, a->n * sizeof(*a->list));
}

static int write_again(struct fah_modules *m, uint32_t number)
{
	struct map *map = &m->maps[number - 1];
	int err = map->written ? 0 : write_map(m, map, number);

	map->written = err == 0;
	return err;
}

void fah_modules_forget(struct fah_modules *m, uint32_t number)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/" FAH_MAP_NAME, m->dir, number);

	if (!number || number > m->n_maps || n < 0 || (size_t)n >= sizeof(path))
		return;
	m->maps[number - 1].written = false;
	unlink(path);
}

static uint32_t look(struct fah_modules *m, uint32_t pid, uint64_t frames)
{
	struct map map, *bigger;

	if (read_map(m, pid, frames, &map) < 0) {
		free(map.list);
		return 0;
	}
	for (uint32_t i = m->n_maps; i > 0; i--) {
		if (same(&m->maps[i - 1], &map)) {
			free(map.list);
			return write_again(m, i) < 0 ? 0 : i;
		}
	}
	bigger = reallocarray(m->maps, m->n_maps + 1, sizeof(*bigger));
	if (bigger)
		m->maps = bigger;
	if (!bigger || write_map(m, &map, m->n_maps + 1) < 0) {
		free(map.list);
		return 0;
	}
	map.written = true;
	m->maps[m->n_maps++] = map;
	return m->n_maps;
}

uint32_t fah_modules_look(struct fah_modules *m, uint32_t pid, uint64_t frames)
{
	uint32_t number;

	fah_turn_end(m->turns);
	number = look(m, pid, frames);
	fah_turn_begin(m->turns);
	return number;
}

static const struct mapped *find_mapped(const struct map *map, uint64_t pc)
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

static void made_place(const struct mapped *one, uint64_t pc, struct fah_native_place *ret)
{
	ret->path = FAH_PATH_MADE;
	ret->named = fah_names_symbol(one->module->names, pc - one->base) != NULL;
	if (ret->named) {
		ret->names = one->module->names;
		ret->offset = pc - one->base;
	} else {
		ret->offset = fah_function_start(one->module->starts, one->module->n_starts, pc);
	}
}

void fah_modules_place(struct fah_modules *m, uint32_t map, uint64_t pc,
		       struct fah_native_place *ret)
{
	const struct mapped *one =
		map && map <= m->n_maps ? find_mapped(&m->maps[map - 1], pc) : NULL;
	const char *symbol;

	*ret = (struct fah_native_place){.kind = FAH_MODULE_UNKNOWN,
					 .path = FAH_PATH_UNKNOWN,
					 .names = m->nowhere,
					 .offset = pc};
	if (!one)
		return;
	if (one->module->start) {
		made_place(one, pc, ret);
		return;
	}
	see_whether_interpreter(m, one->module);
	/* shared memory, as compilers at run time use it, has a name there too */
	ret->kind = one->module->elf ? one->module->kind : FAH_MODULE_UNKNOWN;
	ret->path = one->module->path;
	ret->names = one->module->names;
	ret->offset = pc - one->base;
	if (ret->kind != FAH_MODULE_INTERPRETER)
		return;
	symbol = fah_names_symbol(one->module->names, ret->offset);
	ret->eval = symbol && !strncmp(symbol, EVAL, sizeof(EVAL) - 1);
}

struct fah_name_frame *fah_modules_frames(struct fah_modules *m,
					  const struct fah_native_place *place, uint32_t *ret_n)
{
	struct fah_name_frame *frames = fah_names_found(place->names, place->offset, ret_n);

	if (frames)
		return frames;
	fah_turn_end(m->turns);
	frames = fah_names_find(place->names, place->offset, ret_n);
	fah_turn_begin(m->turns);
	return frames;
}
