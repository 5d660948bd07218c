/* linehits.c - see linehits.h. */
#include "model/linehits.h"

#include "base/room.h"
#include "core/err.h"
#include "core/glob.h"

#include <stdlib.h>
#include <string.h>

void fah_linehits_init(struct fah_linehits *h, double unit)
{
	*h = (struct fah_linehits){.unit = unit, .has_called = true};
}

void fah_linehits_done(struct fah_linehits *h)
{
	for (size_t i = 0; i < h->n_functions; i++)
		free(h->functions[i].lines);
	free(h->functions);
	fah_map_release(&h->function_ids);
	fah_map_release(&h->line_ids);
	fah_strmap_release(&h->texts);
	fah_linehits_init(h, h->unit);
}

/* The text's number, from 0, and our copy of it. It ends where C's texts do: who reads names with a
 * zero byte in them, which only damaged files have, takes those for one. */
static int text_of(struct fah_linehits *h, const char *s, size_t len, uint32_t *ret,
		   const char **ret_text)
{
	uint32_t next = (uint32_t)h->texts.n, *id;
	bool is_new;

	id = fah_strmap_put(&h->texts, len ? s : "", strnlen(s ? s : "", len), &is_new, ret_text);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new)
		*id = next;
	*ret = *id;
	return 0;
}

int fah_linehits_function(struct fah_linehits *h, const char *file, size_t file_len,
			  uint32_t first_line, const char *name, size_t name_len, uint32_t *ret)
{
	struct fah_linehits_function f = {.first_line = first_line};
	uint32_t file_id, name_id, *id;
	bool is_new;

	if (text_of(h, file, file_len, &file_id, &f.file) < 0 ||
	    text_of(h, name, name_len, &name_id, &f.name) < 0 ||
	    !fah_room(&h->functions, h->n_functions, &h->cap_functions, sizeof(f)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&h->function_ids, fah_key_u32x4(file_id, name_id, first_line, 0), &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*id = (uint32_t)h->n_functions;
		h->functions[h->n_functions++] = f;
	}
	*ret = *id;
	return 0;
}

int fah_linehits_add(struct fah_linehits *h, uint32_t function, const struct fah_linehit *hit)
{
	struct fah_linehits_function *f = &h->functions[function];
	struct fah_linehit *l;
	uint32_t *id;
	bool is_new;

	if (!fah_room(&f->lines, f->n_lines, &f->cap_lines, sizeof(*f->lines)))
		return FAH_ERR_NOMEM;
	id = fah_map_put(&h->line_ids, fah_key_u32x4(function, hit->line, 0, 0), &is_new);
	if (!id)
		return FAH_ERR_NOMEM;
	if (is_new) {
		*id = (uint32_t)f->n_lines;
		f->lines[f->n_lines++] = *hit;
		return 0;
	}
	l = &f->lines[*id];
	l->hits += hit->hits;
	l->time += hit->time;
	l->called += hit->called;
	return 0;
}

int fah_linehits_merge(struct fah_linehits *to, const struct fah_linehits *from)
{
	double scale = from->unit / to->unit;

	to->has_called = to->has_called && from->has_called;
	for (size_t i = 0; i < from->n_functions; i++) {
		const struct fah_linehits_function *f = &from->functions[i];
		uint32_t id;
		int err = fah_linehits_function(to, f->file, strlen(f->file), f->first_line,
						f->name, strlen(f->name), &id);

		for (size_t k = 0; err == 0 && k < f->n_lines; k++) {
			struct fah_linehit hit = f->lines[k];

			hit.time *= scale;
			hit.called *= scale;
			err = fah_linehits_add(to, id, &hit);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

static bool has_name(const struct fah_linehits_function *f, const char *const *names, size_t n)
{
	/* of "<string>" no qualified name can be known; of "<frozen ...>", which always is: modules
	 */
	if (f->marked || (f->file[0] == '<' && strncmp(f->file, "<frozen ", 8) != 0))
		return true;
	for (size_t i = 0; i < n; i++)
		if (fah_glob_name(names[i], names[i] + strlen(names[i]), f->name))
			return true;
	return false;
}

void fah_linehits_only(struct fah_linehits *h, const char *const *names, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; n && i < h->n_functions; i++) {
		if (has_name(&h->functions[i], names, n))
			h->functions[kept++] = h->functions[i];
		else
			free(h->functions[i].lines);
	}
	if (n)
		h->n_functions = kept;
}

static int by_place(const void *a, const void *b)
{
	const struct fah_linehits_function *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = x->first_line < y->first_line ? -1 : x->first_line > y->first_line;
	return order ? order : strcmp(x->name, y->name);
}

static int by_line(const void *a, const void *b)
{
	const struct fah_linehit *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

void fah_linehits_sort(struct fah_linehits *h)
{
	for (size_t i = 0; i < h->n_functions; i++)
		if (h->functions[i].n_lines)
			qsort(h->functions[i].lines, h->functions[i].n_lines,
			      sizeof(struct fah_linehit), by_line);
	if (h->n_functions)
		qsort(h->functions, h->n_functions, sizeof(*h->functions), by_place);
}

double fah_linehits_total(const struct fah_linehits *h, const struct fah_linehits_function *f,
			  uint64_t *ret_hits)
{
	double sum = 0;
	uint64_t hits = 0;

	for (size_t i = 0; i < f->n_lines; i++) {
		sum += f->lines[i].time;
		hits += f->lines[i].hits;
	}
	if (ret_hits)
		*ret_hits = hits;
	return sum * h->unit;
}
