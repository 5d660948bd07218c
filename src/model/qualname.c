/*
 * qualname.c - the names that the compiler gives to the code objects of a source: only def and
 * lambda add `<locals>` to the names inside them. scopes.c says which there are.
 */
#include "model/qualname.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "model/parser.h"
#include "model/source_text.h"

#include <stdlib.h>
#include <string.h>

int fah_qualnames_new(const char *source, size_t len, struct fah_qualnames **ret)
{
	struct fah_qualnames *q = calloc(1, sizeof(*q));
	struct fah_parser *s = calloc(1, sizeof(*s));
	bool failed = true;
	char *copy; /* names are borrowed from it */

	if (q && s) {
		s->q = q;
		copy = fah_arena_strndup(&q->arena, source, len);
		if (copy) {
			fah_source_text_newlines(copy, &len);
			s->p = copy;
			s->end = copy + len;
			s->line = 1;
			s->header = FAH_NO_ENTRY;
			fah_parser_run(s);
			/* Only want of memory is a failure; too deep a text is read up to there. */
			failed = false;
		}
		free(s->blocks);
		free(s->globals);
	}
	free(s);
	if (failed) {
		fah_qualnames_free(q);
		return FAH_ERR_NOMEM;
	}
	*ret = q;
	return 0;
}

void fah_qualnames_free(struct fah_qualnames *q)
{
	if (!q)
		return;
	free(q->entries);
	fah_arena_release(&q->arena);
	free(q);
}

static const char *qualname(struct fah_qualnames *q, uint32_t id)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_entry *e = &q->entries[id];

	/* Parents first, from the outside in, so that depth costs no C stack. */
	while (!e->qualname) {
		uint32_t i = id;

		while (q->entries[i].parent != FAH_NO_ENTRY && !q->entries[i].global &&
		       !q->entries[q->entries[i].parent].qualname)
			i = q->entries[i].parent;
		fah_strbuf_truncate(&sb, 0);
		if (q->entries[i].parent != FAH_NO_ENTRY && !q->entries[i].global) {
			const struct fah_entry *parent = &q->entries[q->entries[i].parent];

			fah_strbuf_adds(&sb, parent->qualname);
			fah_strbuf_adds(&sb, parent->kind == SCOPE_FUNCTION ? ".<locals>." : ".");
		}
		fah_strbuf_add(&sb, q->entries[i].name, q->entries[i].name_len);
		q->entries[i].qualname =
			sb.failed ? NULL : fah_arena_strdup(&q->arena, fah_strbuf_str(&sb));
		if (!q->entries[i].qualname)
			return NULL;
	}
	return e->qualname;
}

const char *fah_qualnames_find(struct fah_qualnames *q, const char *name, uint32_t first_line)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	size_t len = strlen(name);
	uint32_t around = FAH_NO_ENTRY;
	const char *outer;

	for (size_t i = 0; i < q->n; i++) {
		const struct fah_entry *e = &q->entries[i];

		if (e->first_line == first_line && e->name_len == len &&
		    !memcmp(e->name, name, len))
			return qualname(q, (uint32_t)i);
		/* Later entries that hold the line lie deeper. */
		if (e->first_line <= first_line && first_line <= e->last_line && e->name[0] != '<')
			around = (uint32_t)i;
	}
	if (name[0] != '<' || !strcmp(name, "<module>"))
		return NULL;
	if (around == FAH_NO_ENTRY)
		return NULL;
	outer = qualname(q, around);
	if (!outer)
		return NULL;
	fah_strbuf_adds(&sb, outer);
	fah_strbuf_adds(&sb, q->entries[around].kind == SCOPE_FUNCTION ? ".<locals>." : ".");
	fah_strbuf_adds(&sb, name);
	return sb.failed ? NULL : fah_arena_strdup(&q->arena, fah_strbuf_str(&sb));
}

uint32_t fah_qualnames_last_line(const struct fah_qualnames *q, uint32_t first_line)
{
	uint32_t last = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->entries[i].first_line == first_line && q->entries[i].last_line > last)
			last = q->entries[i].last_line;
	return last;
}

const char *fah_qualnames_at(struct fah_qualnames *q, size_t i, const char **ret_name,
			     uint32_t *ret_first_line)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (i >= q->n)
		return NULL;
	fah_strbuf_add(&sb, q->entries[i].name, q->entries[i].name_len);
	*ret_name = sb.failed ? "" : fah_arena_strdup(&q->arena, fah_strbuf_str(&sb));
	*ret_first_line = q->entries[i].first_line;
	return qualname(q, (uint32_t)i);
}
