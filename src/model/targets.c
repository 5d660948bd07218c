/*
 * targets.c - see targets.h.
 *
 * What a node is charged to depends on its path to the root only, so it is found once a node,
 * parents first (a parent's id is smaller).
 */
#include "model/targets.h"

#include "base/file.h"
#include "core/err.h"
#include "model/cells.h"

#include <limits.h>

static bool below_one(const char *path, const char *const *dirs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (dirs[i][0] == '<' ? !strcmp(path, dirs[i]) : fah_path_below(path, dirs[i]))
			return true;
	return false;
}

/* Is it the file itself, or a cell of it? */
static bool is_file(const char *path, const char *file)
{
	size_t len = strlen(path);

	fah_cell_number(path, &len);
	return !strncmp(path, file, len) && !file[len];
}

/* By its name, and by what its name resolves to: a project behind a symlink has two. */
static bool file_inside(const struct fah_scope *scope, const struct fah_file *file)
{
	char resolved[PATH_MAX];
	bool real;

	if (scope->everything && !scope->n_ignore)
		return true;
	real = file->abspath[0] == '/' && realpath(file->abspath, resolved);
	if (scope->always &&
	    (is_file(file->abspath, scope->always) || (real && is_file(resolved, scope->always))))
		return true;
	if (!scope->everything && !below_one(file->abspath, scope->dirs, scope->n_dirs) &&
	    !(real && below_one(resolved, scope->dirs, scope->n_dirs)))
		return false;
	return !below_one(file->abspath, scope->ignore, scope->n_ignore) &&
	       !(real && below_one(resolved, scope->ignore, scope->n_ignore));
}

static uint32_t target_of(const struct fah_profile *p, const struct fah_targets *t, uint32_t i)
{
	const struct fah_node *node = &p->nodes[i];

	if (!i || !fah_is_python(p, node->function))
		return t->node[node->parent];
	if (t->inside[p->functions[node->function].file_id])
		return i;
	return t->node[node->parent] ? t->node[node->parent] : FAH_TARGET_OUTSIDE;
}

int fah_targets_find(const struct fah_profile *p, const struct fah_scope *scope,
		     struct fah_targets *ret)
{
	ret->node = calloc(p->n_nodes, sizeof(*ret->node));
	ret->inside = calloc(p->n_files + 1, sizeof(*ret->inside));
	if (!ret->node || !ret->inside)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < p->n_files; i++)
		ret->inside[i] = file_inside(scope, &p->files[i]);
	for (uint32_t i = 0; i < p->n_nodes; i++)
		ret->node[i] = target_of(p, ret, i);
	return 0;
}

void fah_targets_release(struct fah_targets *t)
{
	free(t->node);
	free(t->inside);
}
