/* notebook.c - see notebook.h. Its cells are read again, and run, by python/fixingahole/notebook.
 */
#include "cli/notebook.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "collect/session.h"
#include "core/err.h"
#include "model/cells.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ENDING ".ipynb"
#define FILE_MAX ((size_t)1 << 30) /* outputs are in it too */
#define RUNNER "notebook/run.py"
#define FORMAT 4 /* of notebooks: what all have had since 2014 */

bool fah_notebook_is(const char *file)
{
	return fah_path_ends(file, ENDING);
}

static int format_of(const struct fah_json_value *top)
{
	const struct fah_json_value *format = fah_json_get(top, "nbformat");

	if (!format || format->type != FAH_JSON_NUMBER)
		return fah_json_get(top, "cells") ? FORMAT : 0;
	return format->number >= 0 && format->number < 1000 ? (int)format->number : 0;
}

/* What its kernel speaks; NULL: it does not say, and is Python then. */
static const struct fah_json_value *language_of(const struct fah_json_value *top)
{
	const struct fah_json_value *meta = fah_json_get(top, "metadata"), *name;

	name = fah_json_get(fah_json_get(meta, "language_info"), "name");
	if (!name)
		name = fah_json_get(fah_json_get(meta, "kernelspec"), "language");
	return name && name->type == FAH_JSON_STRING ? name : NULL;
}

static bool is_python(struct fah_json_text name)
{
	return name.len >= 6 && (!strncasecmp(name.p, "python", 6) ||
				 (name.len >= 7 && !strncasecmp(name.p, "ipython", 7)));
}

static int check_top(const char *file, const struct fah_json_value *top)
{
	const struct fah_json_value *cells = fah_json_get(top, "cells"),
				    *language = language_of(top);
	int format = format_of(top);
	struct fah_strbuf name = FAH_STRBUF_INIT;

	if (format && format < FORMAT)
		return fah_fail("%s is a notebook of format %d; make it one of format %d first: "
				"jupyter nbconvert --to notebook --inplace %s",
				file, format, FORMAT, file);
	if (format > FORMAT)
		return fah_fail("%s is a notebook of format %d; format %d is known", file, format,
				FORMAT);
	if (!format || !cells || cells->type != FAH_JSON_ARRAY)
		return fah_fail("%s is no notebook: it has no cells", file);
	if (language && !is_python(language->string)) {
		fah_strbuf_add_printable(&name, language->string.p, language->string.len);
		fah_fail("%s is a notebook in %s; only Python can be profiled", file,
			 fah_strbuf_str(&name));
		fah_strbuf_release(&name);
		return FAH_STATUS_USAGE;
	}
	return 0;
}

/* A cell's source is a string, or a list of them. Not taken over: NULs. */
static void add_text(struct fah_strbuf *sb, const struct fah_json_value *text)
{
	if (text && text->type == FAH_JSON_STRING)
		for (size_t i = 0; i < text->string.len; i++)
			fah_strbuf_addc(sb, text->string.p[i] ? text->string.p[i] : ' ');
	else if (text && text->type == FAH_JSON_ARRAY)
		for (const struct fah_json_value *part = text->first; part; part = part->next)
			if (part->type == FAH_JSON_STRING)
				add_text(sb, part);
}

/* *ret_any: one of them has code. */
static int keep_cells(struct fah_notebook *nb, const struct fah_json_value *cells, bool *ret_any)
{
	uint32_t number = 0;
	size_t n = 0;

	nb->cells = fah_arena_array(&nb->arena, 2 * cells->n + 1, sizeof(*nb->cells));
	if (!nb->cells)
		return FAH_ERR_NOMEM;
	for (const struct fah_json_value *cell = cells->first; cell; cell = cell->next) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf text = FAH_STRBUF_INIT;
		char key[FAH_CELL_KEY_MAX];

		if (!fah_json_is(fah_json_get(cell, "cell_type"), "code"))
			continue;
		add_text(&text, fah_json_get(cell, "source"));
		nb->cells[n] = fah_arena_strdup(&nb->arena, fah_cell_key(++number, key));
		nb->cells[n + 1] = fah_arena_strdup(&nb->arena, fah_strbuf_str(&text));
		if (text.failed || !nb->cells[n] || !nb->cells[n + 1])
			return FAH_ERR_NOMEM;
		if (nb->cells[n + 1][strspn(nb->cells[n + 1], " \t\r\n")])
			*ret_any = true;
		n += 2;
	}
	return 0;
}

int fah_notebook_open(struct fah_notebook *nb, const char *file)
{
	struct fah_arena arena = FAH_ARENA_INIT;
	_cleanup_(fah_arena_release) struct fah_arena tree = arena;
	_cleanup_(fah_freep) char *text = NULL;
	const struct fah_json_value *top;
	struct fah_json_error error;
	bool any = false;
	size_t len;
	int err, status;

	*nb = (struct fah_notebook){.arena = arena};
	err = fah_file_read(file, FILE_MAX, &text, &len);
	if (err < 0)
		return fah_fail_err(err, "%s", file);
	if (!text[strspn(text, " \t\r\n")] && strlen(text) == len)
		return fah_fail("%s is empty: no notebook", file);
	err = fah_json_read(&tree, text, len, &top, &error);
	if (err == FAH_ERR_FORMAT)
		return fah_fail("%s is no notebook: line %zu, column %zu: %s", file, error.line,
				error.column, error.what);
	if (err == 0) {
		status = check_top(file, top);
		if (status)
			return status;
		err = keep_cells(nb, fah_json_get(top, "cells"), &any);
	}
	if (err < 0)
		return fah_fail_err(err, "%s", file);
	if (!any)
		return fah_fail("%s has no code: there is nothing to profile", file);
	if (fah_session_find(RUNNER, nb->runner, sizeof(nb->runner)) < 0)
		return fah_fail("what runs notebooks, %s, is not beside this program's library; "
				"install it again",
				RUNNER);
	return 0;
}

void fah_notebook_release(struct fah_notebook *nb)
{
	fah_arena_release(&nb->arena);
	*nb = (struct fah_notebook){0};
}

const char *const *fah_notebook_meta(struct fah_notebook *nb, const char *const *meta)
{
	size_t n = 0, at = 0, cells = 0;
	const char **all;

	while (meta[n])
		n += 2;
	while (nb->cells && nb->cells[cells])
		cells += 2;
	all = fah_arena_array(&nb->arena, n + cells + 3, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, meta, n * sizeof(*all));
	at = n;
	if (nb->runner[0]) {
		all[at++] = "runner";
		all[at++] = nb->runner;
	}
	if (cells)
		memcpy(all + at, nb->cells, cells * sizeof(*all));
	return all;
}
