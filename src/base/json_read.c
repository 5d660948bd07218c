/* json_read.c - see json_read.h. Any bytes are safe to read; what is no JSON ends with an error. */
#include "base/json_read.h"

#include "base/utf8.h"
#include "core/err.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 512 /* bytes of a number that are looked at */

struct parser {
	struct fah_arena *arena;
	const char *start, *p, *end;
	const char *what; /* why it ended; NULL: it did not */
	int depth;
	bool no_memory;
};

static struct fah_json_value *value_read(struct parser *s);

static void *fail(struct parser *s, const char *what)
{
	if (!s->what)
		s->what = what;
	return NULL;
}

static void skip_space(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
		s->p++;
}

static bool take(struct parser *s, char c)
{
	skip_space(s);
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool take_word(struct parser *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

/* Four digits at s->p; -1: they are none. */
static int32_t hex4(struct parser *s)
{
	int32_t c = 0;

	if (s->end - s->p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char d = *s->p++;

		c <<= 4;
		if (d >= '0' && d <= '9')
			c |= d - '0';
		else if ((d | 32) >= 'a' && (d | 32) <= 'f')
			c |= (d | 32) - 'a' + 10;
		else
			return -1;
	}
	return c;
}

static char *put_char(char *out, int32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* Behind "\u": the character, with its second half where it is half of a pair; -1: no digits. */
static int32_t escaped_char(struct parser *s)
{
	int32_t c = hex4(s), low;
	const char *before = s->p;

	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c < 0xdc00 && take_word(s, "\\u")) {
		low = hex4(s);
		if (low >= 0xdc00 && low <= 0xdfff)
			return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		s->p = before;
	}
	return 0xfffd;
}

/* From the first backslash on: decoded, it is never longer than it stands there. */
static bool decode(struct parser *s, const char *from, size_t len, struct fah_json_text *ret)
{
	static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	char *copy = fah_arena_alloc(s->arena, len + 1), *out = copy;
	const char *end = from + len, *outer = s->end, *at;
	int32_t c;

	if (!copy) {
		s->no_memory = true;
		return false;
	}
	s->end = end; /* no escape reaches beyond the closing quote */
	for (s->p = from; s->p < end;) {
		if (*s->p != '\\') {
			*out++ = *s->p++;
			continue;
		}
		s->p++;
		at = s->p < end && *s->p ? strchr(names, *s->p) : NULL;
		if (at) {
			*out++ = meanings[at - names];
			s->p++;
			continue;
		}
		if (s->p == end || *s->p++ != 'u' || (c = escaped_char(s)) < 0) {
			s->end = outer;
			return fail(s, "a backslash that means nothing");
		}
		out = put_char(out, c);
	}
	s->end = outer;
	*ret = (struct fah_json_text){copy, (size_t)(out - copy)};
	return true;
}

/* Behind the opening quote, to behind the closing one. */
static bool string_read(struct parser *s, struct fah_json_text *ret)
{
	const char *from = s->p, *close;
	bool plain = true;

	for (close = from; close < s->end && *close != '"'; close++) {
		if ((unsigned char)*close < 0x20) {
			s->p = close;
			return fail(s, "a control character inside a string");
		}
		if (*close == '\\') {
			plain = false;
			if (++close == s->end)
				break;
		}
	}
	if (close >= s->end)
		return fail(s, "a string that does not end");
	*ret = (struct fah_json_text){from, (size_t)(close - from)};
	if (!plain && !decode(s, from, (size_t)(close - from), ret))
		return false;
	s->p = close + 1;
	return true;
}

static bool number_read(struct parser *s, double *ret)
{
	char digits[NUMBER_MAX], *end;
	size_t n = 0;

	if (take_word(s, "NaN")) {
		*ret = (double)NAN;
		return true;
	}
	*ret = s->p < s->end && *s->p == '-' ? (double)-INFINITY : (double)INFINITY;
	if (take_word(s, "Infinity") || take_word(s, "-Infinity"))
		return true;
	while (s->p + n < s->end && n < sizeof(digits) - 1 && s->p[n] &&
	       strchr("0123456789+-.eE", s->p[n])) {
		digits[n] = s->p[n];
		n++;
	}
	digits[n] = 0;
	*ret = strtod(digits, &end); /* the tool's locale has a point: main.c */
	if (!n || end != digits + n || (digits[0] != '-' && (digits[0] < '0' || digits[0] > '9')))
		return fail(s, n ? "a number that is none" : "a value is missing");
	s->p += n;
	return true;
}

/* The members of an array or object, up to its end. */
static bool members_read(struct parser *s, struct fah_json_value *of, char close)
{
	const struct fah_json_value **tail = &of->first;
	struct fah_json_text key = {"", 0};

	if (++s->depth > FAH_JSON_DEPTH)
		return fail(s, "too many brackets inside each other");
	if (take(s, close)) {
		s->depth--;
		return true;
	}
	for (;;) {
		struct fah_json_value *v;

		if (close == '}') {
			if (!take(s, '"'))
				return fail(s, "a key in quotes is missing");
			if (!string_read(s, &key))
				return false;
			if (!take(s, ':'))
				return fail(s, "a colon is missing");
		}
		v = value_read(s);
		if (!v)
			return false;
		v->key = key;
		*tail = v;
		tail = &v->next;
		of->n++;
		if (take(s, ','))
			continue;
		if (!take(s, close))
			return fail(s, close == ']' ? "a comma or ] is missing"
						    : "a comma or } is missing");
		s->depth--;
		return true;
	}
}

static bool fill(struct parser *s, struct fah_json_value *v)
{
	if (take(s, '"')) {
		v->type = FAH_JSON_STRING;
		return string_read(s, &v->string);
	}
	if (take(s, '{')) {
		v->type = FAH_JSON_OBJECT;
		return members_read(s, v, '}');
	}
	if (take(s, '[')) {
		v->type = FAH_JSON_ARRAY;
		return members_read(s, v, ']');
	}
	if (take_word(s, "null"))
		return true;
	v->truth = take_word(s, "true");
	v->type = FAH_JSON_BOOL;
	if (v->truth || take_word(s, "false"))
		return true;
	v->type = FAH_JSON_NUMBER;
	return number_read(s, &v->number);
}

static struct fah_json_value *value_read(struct parser *s)
{
	struct fah_json_value *v = fah_arena_alloc(s->arena, sizeof(*v));

	if (!v) {
		s->no_memory = true;
		return NULL;
	}
	return fill(s, v) ? v : NULL;
}

static void say_where(const struct parser *s, struct fah_json_error *ret)
{
	*ret = (struct fah_json_error){1, 1, s->what};
	for (const char *p = s->start; p < s->p; p++) {
		ret->column++;
		if (*p == '\n') {
			ret->line++;
			ret->column = 1;
		}
	}
}

int fah_json_read(struct fah_arena *arena, const char *text, size_t len,
		  const struct fah_json_value **ret, struct fah_json_error *ret_error)
{
	struct parser s = {.arena = arena, .start = text, .p = text, .end = text + len};
	struct fah_json_value *v;

	take_word(&s, "\xef\xbb\xbf");
	v = value_read(&s);
	if (v)
		skip_space(&s);
	if (v && s.p < s.end)
		v = fail(&s, "something behind the end");
	if (s.no_memory)
		return FAH_ERR_NOMEM;
	if (!v) {
		say_where(&s, ret_error);
		return FAH_ERR_FORMAT;
	}
	*ret = v;
	return 0;
}

static bool same(struct fah_json_text text, const char *s)
{
	return text.len == strlen(s) && !memcmp(text.p, s, text.len);
}

const struct fah_json_value *fah_json_get(const struct fah_json_value *object, const char *key)
{
	const struct fah_json_value *found = NULL;

	if (!object || object->type != FAH_JSON_OBJECT)
		return NULL;
	for (const struct fah_json_value *v = object->first; v; v = v->next)
		if (same(v->key, key))
			found = v;
	return found;
}

bool fah_json_is(const struct fah_json_value *value, const char *text)
{
	return value && value->type == FAH_JSON_STRING && same(value->string, text);
}
