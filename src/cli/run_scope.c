/* run_scope.c - see run_scope.h. */
#include "cli/run_scope.h"

#include "base/path.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "model/links.h"

#include <stdlib.h>
#include <string.h>

#define OTHERS 8 /* folders beside those that the user ignores */

struct lists {
	struct fah_run_scope *s;
	const char **dirs, **ignore;
};

char *fah_run_scope_ignore(const struct fah_settings *s)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	for (size_t i = 0; i < s->n_ignore; i++)
		fah_strbuf_addf(&sb, "%s\n", s->ignore[i]);
	return fah_strbuf_take(&sb);
}

static void ignore(struct lists *l, const char *dir)
{
	l->ignore[l->s->scope.n_ignore++] = dir;
}

/* "a\nb\n" */
static int ignore_lines(struct lists *l, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *dir = fah_arena_strndup(&l->s->arena, text, len);

		if (!dir)
			return FAH_ERR_NOMEM;
		if (len)
			ignore(l, dir);
		text += len + (text[len] == '\n');
	}
	return 0;
}

/* Where results go, and a symlink to it resolved; unless all the code lies there. */
static int ignore_output(struct lists *l, const char *output, const char *root)
{
	char *real = realpath(output, NULL);
	const char *copy = real ? fah_arena_strdup(&l->s->arena, real) : output;

	free(real);
	if (!copy)
		return FAH_ERR_NOMEM;
	if (root && (fah_path_below(root, output) || fah_path_below(root, copy)))
		return 0;
	ignore(l, output);
	ignore(l, copy);
	return 0;
}

static int below_root(struct lists *l, const char *root)
{
	static const char *const names[] = {".venv", ".git"};

	l->dirs[l->s->scope.n_dirs++] = root;
	for (size_t i = 0; i < 2; i++) {
		char *dir = fah_path_absolute(&l->s->arena, root, names[i]);

		if (!dir)
			return FAH_ERR_NOMEM;
		ignore(l, dir);
	}
	return 0;
}

static int fill(struct lists *l, fah_meta_fn *meta, const void *of)
{
	const char *root = meta(of, "root"), *script = meta(of, "script");
	const char *output = meta(of, "output"), *venv = meta(of, "venv"), *slash;
	char *dir;
	int err = 0;

	if (root && root[0])
		err = below_root(l, root);
	slash = script ? strrchr(script, '/') : NULL;
	if (err == 0 && slash) {
		dir = fah_arena_strndup(&l->s->arena, script,
					slash > script ? (size_t)(slash - script) : 1);
		if (!dir)
			return FAH_ERR_NOMEM;
		l->dirs[l->s->scope.n_dirs++] = dir;
	}
	if (meta(of, "code"))
		l->dirs[l->s->scope.n_dirs++] = "<string>"; /* the name that Python gives to -c */
	if (err == 0 && output && output[0])
		err = ignore_output(l, output, root);
	if (venv && venv[0] == '/')
		ignore(l, venv);
	return err;
}

int fah_run_scope_from(struct fah_run_scope *s, fah_meta_fn *meta, const void *of)
{
	const char *ignored = meta(of, "ignore");
	struct lists l = {.s = s};
	size_t n = OTHERS;
	int err;

	*s = (struct fah_run_scope){0};
	for (const char *c = ignored; c && *c; c++)
		n += *c == '\n';
	l.dirs = fah_arena_array(&s->arena, OTHERS, sizeof(*l.dirs));
	l.ignore = fah_arena_array(&s->arena, n + 1, sizeof(*l.ignore));
	if (!l.dirs || !l.ignore)
		return FAH_ERR_NOMEM;
	s->scope.dirs = l.dirs;
	s->scope.ignore = l.ignore;
	s->scope.always = meta(of, "script"); /* what is asked for is shown */
	err = ignored ? ignore_lines(&l, ignored) : 0;
	s->scope.everything = meta(of, "detailed") != NULL;
	if (err == 0 && !s->scope.everything)
		err = fill(&l, meta, of);
	/* of a capture that does not say whose project it is, all code is shown */
	s->scope.everything |= !s->scope.n_dirs;
	return err;
}

static const char *of_profile(const void *profile, const char *key)
{
	return fah_profile_meta(profile, key);
}

int fah_run_scope_init(struct fah_run_scope *s, const struct fah_profile *p)
{
	return fah_run_scope_from(s, of_profile, p);
}

static const char *of_pairs(const void *pairs, const char *key)
{
	for (const char *const *pair = pairs; *pair; pair += 2)
		if (!strcmp(pair[0], key))
			return pair[1];
	return NULL;
}

/*
 * The agent sees the names that code has, and may not look where these lead: so a folder is there
 * by each name that a link gives it, too; what holds a link's target, by the link's.
 */
static int add_names(struct fah_strbuf *sb, struct fah_arena *arena, const char *links, char sign,
		     const char *path)
{
	struct fah_link link;
	const char *name;

	fah_strbuf_addf(sb, "%c%s\n", sign, path);
	while (links && *links) {
		if (!fah_links_next(arena, &links, &link))
			return links ? 0 : FAH_ERR_NOMEM;
		if (sign != '=' && path[0] == '/' && fah_path_below(link.to, path)) {
			name = link.from;
		} else {
			name = fah_link_replace(arena, path, link.to, link.from);
			if (!name)
				return FAH_ERR_NOMEM;
		}
		if (name != path)
			fah_strbuf_addf(sb, "%c%s\n", sign, name);
	}
	return 0;
}

static int add_lines(struct fah_strbuf *sb, struct fah_run_scope *s, const char *const *meta)
{
	const char *links = of_pairs(meta, "links"), *file = of_pairs(meta, "file");
	int err = 0;

	if (file && file[0] == '/') /* perhaps with ".." in it */
		fah_strbuf_addf(sb, "=%s\n", file);
	if (s->scope.always && s->scope.always[0])
		err = add_names(sb, &s->arena, links, '=', s->scope.always);
	if (s->scope.everything)
		fah_strbuf_adds(sb, "+/\n");
	for (size_t i = 0; err == 0 && i < s->scope.n_dirs; i++)
		err = add_names(sb, &s->arena, links, '+', s->scope.dirs[i]);
	for (size_t i = 0; err == 0 && i < s->scope.n_ignore; i++)
		err = add_names(sb, &s->arena, links, '-', s->scope.ignore[i]);
	return err;
}

char *fah_run_scope_lines(const char *const *meta)
{
	struct fah_run_scope s;
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	int err = fah_run_scope_from(&s, of_pairs, meta);

	if (err == 0)
		err = add_lines(&sb, &s, meta);
	fah_run_scope_release(&s);
	if (err < 0) {
		fah_strbuf_release(&sb);
		return NULL;
	}
	return fah_strbuf_take(&sb);
}

void fah_run_scope_release(struct fah_run_scope *s)
{
	fah_arena_release(&s->arena);
}
