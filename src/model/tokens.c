/*
 * tokens.c - a tokenizer for Python that knows just enough: strings, comments, brackets, lines
 * joined by them, indentation; and the six things that make a scope of their own: def, class,
 * lambda and the four comprehensions.
 */
#include "model/internal.h"
#include "model/parser.h"

#define TAB 8

static bool is_word(const char *p, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(p, word, len);
}

/* The first word of a statement. */
static void first_word(struct fah_parser *s, const char *p, size_t len)
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

static void word(struct fah_parser *s, const char *p, size_t len)
{
	struct fah_nest *n;

	if (s->name_next) {
		s->name_next = false;
		fah_block_open(s, p, len);
		return;
	}
	if (s->in_global) {
		if (fah_room(&s->globals, s->n_globals, &s->cap_globals, sizeof(*s->globals)))
			s->globals[s->n_globals++] =
				(struct fah_global_name){p, (uint32_t)len, fah_scope_here(s)};
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
		uint32_t scope = fah_scope_here(s);
		uint32_t made = fah_scope_add(s, "<lambda>", 8, scope, s->line, SCOPE_FUNCTION);

		if (made != FAH_NO_ENTRY)
			fah_nest_push(s, 'l', ARGUMENTS, made, scope);
	} else if (is_word(p, len, "for") || is_word(p, len, "async")) {
		if (s->brackets)
			fah_nest_end_lambdas(s, false);
		n = fah_nest_top(s);
		if (!n || n->open == 'l')
			return;
		if (n->entry != FAH_NO_ENTRY)
			n->part = REST;
		else if (*p == 'f')
			fah_nest_comprehension(s, n);
	} else if (is_word(p, len, "in")) {
		n = fah_nest_top(s);
		if (n && n->part == FIRST_TARGET)
			n->part = FIRST_ITERABLE;
	} else if (is_word(p, len, "if")) {
		n = fah_nest_top(s);
		if (n && n->part == FIRST_ITERABLE)
			n->part = REST;
	}
}

static void open_bracket(struct fah_parser *s, char c)
{
	fah_nest_push(s, c, ELEMENT, FAH_NO_ENTRY, fah_scope_here(s));
}

static void close_bracket(struct fah_parser *s)
{
	fah_nest_end_lambdas(s, true);
	if (s->depth)
		fah_nest_pop(s);
}

static void colon(struct fah_parser *s)
{
	struct fah_nest *n = fah_nest_top(s);

	if (n && n->open == 'l' && n->part == ARGUMENTS) {
		n->part = BODY;
		return;
	}
	fah_nest_end_lambdas(s, false); /* {lambda: 1: 2}, x[lambda: 1:2] */
	n = fah_nest_top(s);
	if (n) {
		n->colon = true;
	} else if (s->header != FAH_NO_ENTRY) {
		if (!fah_room(&s->blocks, s->n_blocks, &s->cap_blocks, sizeof(*s->blocks))) {
			s->failed = true;
			return;
		}
		s->blocks[s->n_blocks++] = (struct fah_open_block){s->header, s->indent};
		s->header = FAH_NO_ENTRY;
	}
}

/* From the opening quote to after the closing one. A single-quoted string ends at its line's end.
 */
static void string(struct fah_parser *s)
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
static void begin_statement(struct fah_parser *s, int indent)
{
	while (s->n_blocks && s->blocks[s->n_blocks - 1].indent >= indent)
		fah_block_close(s, s->line - 1);
	s->indent = indent;
	s->header = FAH_NO_ENTRY;
	s->first_token = true;
	s->after_async = s->name_next = s->in_global = s->decorator = false;
}

static void end_statement(struct fah_parser *s)
{
	if (s->decorator) /* its line stays known for the def or class that follows */
		s->decorator = false;
	else
		s->decorator_line = 0;
	s->header = FAH_NO_ENTRY;
	s->name_next = s->in_global = false;
	while (s->depth)
		fah_nest_pop(s);
}

/* Indentation of the line at p, which begins a statement; false: it is blank or a comment. */
static bool indentation(struct fah_parser *s, int *ret)
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
	return s->p < s->end && *s->p != '#' && *s->p != '\n';
}

static void punctuation(struct fah_parser *s, char c)
{
	if (c == '(' || c == '[' || c == '{') {
		open_bracket(s, c);
	} else if (c == ')' || c == ']' || c == '}') {
		close_bracket(s);
	} else if (c == ',') {
		fah_nest_end_lambdas(s, false);
	} else if (c == ':') {
		if (s->p + 1 < s->end && s->p[1] == '=' && s->brackets &&
		    !(fah_nest_top(s)->open == 'l' && fah_nest_top(s)->part == ARGUMENTS))
			s->p++; /* a walrus, not an end of anything */
		else
			colon(s);
	} else if (c == ';') {
		fah_nest_end_lambdas(s, true);
		if (!s->depth)
			s->in_global = false;
	} else if (c == '@' && s->first_token) {
		s->decorator = true;
		if (!s->decorator_line)
			s->decorator_line = s->line;
	}
	s->p++;
}

static void token(struct fah_parser *s)
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

void fah_parser_run(struct fah_parser *s)
{
	bool fresh = true; /* at the start of a logical line */
	int indent;

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
		} else if (*s->p == ' ' || *s->p == '\t' || *s->p == '\f') {
			s->p++;
		} else {
			token(s);
		}
	}
	while (s->depth)
		fah_nest_pop(s);
	while (s->n_blocks)
		fah_block_close(s, s->line);
}
