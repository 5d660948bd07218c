/* module.c - see module.h. All files are somebody else's: src/native takes no byte on trust. */
#include "collect/module.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/made_code.h"
#include "collect/session.h"
#include "core/err.h"
#include "native/table_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where processes look for files: kept open, since names are asked for after their end too. */
struct fah_root {
	struct fah_root *next;
	uint64_t dev, ino;
	int fd;	       /* -1: ours */
	char path[32]; /* "" for ours */
};

void fah_module_store_init(struct fah_module_store *s)
{
	memset(s, 0, sizeof(*s));
	if (fah_native_cache_dir("unwind", &s->cache) < 0)
		s->cache = NULL; /* nowhere to keep tables: they are made anew each time */
	if (fah_native_cache_dir("names", &s->names_cache) < 0)
		s->names_cache = NULL;
}

static void module_free(struct fah_module *mod)
{
	fah_callees_free(mod->callees);
	fah_names_free(mod->names);
	fah_elf_free(mod->elf);
	free(mod->table.bytes);
	free(mod->starts);
	free(mod->path);
	free(mod);
}

/* Names that were found, for the next run. */
static void save_names(const struct fah_module_store *s)
{
	bool saved = false;

	for (struct fah_module *mod = s->list; mod; mod = mod->next)
		saved |= fah_names_save(mod->names);
	if (saved)
		fah_names_trim(s->names_cache);
}

void fah_module_store_release(struct fah_module_store *s)
{
	struct fah_module *next;

	save_names(s);
	for (; s->list; s->list = next) {
		next = s->list->next;
		module_free(s->list);
	}
	fah_made_debugs_release(&s->debugs);
	while (s->roots) {
		struct fah_root *root = s->roots;

		s->roots = root->next;
		if (root->fd >= 0)
			close(root->fd);
		free(root);
	}
	free(s->cache);
	free(s->names_cache);
	memset(s, 0, sizeof(*s));
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

static enum fah_module_kind kind_of(const char *path, uint64_t ino)
{
	if (!strncmp(fah_basename(path), FAH_AGENT_STEM, sizeof(FAH_AGENT_STEM) - 1))
		return FAH_MODULE_AGENT;
	return !ino || is_runtime(path) ? FAH_MODULE_RUNTIME : FAH_MODULE_OTHER;
}

void fah_module_see_interpreter(struct fah_module *mod)
{
	if (mod->is_known)
		return;
	mod->is_known = true;
	if (mod->kind == FAH_MODULE_OTHER && fah_names_has(mod->names, FAH_EVAL))
		mod->kind = FAH_MODULE_INTERPRETER;
	/* from here on it is at hand */
	if (mod->kind == FAH_MODULE_INTERPRETER)
		(void)fah_names_symbol(mod->names, 0);
}

/* The folder that is "/" for the process; ours where that cannot be seen. */
static const char *root_of(struct fah_module_store *s, uint32_t pid)
{
	char path[64];
	struct stat st, own;
	struct fah_root *root;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
	if (stat(path, &st) < 0 || stat("/", &own) < 0)
		return "";
	for (root = s->roots; root; root = root->next)
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
	root->next = s->roots;
	s->roots = root;
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

struct fah_module *fah_module_of_file(struct fah_module_store *s, uint32_t pid, const char *path,
				      uint64_t dev, uint64_t ino)
{
	struct fah_module *mod;

	for (mod = s->list; mod; mod = mod->next)
		if (mod->dev == dev && mod->ino == ino && !strcmp(mod->path, path))
			return mod;
	mod = calloc(1, sizeof(*mod));
	if (!mod)
		return NULL;
	mod->path = strdup(path);
	mod->dev = dev;
	mod->ino = ino;
	mod->kind = kind_of(path, ino);
	if (!mod->path) {
		free(mod);
		return NULL;
	}
	if ((!ino ? fah_elf_open_vdso(&mod->elf) : open_of(pid, path, ino, &mod->elf)) == 0) {
		if (fah_table_get(mod->elf, s->cache, &mod->table) < 0)
			mod->table = (struct fah_table_bytes){0};
	}
	mod->names = fah_names_new(mod->elf, root_of(s, pid), path);
	if (!mod->names) {
		module_free(mod);
		return NULL;
	}
	if (s->names_cache)
		fah_names_keep_in(mod->names, s->names_cache);
	mod->next = s->list;
	s->list = mod;
	return mod;
}

struct fah_module *fah_module_of_part(struct fah_module_store *s, struct fah_made_part *part)
{
	struct fah_module *mod;

	for (mod = s->list; mod; mod = mod->next)
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
	mod->next = s->list;
	s->list = mod;
	return mod;
}

bool fah_module_list(struct fah_module *mod, uint64_t *ret)
{
	if (!mod->is_list_known) {
		mod->is_list_known = true;
		mod->has_list = fah_symbols_data(mod->elf, FAH_JIT_DESCRIPTOR, &mod->list);
	}
	*ret = mod->list;
	return mod->has_list;
}
