/* settings_file.c - see settings_file.h. A file that is no TOML, a key that is not known and a
 * value of another type are errors: what a user wrote is never passed over in silence. */
#include "cli/settings_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE "[tool.fixingahole]"

struct table_file {
	struct fah_arena *arena;
	const char *dir, *path;
	struct fah_strbuf *why;
};

static int wrong(struct table_file *f, uint32_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(struct table_file *f, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	fah_strbuf_add_printable(f->why, f->path, strlen(f->path));
	fah_strbuf_addf(f->why, ":%u: ", line);
	va_start(ap, fmt);
	fah_strbuf_addv(f->why, fmt, ap);
	va_end(ap);
	return FAH_ERR_USAGE;
}

/* A text that can be a path. */
static int take_text(struct table_file *f, const char *key, const struct fah_toml *v,
		     const char *allowed, const char **ret)
{
	if (v->type != FAH_TOML_STRING)
		return wrong(f, v->at.line, "%s is %s in " TABLE "; allowed: %s", key,
			     fah_toml_type_words(v->type), allowed);
	if (!v->string.len || strlen(v->string.s) != v->string.len)
		return wrong(f, v->at.line, "%s %s in " TABLE "; allowed: %s", key,
			     v->string.len ? "has a NUL byte" : "is empty", allowed);
	*ret = fah_arena_strdup(f->arena, v->string.s);
	return *ret ? 0 : FAH_ERR_NOMEM;
}

static int take_key(struct table_file *f, enum fah_setting key, const struct fah_toml *v,
		    struct fah_setting_text *out)
{
	static const char *const allowed[FAH_SET_COUNT] = {
		[FAH_SET_ROOT] = "the name of a folder",
		[FAH_SET_OUTPUT] = "the name of a folder",
		[FAH_SET_IGNORE] = "names of folders, as in [\"scratch/\", \"old/\"]",
		[FAH_SET_DURATION] = "\"relative\" (percent) and \"absolute\" (seconds)",
	};
	bool many = key == FAH_SET_IGNORE && v->type == FAH_TOML_ARRAY;
	const struct fah_toml *item = many ? v->items.first : v;
	size_t n = many ? v->items.n : 1;
	const char **texts = fah_arena_array(f->arena, n, sizeof(*texts));
	size_t from_len = strlen(f->path) + 16;
	char *from = fah_arena_alloc(f->arena, from_len);

	if (!texts || !from)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < n; i++, item = item->next) {
		int err = take_text(f, fah_setting_name(key), item, allowed[key], &texts[i]);

		if (err < 0)
			return err;
	}
	snprintf(from, from_len, "%s:%u", f->path, v->at.line);
	*out = (struct fah_setting_text){texts, n, key == FAH_SET_ROOT ? f->dir : NULL, from};
	return 0;
}

static int unknown_key(struct table_file *f, const struct fah_toml *v)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf name = FAH_STRBUF_INIT;
	const char *meant = NULL;
	size_t best = fah_nearest_limit(v->key_len) + 1;

	for (int i = 0; i < FAH_SET_COUNT; i++) {
		const char *known = fah_setting_name(i);
		size_t d = fah_nearest_distance(v->key, v->key_len, known, strlen(known));

		if (d < best) {
			best = d;
			meant = known;
		}
	}
	fah_strbuf_add_printable(&name, v->key, v->key_len);
	return wrong(f, v->at.line,
		     "there is no key '%s' in " TABLE "%s%s%s; allowed: root, output, ignore and "
		     "duration",
		     fah_strbuf_str(&name), meant ? " (did you mean " : "", meant ? meant : "",
		     meant ? "?)" : "");
}

/* 1: the file has the table. 0: it does not. */
static int take_table(struct table_file *f, const struct fah_toml *root,
		      struct fah_setting_text *keys)
{
	const struct fah_toml *tool = fah_toml_get(root, "tool"), *table;
	int err = 0;

	table = tool ? fah_toml_get(tool, "fixingahole") : NULL;
	if (!table)
		return 0;
	if (table->type != FAH_TOML_TABLE)
		return wrong(f, table->at.line, "tool.fixingahole is %s; it should be a table",
			     fah_toml_type_words(table->type));
	for (const struct fah_toml *v = table->items.first; err == 0 && v; v = v->next) {
		int key = 0;

		while (key < FAH_SET_COUNT && strcmp(v->key, fah_setting_name(key)) != 0)
			key++;
		err = key < FAH_SET_COUNT && strlen(v->key) == v->key_len
			      ? take_key(f, key, v, &keys[key])
			      : unknown_key(f, v);
	}
	return err < 0 ? err : 1;
}

/* As take_table; what is not there, or no file, has no table. */
static int read_file(struct table_file *f, struct fah_setting_text *keys)
{
	_cleanup_(fah_toml_release) struct fah_toml_doc doc = {0};
	_cleanup_(fah_freep) char *text = NULL;
	struct fah_toml_error error;
	size_t len;
	int err = fah_file_read_regular(f->path, FAH_TOML_MAX, &text, &len);

	if (err == FAH_ERR_SYS &&
	    (errno == ENOENT || errno == ENOTDIR || errno == EINVAL || errno == EISDIR))
		return 0;
	if (err == FAH_ERR_SYS || err == FAH_ERR_RANGE) {
		fah_strbuf_add_printable(f->why, f->path, strlen(f->path));
		fah_strbuf_addf(f->why, " cannot be read: %s",
				err == FAH_ERR_SYS ? strerror(errno) : "it is too long");
		return FAH_ERR_USAGE;
	}
	if (err == 0)
		err = fah_toml_parse(&doc, text, len, &error);
	if (err == FAH_ERR_FORMAT)
		return wrong(f, error.at.line, "column %u: %s", error.at.column, error.text);
	return err < 0 ? err : take_table(f, &doc.root, keys);
}

static bool is_there(const char *dir, const char *name)
{
	_cleanup_(fah_freep) char *path = NULL;

	return asprintf(&path, "%s/%s", dir, name) >= 0 && access(path, F_OK) == 0;
}

/* Whoever may write into a folder above, as all may into /tmp, does not say what a run of somebody
 * else's does. What is not there is no stranger's. */
static bool is_strangers(const char *path, uid_t here)
{
	struct stat at[2];

	/* a link's own, and what it leads to */
	if (lstat(path, &at[0]) < 0 || stat(path, &at[1]) < 0)
		return false;
	for (size_t i = 0; i < 2; i++)
		if (at[i].st_uid && at[i].st_uid != geteuid() && at[i].st_uid != here)
			return true;
	return false;
}

int fah_settings_file(struct fah_arena *arena, const char *cwd,
		      struct fah_setting_text keys[FAH_SET_COUNT], struct fah_strbuf *why)
{
	struct stat st;
	uid_t here = stat(cwd, &st) == 0 ? st.st_uid : geteuid();

	for (size_t len = strlen(cwd);;) {
		char *dir = fah_arena_strndup(arena, cwd, len ? len : 1);
		size_t path_len = len + sizeof("/pyproject.toml");
		char *path = dir ? fah_arena_alloc(arena, path_len) : NULL;
		struct table_file f = {arena, dir, path, why};
		int found;

		if (!path)
			return FAH_ERR_NOMEM;
		snprintf(path, path_len, "%.*s/pyproject.toml", (int)len, cwd);
		found = is_strangers(path, here) ? 0 : read_file(&f, keys);
		if (found)
			return found < 0 ? found : 0;
		if (!len || is_there(dir, ".git"))
			return 0;
		while (len && cwd[--len] != '/')
			;
	}
}
