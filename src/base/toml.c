/*
 * toml.c - the document: tables, arrays, and what may be added to which.
 *
 * A table may be defined once: by a header, by dotted keys, or inline. Tables
 * that merely lie on the way to another one may still be defined later.
 */
#include "base/toml_parser.h"

#include "base/room.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fah_toml_pos fah_toml_where(struct fah_toml_parser *ps, const char *at)
{
	size_t n;

	if (at < ps->counted) {
		ps->counted = ps->text;
		ps->counted_at = (struct fah_toml_pos){1, 1};
	}
	for (; ps->counted < at; ps->counted += n) {
		fah_utf8_decode(ps->counted, (size_t)(ps->end - ps->counted), &n);
		ps->counted_at.column++;
		if (*ps->counted == '\n')
			ps->counted_at = (struct fah_toml_pos){ps->counted_at.line + 1, 1};
	}
	return ps->counted_at;
}

int fah_toml_fail(struct fah_toml_parser *ps, const char *at, const char *fmt, ...)
{
	va_list ap;

	ps->error->at = fah_toml_where(ps, at);
	va_start(ap, fmt);
	vsnprintf(ps->error->text, sizeof(ps->error->text), fmt, ap);
	va_end(ap);
	return FAH_ERR_FORMAT;
}

struct fah_toml_shown fah_toml_show(const char *s, size_t len)
{
	struct fah_strbuf clean = FAH_STRBUF_INIT, cut = FAH_STRBUF_INIT;
	struct fah_toml_shown r;
	size_t n;

	fah_strbuf_add_printable(&clean, s, len < 256 ? len : 256);
	fah_utf8_cut(&cut, fah_strbuf_str(&clean), clean.len, 40, false);
	n = cut.len < sizeof(r.s) ? cut.len : fah_utf8_fit(fah_strbuf_str(&cut), cut.len, 15);
	snprintf(r.s, sizeof(r.s), "%.*s", (int)n, fah_strbuf_str(&cut));
	fah_strbuf_release(&clean);
	fah_strbuf_release(&cut);
	return r;
}

void fah_toml_skip_blanks(struct fah_toml_parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t')
		ps->p++;
}

int fah_toml_skip_comment(struct fah_toml_parser *ps)
{
	if (*ps->p != '#')
		return 0;
	for (; ps->p < ps->end && *ps->p != '\n'; ps->p++)
		if (fah_toml_is_control(*ps->p))
			return fah_toml_fail(ps, ps->p,
					     "the control character 0x%02x may not stand in a "
					     "comment",
					     (unsigned char)*ps->p);
	return 0;
}

int fah_toml_skip_lines(struct fah_toml_parser *ps)
{
	int err = 0;

	while (err == 0 && *ps->p && strchr(" \t\n#", *ps->p)) {
		if (*ps->p == '#')
			err = fah_toml_skip_comment(ps);
		else
			ps->p++;
	}
	return err;
}

/* What the map of members has for a key: a table's id in front of it. NULL: no memory. */
static uint32_t *member(struct fah_toml_parser *ps, const struct fah_toml *table,
			const struct fah_toml_part *key, bool make)
{
	char small[128], *name = small;
	size_t len = sizeof(table->id) + key->len;
	uint32_t *slot;

	if (len > sizeof(small))
		name = malloc(len);
	if (!name)
		return NULL;
	memcpy(name, &table->id, sizeof(table->id));
	memcpy(name + sizeof(table->id), key->s, key->len);
	slot = make ? fah_strmap_put(&ps->members, name, len, NULL, NULL)
		    : fah_strmap_get(&ps->members, name, len);
	if (name != small)
		free(name);
	return slot;
}

static struct fah_toml *find(struct fah_toml_parser *ps, const struct fah_toml *table,
			     const struct fah_toml_part *key)
{
	uint32_t *slot = member(ps, table, key, false);

	return slot && *slot ? ps->all[*slot - 1] : NULL;
}

struct fah_toml *fah_toml_append(struct fah_toml_parser *ps, struct fah_toml *parent,
				 const struct fah_toml_part *key)
{
	struct fah_toml *v = fah_arena_alloc(ps->arena, sizeof(*v));
	uint32_t *slot;

	if (!v || !fah_room(&ps->all, ps->n, &ps->cap, sizeof(*ps->all)))
		return NULL;
	ps->all[ps->n++] = v;
	v->id = (uint32_t)ps->n; /* the root is 0 */
	if (key) {
		slot = member(ps, parent, key, true);
		if (!slot)
			return NULL;
		*slot = v->id;
		v->key = key->s;
		v->key_len = key->len;
		v->at = fah_toml_where(ps, key->at);
	}
	if (parent->items.last)
		parent->items.last->next = v;
	else
		parent->items.first = v;
	parent->items.last = v;
	parent->items.n++;
	return v;
}

static int taken(struct fah_toml_parser *ps, const struct fah_toml_part *key,
		 const struct fah_toml *there)
{
	return fah_toml_fail(ps, key->at, "'%s' is there already, in line %u: %s",
			     fah_toml_show(key->s, key->len).s, there->at.line,
			     there->type == FAH_TOML_TABLE && there->frozen
				     ? "an inline table, to which nothing can be added"
				     : fah_toml_type_words(there->type));
}

static struct fah_toml *new_table(struct fah_toml_parser *ps, struct fah_toml *parent,
				  const struct fah_toml_part *key)
{
	struct fah_toml *t = fah_toml_append(ps, parent, key);

	if (t)
		t->type = FAH_TOML_TABLE;
	return t;
}

/* One step of a header's way: into a table, or the last one of an array of tables. */
static int step(struct fah_toml_parser *ps, struct fah_toml **table,
		const struct fah_toml_part *key)
{
	struct fah_toml *t = find(ps, *table, key);

	if (!t) {
		t = new_table(ps, *table, key);
		if (!t)
			return FAH_ERR_NOMEM;
	} else if (t->frozen || (t->type != FAH_TOML_TABLE && t->type != FAH_TOML_ARRAY)) {
		return taken(ps, key, t);
	} else if (t->type == FAH_TOML_ARRAY) {
		t = t->items.last;
	}
	*table = t;
	return 0;
}

/* One step of a dotted key's way. */
static int step_dotted(struct fah_toml_parser *ps, struct fah_toml **table,
		       const struct fah_toml_part *key)
{
	struct fah_toml *t = find(ps, *table, key);

	if (!t) {
		t = new_table(ps, *table, key);
		if (!t)
			return FAH_ERR_NOMEM;
	} else if (t->type != FAH_TOML_TABLE || t->frozen || t->header) {
		return taken(ps, key, t);
	}
	t->dotted = true;
	*table = t;
	return 0;
}

int fah_toml_pair(struct fah_toml_parser *ps, struct fah_toml *table)
{
	struct fah_toml_part parts[FAH_TOML_DEPTH_MAX];
	struct fah_toml *there;
	int n, err;

	err = fah_toml_key(ps, parts, &n);
	if (err < 0)
		return err;
	if (*ps->p != '=')
		return fah_toml_fail(ps, ps->p, "'=' is missing behind the key '%s'",
				     fah_toml_show(parts[n - 1].s, parts[n - 1].len).s);
	ps->p++;
	fah_toml_skip_blanks(ps);
	for (int i = 0; i < n - 1; i++) {
		err = step_dotted(ps, &table, &parts[i]);
		if (err < 0)
			return err;
	}
	there = find(ps, table, &parts[n - 1]);
	if (there)
		return taken(ps, &parts[n - 1], there);
	there = fah_toml_append(ps, table, &parts[n - 1]);
	return there ? fah_toml_value(ps, there) : FAH_ERR_NOMEM;
}

static int open_table(struct fah_toml_parser *ps, struct fah_toml *parent,
		      const struct fah_toml_part *key, struct fah_toml **ret)
{
	struct fah_toml *t = find(ps, parent, key);

	if (t && (t->type != FAH_TOML_TABLE || t->header || t->frozen || t->dotted))
		return taken(ps, key, t);
	if (!t)
		t = new_table(ps, parent, key);
	if (!t)
		return FAH_ERR_NOMEM;
	t->header = true;
	t->at = fah_toml_where(ps, key->at);
	*ret = t;
	return 0;
}

static int open_element(struct fah_toml_parser *ps, struct fah_toml *parent,
			const struct fah_toml_part *key, struct fah_toml **ret)
{
	struct fah_toml *array = find(ps, parent, key), *t;

	if (array && (array->type != FAH_TOML_ARRAY || array->frozen))
		return taken(ps, key, array);
	if (!array) {
		array = fah_toml_append(ps, parent, key);
		if (!array)
			return FAH_ERR_NOMEM;
		array->type = FAH_TOML_ARRAY;
	}
	t = new_table(ps, array, NULL);
	if (!t)
		return FAH_ERR_NOMEM;
	t->header = true;
	t->at = fah_toml_where(ps, key->at);
	*ret = t;
	return 0;
}

/* [a.b] or [[a.b]] */
static int header(struct fah_toml_parser *ps, struct fah_toml *root, struct fah_toml **ret)
{
	struct fah_toml_part parts[FAH_TOML_DEPTH_MAX];
	bool element = ps->p[1] == '[';
	struct fah_toml *table = root;
	int n, err;

	ps->p += element ? 2 : 1;
	fah_toml_skip_blanks(ps);
	err = fah_toml_key(ps, parts, &n);
	if (err < 0)
		return err;
	if (*ps->p != ']' || (element && ps->p[1] != ']'))
		return fah_toml_fail(ps, ps->p, "'%s' is missing behind the name of a table",
				     element ? "]]" : "]");
	ps->p += element ? 2 : 1;
	for (int i = 0; err == 0 && i < n - 1; i++)
		err = step(ps, &table, &parts[i]);
	if (err < 0)
		return err;
	return element ? open_element(ps, table, &parts[n - 1], ret)
		       : open_table(ps, table, &parts[n - 1], ret);
}

static int line_end(struct fah_toml_parser *ps)
{
	int err;

	fah_toml_skip_blanks(ps);
	err = fah_toml_skip_comment(ps);
	if (err < 0)
		return err;
	if (ps->p < ps->end && *ps->p != '\n')
		return fah_toml_fail(ps, ps->p, "the line should end here");
	ps->p += ps->p < ps->end;
	return 0;
}

static int statements(struct fah_toml_parser *ps, struct fah_toml *root)
{
	struct fah_toml *table = root;
	int err;

	for (;;) {
		err = fah_toml_skip_lines(ps);
		if (err < 0 || ps->p >= ps->end)
			return err;
		err = *ps->p == '[' ? header(ps, root, &table) : fah_toml_pair(ps, table);
		if (err == 0)
			err = line_end(ps);
		if (err < 0)
			return err;
	}
}

/* A copy with plain newlines; every byte is looked at before the first is believed. */
static int prepare(struct fah_toml_parser *ps, const char *text, size_t len)
{
	char *copy = fah_arena_alloc(ps->arena, len + 1), *w = copy;
	size_t n;

	if (!copy)
		return FAH_ERR_NOMEM;
	for (size_t i = 0; i < len; i++)
		if (!(text[i] == '\r' && i + 1 < len && text[i + 1] == '\n'))
			*w++ = text[i];
	ps->text = ps->p = ps->counted = copy;
	ps->end = w;
	for (const char *p = copy; p < w; p += n) {
		int32_t c = fah_utf8_decode(p, (size_t)(w - p), &n);

		if (c < 0)
			return fah_toml_fail(ps, p, "the byte 0x%02x is no UTF-8",
					     (unsigned char)*p);
		if (c == 0xfeff && p == copy)
			return fah_toml_fail(
				ps, p,
				"the file begins with a byte order mark; TOML is plain "
				"UTF-8");
	}
	return 0;
}

int fah_toml_parse(struct fah_toml_doc *doc, const char *text, size_t len,
		   struct fah_toml_error *ret_error)
{
	struct fah_toml_parser ps = {
		.arena = &doc->arena,
		.counted_at = {1, 1},
		.error = ret_error,
	};
	int err;

	*doc = (struct fah_toml_doc){.root = {.type = FAH_TOML_TABLE, .at = {1, 1}}};
	*ret_error = (struct fah_toml_error){.at = {1, 1}};
	if (len > FAH_TOML_MAX)
		return FAH_ERR_RANGE;
	err = prepare(&ps, text, len);
	if (err == 0)
		err = statements(&ps, &doc->root);
	fah_strmap_release(&ps.members);
	free(ps.all);
	if (ps.c_locale)
		freelocale(ps.c_locale);
	return err;
}

void fah_toml_release(struct fah_toml_doc *doc)
{
	fah_arena_release(&doc->arena);
	doc->root = (struct fah_toml){.type = FAH_TOML_TABLE};
}

const struct fah_toml *fah_toml_get(const struct fah_toml *table, const char *key)
{
	size_t len = strlen(key);

	if (table->type != FAH_TOML_TABLE)
		return NULL;
	for (const struct fah_toml *v = table->items.first; v; v = v->next)
		if (v->key_len == len && !memcmp(v->key, key, len))
			return v;
	return NULL;
}

const char *fah_toml_type_words(enum fah_toml_type type)
{
	static const char *const words[] = {
		[FAH_TOML_STRING] = "a string",
		[FAH_TOML_INTEGER] = "an integer",
		[FAH_TOML_FLOAT] = "a float",
		[FAH_TOML_BOOLEAN] = "a boolean",
		[FAH_TOML_DATETIME] = "a date and time",
		[FAH_TOML_LOCAL_DATETIME] = "a date and time",
		[FAH_TOML_LOCAL_DATE] = "a date",
		[FAH_TOML_LOCAL_TIME] = "a time",
		[FAH_TOML_ARRAY] = "an array",
		[FAH_TOML_TABLE] = "a table",
	};

	return words[type];
}
