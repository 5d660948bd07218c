/* links.c - see links.h. */
#include "model/links.h"

#include "base/path.h"

#include <string.h>

static const char *take_line(struct fah_arena *arena, const char **text)
{
	size_t len = strcspn(*text, "\n");
	const char *line = fah_arena_strndup(arena, *text, len);

	*text = line ? *text + len + ((*text)[len] == '\n') : NULL;
	return line;
}

bool fah_links_next(struct fah_arena *arena, const char **text, struct fah_link *ret)
{
	struct fah_link link;

	while (*text && **text) {
		link.from = take_line(arena, text);
		link.to = *text ? take_line(arena, text) : NULL;
		if (link.to && link.from[0] == '/' && link.to[0] == '/') {
			*ret = link;
			return true;
		}
	}
	return false;
}

const char *fah_link_replace(struct fah_arena *arena, const char *path, const char *dir,
			     const char *instead)
{
	size_t n = strlen(dir), m = strlen(instead);
	char *out;

	if (!fah_path_below(path, dir))
		return path;
	while (n && dir[n - 1] == '/')
		n--;
	while (m && instead[m - 1] == '/')
		m--;
	out = fah_arena_alloc(arena, m + strlen(path + n) + 2);
	if (!out)
		return NULL;
	memcpy(out, instead, m);
	strcpy(out + m, path + n);
	if (!*out)
		strcpy(out, "/");
	return out;
}

const char *fah_links_real(struct fah_arena *arena, const char *links, const char *path)
{
	struct fah_link link;

	while (links && fah_links_next(arena, &links, &link))
		if (fah_path_below(path, link.from))
			return fah_link_replace(arena, path, link.from, link.to);
	return path;
}
