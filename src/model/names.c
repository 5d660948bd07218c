/*
 * names.c - qualified names for functions of interpreters that have none (before 3.11), from their
 * sources. A source that has changed since the run and has no such function at that line any more
 * gives nothing: the plain name stays.
 */
#include "model/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "model/cells.h"
#include "model/qualname.h"
#include "model/source_text.h"

#define SOURCE_MAX (32u << 20) /* longer files keep plain names */

FAH_DEFINE_FREEP(struct fah_qualnames *, fah_qualnames_free)

static int by_file(const void *a, const void *b, void *profile)
{
	const struct fah_profile *p = profile;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t fx = p->functions[x].file_id, fy = p->functions[y].file_id;

	return fx != fy ? (fx < fy ? -1 : 1) : x < y ? -1 : x > y;
}

/* functions[order[from..to)] are of one file. */
static int resolve_file(struct fah_profile *p, const uint32_t *order, size_t from, size_t to)
{
	_cleanup_(fah_qualnames_freep) struct fah_qualnames *names = NULL;
	_cleanup_(fah_freep) char *read = NULL;
	const char *path = p->files[p->functions[order[from]].file_id].abspath;
	const char *source = fah_profile_cell(p, path);
	size_t len = source ? strlen(source) : 0;

	if (!source) {
		if (path[0] != '/' || fah_file_read_regular(path, SOURCE_MAX, &read, &len) < 0)
			return 0;
		if (fah_source_text_decode(&read, &len) < 0)
			return FAH_ERR_NOMEM;
		source = read;
	}
	if (fah_qualnames_new(source, len, &names) < 0)
		return FAH_ERR_NOMEM;
	for (size_t i = from; i < to; i++) {
		struct fah_function *f = &p->functions[order[i]];
		const char *qualname = fah_qualnames_find(names, f->name, f->first_line);

		if (!qualname)
			continue;
		f->name = fah_arena_strdup(&p->arena, qualname);
		if (!f->name)
			return FAH_ERR_NOMEM;
	}
	return 0;
}

int fah_names_resolve(struct fah_profile *p, const bool *name_is_plain)
{
	_cleanup_(fah_freep) uint32_t *order = calloc(p->n_functions, sizeof(*order));
	size_t n = 0, from, to;
	int err;

	if (!order)
		return FAH_ERR_NOMEM;
	for (uint32_t i = 1; i < p->n_functions; i++)
		if (name_is_plain[i] && strcmp(p->functions[i].name, "<module>") != 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_file, p);
	for (from = 0; from < n; from = to) {
		for (to = from + 1; to < n; to++)
			if (p->functions[order[to]].file_id != p->functions[order[from]].file_id)
				break;
		err = resolve_file(p, order, from, to);
		if (err < 0)
			return err;
	}
	return 0;
}
