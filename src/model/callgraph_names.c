/* callgraph_names.c - which function a name means, and which names are near to it: callgraph.h. */
#include "model/callgraph.h"

#include "base/file.h"
#include "base/nearest.h"

#include <fnmatch.h>
#include <string.h>

#define NEAREST 3

static bool is(const char *text, const char *name)
{
	return !strcmp(text, name) || !fnmatch(text, name, 0);
}

/* Of "Class.run": "run"; of what a parameter list or a template follows, the whole. */
static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] && !strpbrk(dot, "()<> ") ? dot + 1 : name;
}

/* The name behind a file, with the line between or without: "app.py:run", "app:12:run". */
static bool is_below(const char *text, const char *file, size_t len, int64_t line, const char *name)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	bool found;

	fah_strbuf_add(&sb, file, len);
	fah_strbuf_addf(&sb, ":%s", name);
	found = is(text, fah_strbuf_str(&sb));
	if (!found) {
		fah_strbuf_truncate(&sb, len);
		fah_strbuf_addf(&sb, ":%lld:%s", (long long)line, name);
		found = is(text, fah_strbuf_str(&sb));
	}
	fah_strbuf_release(&sb);
	return found;
}

bool fah_function_called(const struct fah_exact_function *f, const char *text)
{
	const char *last = last_part(f->name), *base = fah_basename(f->file), *dot, *at;

	if (is(text, f->name) || is(text, last))
		return true;
	if (!strchr(text, ':'))
		return false;
	dot = strrchr(base, '.');
	if (dot && dot > base && is_below(text, base, (size_t)(dot - base), f->line, f->name))
		return true;
	/* From each folder on, and from the first. */
	for (at = f->file; at; at = (at = strchr(at, '/')) ? at + 1 : NULL)
		if (is_below(text, at, strlen(at), f->line, f->name) ||
		    (last != f->name && is_below(text, at, strlen(at), f->line, last)))
			return true;
	return false;
}

struct near {
	const char *name[NEAREST]; /* nearest first, then the dearest */
	size_t distance[NEAREST];
	double total[NEAREST];
	size_t n;
};

static void consider(struct near *near, const struct fah_exact_function *f, size_t distance)
{
	size_t at = 0;

	for (size_t i = 0; i < near->n; i++)
		if (!strcmp(near->name[i], f->name))
			return;
	while (at < near->n &&
	       (near->distance[at] < distance ||
		(near->distance[at] == distance && near->total[at] >= f->times.total_s)))
		at++;
	if (at == NEAREST)
		return;
	if (near->n < NEAREST)
		near->n++;
	for (size_t i = near->n - 1; i > at; i--) {
		near->name[i] = near->name[i - 1];
		near->distance[i] = near->distance[i - 1];
		near->total[i] = near->total[i - 1];
	}
	near->name[at] = f->name;
	near->distance[at] = distance;
	near->total[at] = f->times.total_s;
}

void fah_function_nearest(struct fah_strbuf *to, const struct fah_exact *e, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct near near = {0};
	size_t len;

	if (colon && colon[1])
		text = colon + 1;
	len = strlen(text);
	for (size_t i = 0; i < e->n_functions; i++) {
		const struct fah_exact_function *f = &e->functions[i];
		const char *last = last_part(f->name);
		size_t d = fah_nearest_distance(text, len, f->name, strlen(f->name));
		size_t d_last = fah_nearest_distance(text, len, last, strlen(last));

		d = d_last < d ? d_last : d;
		if (d <= fah_nearest_limit(len))
			consider(&near, f, d);
	}
	for (size_t i = 0; i < near.n; i++) {
		fah_strbuf_adds(to, i ? ", " : "");
		fah_strbuf_add_printable(to, near.name[i], strlen(near.name[i]));
	}
}
