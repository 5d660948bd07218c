/* links.c - see links.h. */
#include "cli/links.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "model/links.h"

#include <stdlib.h>
#include <string.h>

struct finding {
	const struct fah_settings *s;
	const char *folder; /* the script's, or NULL */
	struct fah_arena arena;
	struct fah_strbuf links;
};

/* Both without their last names, where these are the same and the rest still is one folder. */
static bool go_up(char *from, char *real)
{
	char *a = strrchr(from, '/'), *b = strrchr(real, '/');
	_cleanup_(fah_freep) char *up = NULL;

	if (a == from || b == real || strcmp(a, b) != 0)
		return false;
	*a = 0;
	up = realpath(from, NULL);
	if (!up || strlen(up) != (size_t)(b - real) || memcmp(up, real, strlen(up)) != 0) {
		*a = '/';
		return false;
	}
	*b = 0;
	return true;
}

/* Is one of the two below the other? */
static bool overlap(const char *a, const char *b)
{
	return a && b && (fah_path_below(a, b) || fah_path_below(b, a));
}

static int add(struct finding *f, const char *path)
{
	_cleanup_(fah_freep) char *real = realpath(path, NULL);
	char *from = fah_path_absolute(&f->arena, f->s->cwd, path);
	const char *known;

	if (!from)
		return FAH_ERR_NOMEM;
	if (!real || strchr(real, '\n') || strchr(from, '\n') || fah_path_below(from, f->s->root))
		return 0;
	known = fah_links_real(&f->arena, fah_strbuf_str(&f->links), from);
	if (!known)
		return FAH_ERR_NOMEM;
	if (!strcmp(known, real) || !(overlap(real, f->s->root) || overlap(real, f->folder)))
		return 0;
	while (go_up(from, real))
		;
	fah_strbuf_addf(&f->links, "%s\n%s\n", from, real);
	return 0;
}

static int find(struct finding *f, const char *file, const char *pythonpath)
{
	_cleanup_(fah_freep) char *real = file ? realpath(file, NULL) : NULL;
	int err = 0;

	if (real)
		f->folder =
			fah_arena_strndup(&f->arena, real, (size_t)(strrchr(real, '/') - real) + 1);
	if (real && !f->folder)
		return FAH_ERR_NOMEM;
	if (file)
		err = add(f, file);
	while (err == 0 && pythonpath && *pythonpath) {
		size_t len = strcspn(pythonpath, ":");
		char *folder = fah_arena_strndup(&f->arena, pythonpath, len);

		err = !folder ? FAH_ERR_NOMEM : len ? add(f, folder) : 0;
		pythonpath += len + (pythonpath[len] == ':');
	}
	return err;
}

char *fah_links_find(const struct fah_settings *s, const char *file, const char *pythonpath)
{
	struct finding f = {.s = s};
	int err = find(&f, file, pythonpath);

	fah_arena_release(&f.arena);
	if (err == 0)
		return fah_strbuf_take(&f.links);
	fah_strbuf_release(&f.links);
	return NULL;
}
