/* pstats.c - see pstats.h. */
#include "import/pstats.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "core/err.h"
#include "import/marshal.h"

#include <math.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 30)
#define SAMPLED "__sampled__" /* the key that marks a file of profiling.sampling, from 3.15 on */

bool fah_pstats_is_likely(const void *data, size_t len)
{
	const unsigned char *p = data;

	/* A dict, and in it a tuple as a key, or nothing. JSON begins with the same brace. */
	return len >= 2 && (p[0] & 0x7f) == '{' &&
	       ((p[1] & 0x7f) == ')' || (p[1] & 0x7f) == '(' || p[1] == '0');
}

static bool is_text(const struct fah_marshal *v)
{
	return v->type == FAH_MARSHAL_TEXT || v->type == FAH_MARSHAL_BYTES;
}

static bool is_tuple(const struct fah_marshal *v, size_t n)
{
	return v->type == FAH_MARSHAL_ITEMS && v->items.n == n;
}

/* Three bytes that stand for one which was no text: ED B2 80 for 80, ED B3 BF for FF. */
static bool is_escaped(const char *p, const char *end)
{
	return end - p >= 3 && (unsigned char)p[0] == 0xed &&
	       ((unsigned char)p[1] == 0xb2 || (unsigned char)p[1] == 0xb3) &&
	       ((unsigned char)p[2] & 0xc0) == 0x80;
}

/* A text (which is_text) as a name: a NUL cannot be in one. */
static int add_text(struct fah_strbuf *sb, const struct fah_marshal *v)
{
	const char *p = v->text.p, *end = p + v->text.len;

	if (memchr(p, '\0', v->text.len))
		return FAH_ERR_FORMAT;
	while (p < end) {
		if (is_escaped(p, end)) {
			fah_strbuf_addc(sb, (char)(((unsigned char)p[1] & 3) << 6 |
						   ((unsigned char)p[2] & 0x3f)));
			p += 3;
		} else {
			fah_strbuf_addc(sb, *p++);
		}
	}
	return sb->failed ? FAH_ERR_NOMEM : 0;
}

/* A function's name. The module profile has the code itself for what it was given: that is shown as
 * Python would, but for its address. */
static int add_name(struct fah_strbuf *sb, const struct fah_marshal *v)
{
	int err;

	if (v->type != FAH_MARSHAL_CODE)
		return is_text(v) ? add_text(sb, v) : FAH_ERR_FORMAT;
	fah_strbuf_adds(sb, "<code object ");
	err = add_text(sb, v->code.name);
	fah_strbuf_adds(sb, ", file \"");
	if (err == 0)
		err = add_text(sb, v->code.file);
	fah_strbuf_addf(sb, "\", line %d>", (int)v->code.line);
	return sb->failed ? FAH_ERR_NOMEM : err;
}

static int function_of(struct fah_exact *e, const struct fah_marshal *key, uint32_t *ret)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf file = FAH_STRBUF_INIT,
							name = FAH_STRBUF_INIT;
	int err;

	if (!is_tuple(key, 3) || !is_text(key->items.p[0]))
		return FAH_ERR_FORMAT;
	/* some write None where they know no line */
	if (key->items.p[1]->type != FAH_MARSHAL_INTEGER &&
	    key->items.p[1]->type != FAH_MARSHAL_NOTHING)
		return key->items.p[1]->type == FAH_MARSHAL_HUGE ? FAH_ERR_RANGE : FAH_ERR_FORMAT;
	err = add_text(&file, key->items.p[0]);
	if (err == 0)
		err = add_name(&name, key->items.p[2]);
	if (err < 0)
		return err;
	return fah_exact_function(
		e, fah_strbuf_str(&file), file.len,
		key->items.p[1]->type == FAH_MARSHAL_INTEGER ? key->items.p[1]->integer : 0,
		fah_strbuf_str(&name), name.len, ret);
}

static int number_of(const struct fah_marshal *v, double *ret)
{
	if (v->type == FAH_MARSHAL_INTEGER)
		*ret = (double)v->integer;
	else if (v->type == FAH_MARSHAL_NUMBER || v->type == FAH_MARSHAL_HUGE)
		*ret = v->number;
	else
		return FAH_ERR_FORMAT;
	return isfinite(*ret) ? 0 : FAH_ERR_RANGE;
}

static int count_of(const struct fah_marshal *v, uint64_t *ret)
{
	double about;
	int err = number_of(v, &about);

	if (err < 0)
		return err;
	if (v->type == FAH_MARSHAL_INTEGER) {
		*ret = v->integer > 0 ? (uint64_t)v->integer : 0;
		return 0;
	}
	if (about >= 0x1p63)
		return FAH_ERR_RANGE;
	*ret = about > 0 ? (uint64_t)about : 0;
	return 0;
}

static int times_of(const struct fah_marshal *calls, const struct fah_marshal *primitive,
		    const struct fah_marshal *const *seconds, struct fah_exact_times *ret)
{
	int err = count_of(calls, &ret->calls);

	if (err == 0)
		err = count_of(primitive, &ret->primitive);
	if (err == 0)
		err = number_of(seconds[0], &ret->self_s);
	return err < 0 ? err : number_of(seconds[1], &ret->total_s);
}

/* A function and its own times. */
static int add_function(struct fah_exact *e, const struct fah_marshal *key,
			const struct fah_marshal *value, uint32_t *ret)
{
	struct fah_exact_times times;
	int err;

	if (!is_tuple(value, 5) || value->items.p[4]->type != FAH_MARSHAL_DICT)
		return FAH_ERR_FORMAT;
	err = times_of(value->items.p[1], value->items.p[0], &value->items.p[2], &times);
	if (err == 0)
		err = function_of(e, key, ret);
	if (err < 0)
		return err;
	fah_exact_times_add(&e->functions[*ret].times, &times);
	e->functions[*ret].only_caller = false;
	return 0;
}

static int add_caller(struct fah_exact *e, uint32_t callee, const struct fah_marshal *key,
		      const struct fah_marshal *value)
{
	struct fah_exact_times times = {0};
	bool only_count = value->type == FAH_MARSHAL_INTEGER;
	size_t functions = e->n_functions, edges = e->n_edges;
	uint32_t caller, edge;
	int err;

	if (only_count)
		err = count_of(value, &times.calls);
	else if (is_tuple(value, 4))
		err = times_of(value->items.p[0], value->items.p[1], &value->items.p[2], &times);
	else
		err = FAH_ERR_FORMAT;
	if (only_count)
		times.primitive = times.calls;
	if (err == 0)
		err = function_of(e, key, &caller);
	if (err < 0)
		return err;
	if (caller == functions)
		e->functions[caller].only_caller = true;
	err = fah_exact_edge(e, caller, callee, &edge);
	if (err < 0)
		return err;
	fah_exact_times_add(&e->edges[edge].times, &times);
	e->edges[edge].only_count = only_count && (edge >= edges || e->edges[edge].only_count);
	return 0;
}

static bool is_sampled_mark(const struct fah_marshal *key)
{
	return is_tuple(key, 1) && is_text(key->items.p[0]) &&
	       key->items.p[0]->text.len == strlen(SAMPLED) &&
	       !memcmp(key->items.p[0]->text.p, SAMPLED, strlen(SAMPLED));
}

/* room: how many callers there can be, in a file so long. One dict for all functions, by
 * references, would be more than any memory has. */
static int add_all(struct fah_exact *e, const struct fah_marshal *dict, uint32_t *ids, size_t room)
{
	int err = 0;

	/* first all that have times, so that they stand in the file's order */
	for (size_t i = 0; err == 0 && i < dict->items.n; i += 2) {
		if (is_sampled_mark(dict->items.p[i]))
			e->samples = true;
		else
			err = add_function(e, dict->items.p[i], dict->items.p[i + 1], &ids[i / 2]);
	}
	for (size_t i = 0; err == 0 && i < dict->items.n; i += 2) {
		const struct fah_marshal *callers;

		if (is_sampled_mark(dict->items.p[i]))
			continue;
		callers = dict->items.p[i + 1]->items.p[4];
		if (callers->items.n > room)
			return FAH_ERR_RANGE;
		room -= callers->items.n;
		for (size_t k = 0; err == 0 && k < callers->items.n; k += 2)
			err = add_caller(e, ids[i / 2], callers->items.p[k],
					 callers->items.p[k + 1]);
	}
	return err;
}

int fah_pstats_parse(const void *data, size_t len, struct fah_exact *e)
{
	_cleanup_(fah_arena_release) struct fah_arena arena = FAH_ARENA_INIT;
	_cleanup_(fah_freep) uint32_t *ids = NULL;
	const struct fah_marshal *dict;
	int err;

	if (len >= 16 && !fah_pstats_is_likely(data, len))
		return FAH_ERR_FORMAT;
	err = fah_marshal_read(&arena, data, len, &dict);
	if (err < 0)
		return err;
	if (dict->type != FAH_MARSHAL_DICT)
		return FAH_ERR_FORMAT;
	ids = calloc(dict->items.n / 2 + 1, sizeof(*ids));
	return ids ? add_all(e, dict, ids, len) : FAH_ERR_NOMEM;
}

int fah_pstats_read(const char *path, struct fah_exact *e)
{
	_cleanup_(fah_freep) char *data = NULL;
	size_t len;
	int err = fah_file_read(path, FILE_MAX, &data, &len);

	return err < 0 ? err : fah_pstats_parse(data, len, e);
}
