/*
 * scopes.c - the code objects of a source: which there are, and inside which.
 *
 * The surprises, all from the compiler's symbol table: decorators, default values, annotations and
 * base classes belong to the scope around; so does the first iterable of a comprehension, while the
 * element before its `for` belongs to the comprehension, so entries made there change parents when
 * the `for` is seen; a def whose name was declared global has no prefix at all.
 */
#include "model/internal.h"
#include "model/parser.h"

uint32_t fah_scope_add(struct fah_parser *s, const char *name, size_t len, uint32_t parent,
		       uint32_t line, enum fah_scope_kind kind)
{
	struct fah_qualnames *q = s->q;

	if (q->n >= FAH_NO_ENTRY - 1 ||
	    !fah_room(&q->entries, q->n, &q->cap, sizeof(*q->entries))) {
		s->failed = true;
		return FAH_NO_ENTRY;
	}
	q->entries[q->n] = (struct fah_entry){
		.name = name,
		.name_len = (uint32_t)len,
		.parent = parent,
		.first_line = line,
		.last_line = line,
		.kind = kind,
	};
	return (uint32_t)q->n++;
}

uint32_t fah_scope_here(const struct fah_parser *s)
{
	for (int i = s->depth; i--;) {
		const struct fah_nest *n = &s->nest[i];

		if (n->entry != FAH_NO_ENTRY &&
		    (n->part == BODY || n->part == FIRST_TARGET || n->part == REST))
			return n->entry;
		if (n->entry != FAH_NO_ENTRY) /* defaults of a lambda, first iterable */
			return n->around;
	}
	return s->n_blocks ? s->blocks[s->n_blocks - 1].entry : FAH_NO_ENTRY;
}

void fah_nest_push(struct fah_parser *s, char open, enum fah_nest_part part, uint32_t entry,
		   uint32_t around)
{
	if (s->depth == FAH_NEST_MAX) {
		s->failed = true;
		return;
	}
	s->nest[s->depth++] = (struct fah_nest){
		.open = open,
		.part = part,
		.entry = entry,
		.around = around,
		.line = s->line,
		.first_entry = (uint32_t)s->q->n,
	};
	s->brackets += open != 'l';
}

void fah_nest_pop(struct fah_parser *s)
{
	struct fah_nest *n = &s->nest[--s->depth];

	if (n->entry != FAH_NO_ENTRY)
		s->q->entries[n->entry].last_line = s->line;
	s->brackets -= n->open != 'l';
}

struct fah_nest *fah_nest_top(struct fah_parser *s)
{
	return s->depth ? &s->nest[s->depth - 1] : NULL;
}

void fah_nest_end_lambdas(struct fah_parser *s, bool also_arguments)
{
	while (s->depth && fah_nest_top(s)->open == 'l' &&
	       (also_arguments || fah_nest_top(s)->part == BODY))
		fah_nest_pop(s);
}

void fah_nest_comprehension(struct fah_parser *s, struct fah_nest *n)
{
	static const struct {
		char open;
		bool colon;
		const char *name;
	} kinds[] = {{'(', false, "<genexpr>"},
		     {'[', false, "<listcomp>"},
		     {'{', false, "<setcomp>"},
		     {'{', true, "<dictcomp>"}};
	const char *name = "<genexpr>";
	uint32_t before = n->first_entry, made;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].open == n->open && (kinds[i].colon == n->colon || n->open != '{'))
			name = kinds[i].name;
	made = fah_scope_add(s, name, strlen(name), n->around, n->line, SCOPE_COMPREHENSION);
	if (made == FAH_NO_ENTRY)
		return;
	for (uint32_t i = before; i < made; i++)
		if (s->q->entries[i].parent == n->around)
			s->q->entries[i].parent = made;
	n->entry = made;
	n->part = FIRST_TARGET;
}

void fah_block_close(struct fah_parser *s, uint32_t line)
{
	s->q->entries[s->blocks[--s->n_blocks].entry].last_line = line;
}

static bool is_global(const struct fah_parser *s, uint32_t scope, const char *name, size_t len)
{
	for (size_t i = s->n_globals; i--;)
		if (s->globals[i].scope == scope && s->globals[i].len == len &&
		    !memcmp(s->globals[i].name, name, len))
			return true;
	return false;
}

void fah_block_open(struct fah_parser *s, const char *name, size_t len)
{
	uint32_t scope = fah_scope_here(s);
	uint32_t line = s->decorator_line ? s->decorator_line : s->line;
	enum fah_scope_kind kind = s->class_next ? SCOPE_CLASS : SCOPE_FUNCTION;
	uint32_t entry = fah_scope_add(s, name, len, scope, line, kind);

	if (entry != FAH_NO_ENTRY)
		s->q->entries[entry].global = is_global(s, scope, name, len);
	s->header = entry;
	s->decorator_line = 0;
}
