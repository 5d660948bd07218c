/* path.c - see path.h. */
#include "base/path.h"

#include <string.h>

char *fah_path_absolute(struct fah_arena *arena, const char *cwd, const char *path)
{
	size_t len_cwd = path[0] == '/' ? 0 : strlen(cwd), len = strlen(path);
	char *joined, *out, *r, *w;

	joined = fah_arena_alloc(arena, len_cwd + len + 3);
	out = fah_arena_alloc(arena, len_cwd + len + 3);
	if (!joined || !out)
		return NULL;
	memcpy(joined, cwd, len_cwd);
	joined[len_cwd] = '/';
	memcpy(joined + len_cwd + 1, path, len + 1);

	w = out;
	for (r = joined; *r;) {
		size_t n;

		while (*r == '/')
			r++;
		n = strcspn(r, "/");
		if (n == 2 && !memcmp(r, "..", 2)) {
			while (w > out && *--w != '/')
				;
		} else if (n && !(n == 1 && *r == '.')) {
			*w++ = '/';
			memcpy(w, r, n);
			w += n;
		}
		r += n;
	}
	if (w == out)
		*w++ = '/';
	*w = '\0';
	return out;
}

/* Takes the last name off again; false: there is none, or only ways up. */
static bool go_up(const char *out, char **w)
{
	char *at = *w;

	while (at > out && at[-1] != '/')
		at--;
	if (at == *w || (*w - at == 2 && !memcmp(at, "..", 2)) || (*w - at == 1 && *at == '.'))
		return false;
	*w = at > out ? at - 1 : at;
	return true;
}

char *fah_path_normal(struct fah_arena *arena, const char *path)
{
	char *out, *w;

	if (path[0] == '/')
		return fah_path_absolute(arena, "/", path);
	w = out = fah_arena_alloc(arena, strlen(path) + 1);
	if (!out)
		return NULL;
	for (const char *r = path; *r;) {
		size_t n = strcspn(r, "/");
		bool here = n == 1 && *r == '.', up = n == 2 && !memcmp(r, "..", 2);

		if (n && !(here && r != path) && !(up && go_up(out, &w))) {
			if (w > out)
				*w++ = '/';
			memcpy(w, r, n);
			w += n;
		}
		r += n + (r[n] == '/');
	}
	*w = '\0';
	return out;
}

bool fah_path_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

bool fah_path_ends(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcmp(path + n - m, end);
}

/* The part of path behind the last folder of that name; NULL: there is none. */
static const char *behind(const char *path, const char *folder)
{
	const char *at = NULL, *next = path;

	while ((next = strstr(next, folder)) != NULL)
		at = next += strlen(folder);
	return at && *at ? at : NULL;
}

/* Behind ".../lib/python3.12/". */
static const char *behind_library(const char *path)
{
	const char *at = behind(path, "/lib/python3"), *slash;

	slash = at ? strchr(at, '/') : NULL;
	return slash && slash[1] ? slash + 1 : NULL;
}

const char *fah_path_short(const char *path, const char *dir)
{
	const char *s;

	if ((s = behind(path, "/site-packages/")) || (s = behind(path, "/dist-packages/")) ||
	    (s = behind_library(path)))
		return s;
	if (!dir || !strcmp(dir, "/") || !fah_path_below(path, dir) || strlen(path) <= strlen(dir))
		return path;
	for (s = path + strlen(dir); *s == '/';)
		s++;
	return s;
}
