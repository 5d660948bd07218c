/*
 * parser.h - a Python source while it is read for its scopes: what scopes.c and tokens.c share, and
 * the entries that come out of it. For qualname.c.
 */
#ifndef FAH_MODEL_PARSER_H
#define FAH_MODEL_PARSER_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAH_NO_ENTRY UINT32_MAX
#define FAH_NEST_MAX 400 /* brackets and lambdas inside each other; CPython allows 200 brackets */

enum fah_scope_kind { SCOPE_CLASS, SCOPE_FUNCTION, SCOPE_COMPREHENSION };

struct fah_entry {		     /* a code object */
	const char *name, *qualname; /* qualname is made when asked for */
	uint32_t name_len;
	uint32_t parent; /* index, FAH_NO_ENTRY: the module */
	uint32_t first_line, last_line;
	enum fah_scope_kind kind;
	bool global; /* declared global in its scope */
};

struct fah_global_name {
	const char *name;
	uint32_t len, scope;
};

struct fah_open_block { /* an open def or class */
	uint32_t entry;
	int indent; /* of its def or class; the body's is larger */
};

enum fah_nest_part { ARGUMENTS, BODY, ELEMENT, FIRST_TARGET, FIRST_ITERABLE, REST };

struct fah_nest {  /* an open bracket or lambda in the statement at hand */
	char open; /* ( [ { or l for lambda */
	enum fah_nest_part part;
	uint32_t entry;	 /* the lambda, the comprehension; FAH_NO_ENTRY: a plain bracket */
	uint32_t around; /* scope that holds it */
	uint32_t line, first_entry;
	bool colon; /* a ':' of its own: a dictionary */
};

struct fah_qualnames {
	struct fah_arena arena;
	struct fah_entry *entries;
	size_t n, cap;
};

struct fah_parser {
	struct fah_qualnames *q;
	const char *p, *end;
	uint32_t line;
	struct fah_open_block *blocks;
	size_t n_blocks, cap_blocks;
	struct fah_global_name *globals;
	size_t n_globals, cap_globals;
	struct fah_nest nest[FAH_NEST_MAX];
	int depth, brackets; /* of nest[]: all, and those that are brackets */
	/* The statement at hand. */
	uint32_t decorator_line; /* of the first decorator before it; 0: none */
	uint32_t header;	 /* entry of a def or class whose ':' has not come; FAH_NO_ENTRY */
	int indent;
	bool first_token, after_async, name_next, class_next, in_global, decorator, failed;
};

/* tokens.c: all of the text, from p to end, into q. Want of memory, or too deep a text, sets
 * failed: it is read up to there. */
void fah_parser_run(struct fah_parser *s);

/* scopes.c */
uint32_t fah_scope_add(struct fah_parser *s, const char *name, size_t len, uint32_t parent,
		       uint32_t line, enum fah_scope_kind kind);
/* The scope that code at this very place belongs to. */
uint32_t fah_scope_here(const struct fah_parser *s);
void fah_nest_push(struct fah_parser *s, char open, enum fah_nest_part part, uint32_t entry,
		   uint32_t around);
void fah_nest_pop(struct fah_parser *s);
struct fah_nest *fah_nest_top(struct fah_parser *s); /* NULL: none is open */
/* Lambdas whose body ends here: before a comma, a closing bracket, a `for`, the end of the line. */
void fah_nest_end_lambdas(struct fah_parser *s, bool also_arguments);
void fah_nest_comprehension(struct fah_parser *s, struct fah_nest *n);
/* A def or class of this name; its block opens with the ':'. */
void fah_block_open(struct fah_parser *s, const char *name, size_t len);
void fah_block_close(struct fah_parser *s, uint32_t line);

#endif
