/*
 * qualname.c - a tokenizer for Python that knows just enough: strings, comments, brackets, lines
 * joined by them, indentation; and the six things that make a scope of their own: def, class,
 * lambda and the four comprehensions.
 *
 * The surprises, all from the compiler's symbol table: decorators, default values, annotations and
 * base classes belong to the scope around; so does the first iterable of a comprehension, while the
 * element before its `for` belongs to the comprehension, so entries made there change parents when
 * the `for` is seen; only def and lambda add `<locals>` to the names inside them; a def whose name
 * was declared global has no prefix at all.
 */
#include "model/qualname.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "core/err.h"

#include <stdbool.h>
#include <string.h>

#define NONE UINT32_MAX
#define TAB 8
#define DEPTH_MAX 400 /* brackets and lambdas inside each other; CPython allows 200 brackets */

enum scope_kind { SCOPE_CLASS, SCOPE_FUNCTION, SCOPE_COMPREHENSION };

struct entry {			     /* a code object */
	const char *name, *qualname; /* qualname is made when asked for */
	uint32_t name_len;
	uint32_t parent; /* index, NONE: the module */
	uint32_t first_line, last_line;
	enum scope_kind kind;
	bool global; /* declared global in its scope */
};

struct global_name {
	const char *name;
	uint32_t len, scope;
};

struct block { /* an open def or class */
	uint32_t entry;
	int indent; /* of its def or class; the body's is larger */
};

enum part { ARGUMENTS, BODY, ELEMENT, FIRST_TARGET, FIRST_ITERABLE, REST };

struct nest {	   /* an open bracket or lambda in the statement at hand */
	char open; /* ( [ { or l for lambda */
	enum part part;
	uint32_t entry;	 /* the lambda, the comprehension; NONE: a plain bracket */
	uint32_t around; /* scope that holds it */
	uint32_t line, first_entry;
	bool colon; /* a ':' of its own: a dictionary */
};

struct fah_qualnames {
	struct fah_arena arena;
	struct entry *entries;
	size_t n, cap;
};

struct parser {
	struct fah_qualnames *q;
	const char *p, *end;
	uint32_t line;
	struct block *blocks;
	size_t n_blocks, cap_blocks;
	struct global_name *globals;
	size_t n_globals, cap_globals;
	struct nest nest[DEPTH_MAX];
	int depth, brackets; /* of nest[]: all, and those that are brackets */
	/* The statement at hand. */
	uint32_t decorator_line; /* of the first decorator before it; 0: none */
	uint32_t header;	 /* entry of a def or class whose ':' has not come; NONE */
	int indent;
	bool first_token, after_async, name_next, class_next, in_global, decorator, failed;
};

static bool room(void *array, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;
	void *p;

	if (n < *cap)
		return true;
	memcpy(&p, array, sizeof(p));
	p = reallocarray(p, want, size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = want;
	return true;
}

static uint32_t add_entry(struct parser *s, const char *name, size_t len, uint32_t parent,
			  uint32_t line, enum scope_kind kind)
{
	struct fah_qualnames *q = s->q;

	if (q->n >= NONE - 1 || !room(&q->entries, q->n, &q->cap, sizeof(*q->entries))) {
		s->failed = true;
		return NONE;
	}
	q->entries[q->n] = (struct entry){
		.name = name,
		.name_len = (uint32_t)len,
		.parent = parent,
		.first_line = line,
		.last_line = line,
		.kind = kind,
	};
	return (uint32_t)q->n++;
}

/* The scope that code at this very place belongs to. */
static uint32_t scope_here(const struct parser *s)
{
	for (int i = s->depth; i--;) {
		const struct nest *n = &s->nest[i];

		if (n->entry != NONE &&
		    (n->part == BODY || n->part == FIRST_TARGET || n->part == REST))
			return n->entry;
		if (n->entry != NONE) /* defaults of a lambda, first iterable */
			return n->around;
	}
	return s->n_blocks ? s->blocks[s->n_blocks - 1].entry : NONE;
}

static void push(struct parser *s, char open, enum part part, uint32_t entry, uint32_t around)
{
	if (s->depth == DEPTH_MAX) {
		s->failed = true;
		return;
	}
	s->nest[s->depth++] = (struct nest){
		.open = open,
		.part = part,
		.entry = entry,
		.around = around,
		.line = s->line,
		.first_entry = (uint32_t)s->q->n,
	};
	s->brackets += open != 'l';
}

static void pop(struct parser *s)
{
	struct nest *n = &s->nest[--s->depth];

	if (n->entry != NONE)
		s->q->entries[n->entry].last_line = s->line;
	s->brackets -= n->open != 'l';
}

static struct nest *top(struct parser *s)
{
	return s->depth ? &s->nest[s->depth - 1] : NULL;
}

/* Lambdas whose body ends here: before a comma, a closing bracket, a `for`, the end of the line. */
static void end_lambdas(struct parser *s, bool also_arguments)
{
	while (s->depth && top(s)->open == 'l' && (also_arguments || top(s)->part == BODY))
		pop(s);
}

static void begin_comprehension(struct parser *s, struct nest *n)
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
	made = add_entry(s, name, strlen(name), n->around, n->line, SCOPE_COMPREHENSION);
	if (made == NONE)
		return;
	for (uint32_t i = before; i < made; i++)
		if (s->q->entries[i].parent == n->around)
			s->q->entries[i].parent = made;
	n->entry = made;
	n->part = FIRST_TARGET;
}

static void close_block(struct parser *s, uint32_t line)
{
	s->q->entries[s->blocks[--s->n_blocks].entry].last_line = line;
}

static bool is_global(const struct parser *s, uint32_t scope, const char *name, size_t len)
{
	for (size_t i = s->n_globals; i--;)
		if (s->globals[i].scope == scope && s->globals[i].len == len &&
		    !memcmp(s->globals[i].name, name, len))
			return true;
	return false;
}

static void definition(struct parser *s, const char *name, size_t len)
{
	uint32_t scope = scope_here(s);
	uint32_t line = s->decorator_line ? s->decorator_line : s->line;
	enum scope_kind kind = s->class_next ? SCOPE_CLASS : SCOPE_FUNCTION;
	uint32_t entry = add_entry(s, name, len, scope, line, kind);

	if (entry != NONE)
		s->q->entries[entry].global = is_global(s, scope, name, len);
	s->header = entry;
	s->decorator_line = 0;
}

static bool is_word(const char *p, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(p, word, len);
}

/* The first word of a statement. */
static void first_word(struct parser *s, const char *p, size_t len)
{
	if (is_word(p, len, "def") || is_word(p, len, "class")) {
		s->name_next = true;
		s->class_next = *p == 'c';
	} else if (is_word(p, len, "global")) {
		s->in_global = true;
	} else if (is_word(p, len, "async")) {
		s->after_async = true;
	}
}

static void word(struct parser *s, const char *p, size_t len)
{
	struct nest *n;

	if (s->name_next) {
		s->name_next = false;
		definition(s, p, len);
		return;
	}
	if (s->in_global) {
		if (room(&s->globals, s->n_globals, &s->cap_globals, sizeof(*s->globals)))
			s->globals[s->n_globals++] =
				(struct global_name){p, (uint32_t)len, scope_here(s)};
		else
			s->failed = true;
		return;
	}
	if (s->first_token || s->after_async) {
		bool was_async = s->after_async;

		s->first_token = s->after_async = false;
		if (!was_async || is_word(p, len, "def"))
			first_word(s, p, len);
		if (s->name_next || s->in_global || s->after_async)
			return;
	}
	if (is_word(p, len, "lambda")) {
		uint32_t scope = scope_here(s);
		uint32_t made = add_entry(s, "<lambda>", 8, scope, s->line, SCOPE_FUNCTION);

		if (made != NONE)
			push(s, 'l', ARGUMENTS, made, scope);
	} else if (is_word(p, len, "for") || is_word(p, len, "async")) {
		if (s->brackets)
			end_lambdas(s, false);
		n = top(s);
		if (!n || n->open == 'l')
			return;
		if (n->entry != NONE)
			n->part = REST;
		else if (*p == 'f')
			begin_comprehension(s, n);
	} else if (is_word(p, len, "in")) {
		n = top(s);
		if (n && n->part == FIRST_TARGET)
			n->part = FIRST_ITERABLE;
	} else if (is_word(p, len, "if")) {
		n = top(s);
		if (n && n->part == FIRST_ITERABLE)
			n->part = REST;
	}
}

static void open_bracket(struct parser *s, char c)
{
	push(s, c, ELEMENT, NONE, scope_here(s));
}

static void close_bracket(struct parser *s)
{
	end_lambdas(s, true);
	if (s->depth)
		pop(s);
}

static void colon(struct parser *s)
{
	struct nest *n = top(s);

	if (n && n->open == 'l' && n->part == ARGUMENTS) {
		n->part = BODY;
		return;
	}
	end_lambdas(s, false); /* {lambda: 1: 2}, x[lambda: 1:2] */
	n = top(s);
	if (n) {
		n->colon = true;
	} else if (s->header != NONE) {
		if (!room(&s->blocks, s->n_blocks, &s->cap_blocks, sizeof(*s->blocks))) {
			s->failed = true;
			return;
		}
		s->blocks[s->n_blocks++] = (struct block){s->header, s->indent};
		s->header = NONE;
	}
}

/* From the opening quote to after the closing one. A single-quoted string ends at its line's end.
 */
static void string(struct parser *s)
{
	char quote = *s->p;
	bool triple = s->end - s->p >= 3 && s->p[1] == quote && s->p[2] == quote;

	s->p += triple ? 3 : 1;
	while (s->p < s->end) {
		char c = *s->p;

		if (c == '\\' && s->p + 1 < s->end) { /* also in raw strings */
			s->line += s->p[1] == '\n';
			s->p += 2;
			continue;
		}
		if (c == '\n') {
			if (!triple)
				return;
			s->line++;
		}
		if (c == quote && !triple) {
			s->p++;
			return;
		}
		if (c == quote && s->end - s->p >= 3 && s->p[1] == quote && s->p[2] == quote) {
			s->p += 3;
			return;
		}
		s->p++;
	}
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* At the start of a logical line's first token: leave the blocks that end before it. */
static void begin_statement(struct parser *s, int indent)
{
	while (s->n_blocks && s->blocks[s->n_blocks - 1].indent >= indent)
		close_block(s, s->line - 1);
	s->indent = indent;
	s->header = NONE;
	s->first_token = true;
	s->after_async = s->name_next = s->in_global = s->decorator = false;
}

static void end_statement(struct parser *s)
{
	if (s->decorator) /* its line stays known for the def or class that follows */
		s->decorator = false;
	else
		s->decorator_line = 0;
	s->header = NONE;
	s->name_next = s->in_global = false;
	while (s->depth)
		pop(s);
}

/* Indentation of the line at p, which begins a statement; false: it is blank or a comment. */
static bool indentation(struct parser *s, int *ret)
{
	int column = 0;

	for (; s->p < s->end; s->p++) {
		if (*s->p == ' ')
			column++;
		else if (*s->p == '\t')
			column = (column / TAB + 1) * TAB;
		else if (*s->p == '\f')
			column = 0;
		else
			break;
	}
	*ret = column;
	return s->p < s->end && *s->p != '#' && *s->p != '\n' && *s->p != '\r';
}

static void punctuation(struct parser *s, char c)
{
	if (c == '(' || c == '[' || c == '{') {
		open_bracket(s, c);
	} else if (c == ')' || c == ']' || c == '}') {
		close_bracket(s);
	} else if (c == ',') {
		end_lambdas(s, false);
	} else if (c == ':') {
		if (s->p + 1 < s->end && s->p[1] == '=' && s->brackets &&
		    !(top(s)->open == 'l' && top(s)->part == ARGUMENTS))
			s->p++; /* a walrus, not an end of anything */
		else
			colon(s);
	} else if (c == ';') {
		end_lambdas(s, true);
		if (!s->depth)
			s->in_global = false;
	} else if (c == '@' && s->first_token) {
		s->decorator = true;
		if (!s->decorator_line)
			s->decorator_line = s->line;
	}
	s->p++;
}

static void token(struct parser *s)
{
	char c = *s->p;

	if (c == '#') {
		while (s->p < s->end && *s->p != '\n')
			s->p++;
	} else if (c == '"' || c == '\'') {
		string(s);
		s->first_token = false;
	} else if (word_char(c)) {
		const char *start = s->p;

		while (s->p < s->end && word_char(*s->p))
			s->p++;
		if (s->p < s->end && (*s->p == '"' || *s->p == '\'') &&
		    strspn(start, "rRbBfFuU") == (size_t)(s->p - start))
			return; /* a string's prefix */
		word(s, start, (size_t)(s->p - start));
		s->first_token = s->first_token && s->after_async;
	} else {
		punctuation(s, c);
		/* `def f(): global x` and `a; global x` */
		s->first_token = (c == ';' || c == ':') && !s->depth;
	}
}

static void parse(struct parser *s)
{
	bool fresh = true; /* at the start of a logical line */
	int indent;

	if (s->end - s->p >= 3 && !memcmp(s->p, "\xef\xbb\xbf", 3))
		s->p += 3;
	while (s->p < s->end && !s->failed) {
		if (fresh) {
			if (indentation(s, &indent)) {
				begin_statement(s, indent);
				fresh = false;
			} else if (s->p < s->end && *s->p == '#') {
				token(s);
			}
			if (s->p == s->end)
				break;
		}
		if (*s->p == '\n') {
			if (!s->brackets && !fresh) {
				end_statement(s);
				fresh = true;
			}
			s->line++;
			s->p++;
		} else if (*s->p == '\\' && s->p + 1 < s->end && s->p[1] == '\n') {
			s->line++;
			s->p += 2;
		} else if (*s->p == '\\' && s->end - s->p > 2 && s->p[1] == '\r' &&
			   s->p[2] == '\n') {
			s->line++;
			s->p += 3;
		} else if (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || *s->p == '\f') {
			s->p++;
		} else {
			token(s);
		}
	}
	while (s->depth)
		pop(s);
	while (s->n_blocks)
		close_block(s, s->line);
}

int fah_qualnames_new(const char *source, size_t len, struct fah_qualnames **ret)
{
	struct fah_qualnames *q = calloc(1, sizeof(*q));
	struct parser *s = calloc(1, sizeof(*s));
	bool failed = true;

	if (q && s) {
		s->q = q;
		/* A copy: names are borrowed from it. */
		s->p = fah_arena_strndup(&q->arena, source, len);
		if (s->p) {
			s->end = s->p + len;
			s->line = 1;
			s->header = NONE;
			parse(s);
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
	struct entry *e = &q->entries[id];

	/* Parents first, from the outside in, so that depth costs no C stack. */
	while (!e->qualname) {
		uint32_t i = id;

		while (q->entries[i].parent != NONE && !q->entries[i].global &&
		       !q->entries[q->entries[i].parent].qualname)
			i = q->entries[i].parent;
		fah_strbuf_truncate(&sb, 0);
		if (q->entries[i].parent != NONE && !q->entries[i].global) {
			const struct entry *parent = &q->entries[q->entries[i].parent];

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
	uint32_t around = NONE;
	const char *outer;

	for (size_t i = 0; i < q->n; i++) {
		const struct entry *e = &q->entries[i];

		if (e->first_line == first_line && e->name_len == len &&
		    !memcmp(e->name, name, len))
			return qualname(q, (uint32_t)i);
		/* Later entries that hold the line lie deeper. */
		if (e->first_line <= first_line && first_line <= e->last_line && e->name[0] != '<')
			around = (uint32_t)i;
	}
	if (name[0] != '<' || !strcmp(name, "<module>"))
		return NULL;
	if (around == NONE)
		return NULL;
	outer = qualname(q, around);
	if (!outer)
		return NULL;
	fah_strbuf_adds(&sb, outer);
	fah_strbuf_adds(&sb, q->entries[around].kind == SCOPE_FUNCTION ? ".<locals>." : ".");
	fah_strbuf_adds(&sb, name);
	return sb.failed ? NULL : fah_arena_strdup(&q->arena, fah_strbuf_str(&sb));
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
