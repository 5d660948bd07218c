/* table.c - the table of formats. A new one: its file, an extern and a line here. */
#include "base/cleanup.h"
#include "core/err.h"
#include "export/export.h"

#include <strings.h>

extern const struct fah_export fah_export_callgrind;
extern const struct fah_export fah_export_chrome;
extern const struct fah_export fah_export_folded;
extern const struct fah_export fah_export_gecko;
extern const struct fah_export fah_export_jsonl;
extern const struct fah_export fah_export_pprof;
extern const struct fah_export fah_export_speedscope;
extern const struct fah_export fah_export_svg;

/* clang-format off */
const struct fah_export *const fah_exports[] = {
	&fah_export_folded,
	&fah_export_speedscope,
	&fah_export_pprof,
	&fah_export_jsonl,
	&fah_export_svg,
	&fah_export_callgrind,
	&fah_export_chrome,
	&fah_export_gecko,
	NULL,
};
/* clang-format on */

const struct fah_export *fah_export_find(const char *name)
{
	for (const struct fah_export *const *e = fah_exports; *e; e++) {
		if (!strcmp((*e)->name, name))
			return *e;
		for (const char *const *alias = (*e)->aliases; *alias; alias++)
			if (!strcmp(*alias, name))
				return *e;
	}
	return NULL;
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	/* The extension alone is a hidden file's name. */
	return n > m && path[n - m - 1] != '/' && !strcasecmp(path + n - m, end);
}

const struct fah_export *fah_export_of_path(const char *path)
{
	for (const struct fah_export *const *e = fah_exports; *e; e++)
		for (const char *const *end = (*e)->extensions; *end; end++)
			if (ends_with(path, *end))
				return *e;
	return NULL;
}

FAH_DEFINE_FREEP(struct fah_stacks *, fah_stacks_free)

int fah_export_write(const struct fah_export *format, struct fah_profile *p,
		     const struct fah_view *view, FILE *f, struct fah_strbuf *note)
{
	_cleanup_(fah_stacks_freep) struct fah_stacks *stacks = NULL;
	_cleanup_(fah_freep) struct fah_out *out = malloc(sizeof(*out));
	int err = out ? fah_stacks_new(p, view, &stacks) : FAH_ERR_NOMEM;

	if (err < 0)
		return err;
	fah_out_init(out, f);
	err = format->write(out, stacks);
	if (err < 0 && err != FAH_ERR_SYS)
		return err;
	if (note)
		fah_strbuf_adds(note, out->note);
	return fah_out_finish(out);
}
