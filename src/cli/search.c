/* search.c - see search.h. Folders are taken one after the other from a list, so that depth costs
 * neither stack nor descriptors. */
#include "cli/search.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/path.h"
#include "base/room.h"
#include "core/err.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct near {
	const char *path;
	size_t distance;
};

struct match {
	const char *path;
	dev_t dev;
	ino_t ino;
	bool link;
};

struct walk {
	const struct fah_search *where;
	struct fah_found *out;
	const char *name;
	struct match *matches;
	size_t n_matches, cap_matches;
	char **folders; /* to look into; each from malloc */
	size_t n_folders, cap_folders;
	struct near near[FAH_SEARCH_NEAREST]; /* likest first */
	size_t n_near, entries;
};

static char *join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name) < 0
		       ? NULL
		       : path;
}

static bool skipped(const struct walk *w, const char *path)
{
	static const char *const never[] = {"/proc", "/sys", "/dev"}; /* no project's own */
	/* A virtual environment by any name; a run folder of ours, with its copy of the script. */
	static const char *const signs[] = {"pyvenv.cfg", "profile.fah"};
	const char *name = fah_basename(path);

	if (!strcmp(name, ".git") || !strcmp(name, ".venv"))
		return true;
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (!strcmp(path, never[i]))
			return true;
	for (size_t i = 0; i < w->where->n_skip; i++)
		if (!strcmp(path, w->where->skip[i]))
			return true;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		_cleanup_(fah_freep) char *sign = join(path, signs[i]);

		if (sign && access(sign, F_OK) == 0)
			return true;
	}
	return false;
}

static int add_folder(struct walk *w, char **path)
{
	if (skipped(w, *path))
		return 0;
	if (!fah_room(&w->folders, w->n_folders, &w->cap_folders, sizeof(*w->folders)))
		return FAH_ERR_NOMEM;
	w->folders[w->n_folders++] = TAKE_PTR(*path);
	return 0;
}

static int add_match(struct walk *w, const char *path, const struct stat *st)
{
	struct stat own;
	struct match m = {.dev = st->st_dev, .ino = st->st_ino};

	m.link = lstat(path, &own) == 0 && S_ISLNK(own.st_mode);
	for (size_t i = 0; i < w->n_matches; i++) {
		struct match *old = &w->matches[i];

		if (old->dev != m.dev || old->ino != m.ino)
			continue;
		/* The file itself rather than a link to it. */
		if (m.link > old->link || (m.link == old->link && strcmp(path, old->path) > 0))
			return 0;
		old->path = fah_arena_strdup(&w->out->arena, path);
		old->link = m.link;
		return old->path ? 0 : FAH_ERR_NOMEM;
	}
	m.path = fah_arena_strdup(&w->out->arena, path);
	if (!m.path || !fah_room(&w->matches, w->n_matches, &w->cap_matches, sizeof(m)))
		return FAH_ERR_NOMEM;
	w->matches[w->n_matches++] = m;
	return 0;
}

/* The name as it was typed, or without the extension that was left out. */
static size_t distance(const char *typed, const char *name)
{
	size_t len = strlen(typed), n = strlen(name);
	const char *dot = strrchr(name, '.');
	size_t d = fah_nearest_distance(typed, len, name, n), stem;

	if (strchr(typed, '.') || !dot)
		return d;
	stem = fah_nearest_distance(typed, len, name, (size_t)(dot - name));
	return stem < d ? stem : d;
}

static int add_near(struct walk *w, const char *path)
{
	const char *typed = fah_basename(w->name), *name = fah_basename(path);
	struct near n = {.distance = distance(typed, name)};
	struct stat st;
	size_t at = 0;

	if (!(fah_path_ends(name, ".py") || fah_path_ends(name, ".ipynb")) ||
	    n.distance > fah_nearest_limit(strlen(typed)) || stat(path, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	while (at < w->n_near &&
	       (w->near[at].distance < n.distance ||
		(w->near[at].distance == n.distance && strcmp(w->near[at].path, path) < 0)))
		at++;
	if (at == FAH_SEARCH_NEAREST)
		return 0;
	n.path = fah_arena_strdup(&w->out->arena, path);
	if (!n.path)
		return FAH_ERR_NOMEM;
	if (w->n_near < FAH_SEARCH_NEAREST)
		w->n_near++;
	memmove(&w->near[at + 1], &w->near[at], (w->n_near - at - 1) * sizeof(n));
	w->near[at] = n;
	return 0;
}

/* Is what lies at path, below root, what was meant? */
static bool is_it(const struct walk *w, const char *path)
{
	size_t n = strlen(path), k = strlen(w->name);

	return n > k && path[n - k - 1] == '/' && !strcmp(path + n - k, w->name);
}

static int look_at(struct walk *w, const char *dir, const struct dirent *e)
{
	_cleanup_(fah_freep) char *path = join(dir, e->d_name);
	unsigned char type = e->d_type;
	struct stat st;
	int err;

	if (!path)
		return FAH_ERR_NOMEM;
	if (type == DT_UNKNOWN && lstat(path, &st) == 0)
		type = IFTODT(st.st_mode);
	if (type == DT_DIR)
		return add_folder(w, &path);
	if (type != DT_REG && type != DT_LNK)
		return 0;
	if (is_it(w, path) && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		err = add_match(w, path, &st);
		if (err < 0)
			return err;
	}
	return w->n_matches ? 0 : add_near(w, path);
}

static int look_into(struct walk *w, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = 0;

	while (d && err == 0 && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (++w->entries > FAH_SEARCH_ENTRIES_MAX) {
			w->out->gave_up = true;
			break;
		}
		err = look_at(w, dir, e);
	}
	if (d)
		closedir(d);
	return err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int finish(struct walk *w)
{
	struct fah_found *out = w->out;
	_cleanup_(fah_freep) char *exact = join(w->where->root, w->name);

	out->paths = fah_arena_array(&out->arena, w->n_matches, sizeof(*out->paths));
	if (!out->paths || !exact)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < w->n_matches; i++)
		out->paths[out->n++] = w->matches[i].path;
	qsort(out->paths, out->n, sizeof(*out->paths), by_path);
	/* Only with a folder in the name: "x.py" beside the root's own is not told apart by it. */
	for (size_t i = 0; i < out->n && strchr(w->name, '/'); i++)
		if (!strcmp(out->paths[i], exact)) {
			out->paths[0] = out->paths[i];
			out->n = 1;
		}
	for (size_t i = 0; i < w->n_near && !out->n; i++)
		out->nearest[out->n_nearest++] = w->near[i].path;
	return 0;
}

int fah_search(const struct fah_search *where, const char *name, struct fah_found *ret)
{
	struct walk w = {.where = where, .out = ret, .name = name};
	char *root = strdup(where->root);
	int err = 0;

	*ret = (struct fah_found){0};
	if (!root || !fah_room(&w.folders, 0, &w.cap_folders, sizeof(*w.folders))) {
		free(root);
		return FAH_ERR_NOMEM;
	}
	w.folders[w.n_folders++] = root;
	while (err == 0 && w.n_folders && !ret->gave_up) {
		_cleanup_(fah_freep) char *dir = w.folders[--w.n_folders];

		err = look_into(&w, dir);
	}
	if (err == 0)
		err = finish(&w);
	while (w.n_folders)
		free(w.folders[--w.n_folders]);
	free(w.folders);
	free(w.matches);
	return err;
}

void fah_found_release(struct fah_found *f)
{
	fah_arena_release(&f->arena);
}
