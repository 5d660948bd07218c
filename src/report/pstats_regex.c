/*
 * pstats_regex.c - a regular expression in Python's syntax, in that of regcomp's REG_EXTENDED.
 *
 * Only whether something matches matters here, so lazy and greedy repeats are the same, and groups
 * need no numbers. Not to be had: looking ahead and behind, back references, possessive repeats,
 * \D, \W and \S inside brackets, flags other than (?i) at the beginning.
 */
#include "base/cleanup.h"
#include "report/pstats_list.h"

#include <string.h>

struct translation {
	const char *p;
	struct fah_strbuf *out;
	bool atom; /* what stands before may be repeated */
	bool ignore_case;
	int depth; /* of groups */
};

/* The number of the escape at p, two hexadecimal digits; -1: none. */
static int hex_of(const char *p)
{
	int v = 0;

	for (int i = 0; i < 2; i++) {
		const char *digits = "0123456789abcdef", *d;
		int c = p[i] >= 'A' && p[i] <= 'F' ? p[i] + 'a' - 'A' : p[i];

		d = c ? strchr(digits, c) : NULL;
		if (!d)
			return -1;
		v = v * 16 + (int)(d - digits);
	}
	return v;
}

/* A character behind a backslash that stands for one: *ret. false: it stands for no character. */
static bool plain_escape(const char **p, char *ret)
{
	static const char letters[] = "abfnrtv", meant[] = "\a\b\f\n\r\t\v";
	const char *letter;
	char c = **p;

	if (c == 'x') {
		int v = hex_of(*p + 1);

		if (v <= 0 || v >= 0x80)
			return false;
		*ret = (char)v;
		*p += 3;
		return true;
	}
	letter = c ? strchr(letters, c) : NULL;
	if (letter)
		*ret = meant[letter - letters];
	else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || !c)
		return false;
	else
		*ret = c;
	++*p;
	return true;
}

static void add_literal(struct translation *t, char c)
{
	if (c && strchr(".[]()*+?^$|\\", c))
		fah_strbuf_addf(t->out, "\\%c", c);
	else if (c == '{' || c == '}')
		fah_strbuf_addf(t->out, "[%c]", c);
	else
		fah_strbuf_addc(t->out, c);
	t->atom = true;
}

static bool escape(struct translation *t)
{
	static const struct {
		char letter;
		const char *text;
		bool atom;
	} known[] = {
		{'d', "[0-9]", true}, {'D', "[^0-9]", true}, {'w', "\\w", true},
		{'W', "\\W", true},   {'s', "\\s", true},    {'S', "\\S", true},
		{'b', "\\b", false},  {'B', "\\B", false},   {'A', "\\`", false},
		{'Z', "\\'", false},  {'z', "\\'", false},
	};
	char c;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].letter != *t->p)
			continue;
		t->p++;
		fah_strbuf_adds(t->out, known[i].text);
		t->atom = known[i].atom;
		return true;
	}
	if (!plain_escape(&t->p, &c))
		return false;
	add_literal(t, c);
	return true;
}

struct set {
	struct fah_strbuf body;
	bool bracket, opening, caret, dash; /* these have places of their own */
};

/* One character of a set; false: it stands for none. A class goes into the set at once: *ret is
 * 0. */
static bool set_member(struct translation *t, struct set *s, char *ret)
{
	static const char classes[] = "dws";
	static const char *const meant[] = {"0-9", "[:alnum:]_", "[:space:]"};
	const char *class;

	if (*t->p != '\\') {
		*ret = *t->p++;
		return *ret;
	}
	t->p++;
	class = *t->p ? strchr(classes, *t->p) : NULL;
	if (!class)
		return plain_escape(&t->p, ret);
	fah_strbuf_adds(&s->body, meant[class - classes]);
	t->p++;
	*ret = 0;
	return true;
}

static bool set_range(struct set *s, char from, char to)
{
	if (strchr("[]^-", from) || strchr("[]^-", to) || (unsigned char)from > (unsigned char)to)
		return false;
	fah_strbuf_addf(&s->body, "%c-%c", from, to);
	return true;
}

static void set_add(struct set *s, char c)
{
	if (c == ']')
		s->bracket = true;
	else if (c == '[')
		s->opening = true;
	else if (c == '^')
		s->caret = true;
	else if (c == '-')
		s->dash = true;
	else
		fah_strbuf_addc(&s->body, c);
}

static bool read_set(struct translation *t, struct set *s)
{
	bool first = true;
	char c, to;

	for (; first || *t->p != ']'; first = false) {
		if (!set_member(t, s, &c))
			return false;
		if (!c)
			continue;
		if (*t->p == '-' && t->p[1] && t->p[1] != ']') {
			t->p++;
			if (!set_member(t, s, &to) || !to || !set_range(s, c, to))
				return false;
		} else {
			set_add(s, c);
		}
	}
	t->p++;
	return true;
}

static void add_set(struct translation *t, const struct set *s, bool negative)
{
	struct fah_strbuf *out = t->out;

	t->atom = true;
	if (!negative && s->caret && !s->bracket && !s->body.len && !s->opening) {
		fah_strbuf_adds(out, s->dash ? "[-^]" : "\\^");
		return;
	}
	fah_strbuf_adds(out, negative ? "[^" : "[");
	if (s->bracket)
		fah_strbuf_addc(out, ']');
	fah_strbuf_add(out, fah_strbuf_str(&s->body), s->body.len);
	if (s->opening)
		fah_strbuf_addc(out, '[');
	if (s->caret)
		fah_strbuf_addc(out, '^');
	if (s->dash)
		fah_strbuf_addc(out, '-');
	fah_strbuf_addc(out, ']');
}

static bool bracket(struct translation *t)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf body = FAH_STRBUF_INIT;
	struct set s = {.body = body};
	bool negative = *t->p == '^', ok;

	t->p += negative;
	ok = read_set(t, &s);
	body = s.body;
	if (ok)
		add_set(t, &s, negative);
	return ok;
}

static bool group(struct translation *t, bool at_start)
{
	if (*t->p == '?') {
		if (at_start && !strncmp(t->p, "?i)", 3)) {
			t->ignore_case = true;
			t->p += 3;
			return true;
		}
		if (t->p[1] == ':') {
			t->p += 2;
		} else if (t->p[1] == 'P' && t->p[2] == '<') {
			t->p += strcspn(t->p, ">");
			if (!*t->p++)
				return false;
		} else {
			return false;
		}
	}
	fah_strbuf_addc(t->out, '(');
	t->depth++;
	t->atom = false;
	return true;
}

/* {2}, {2,}, {,5} or {2,5} at p: its length; 0: the brace is only one. */
static size_t braces(const char *p)
{
	size_t from = strspn(p + 1, "0123456789"), n = 1 + from, to = 0;

	if (p[n] == ',') {
		to = strspn(p + n + 1, "0123456789");
		n += 1 + to;
	} else if (!from) {
		return 0;
	}
	return p[n] == '}' ? n + 1 : 0;
}

static bool repeat(struct translation *t, size_t len)
{
	if (!t->atom)
		return false;
	if (*t->p == '{' && t->p[1] == ',')
		fah_strbuf_addf(t->out, "{0%.*s", (int)len - 1, t->p + 1);
	else
		fah_strbuf_add(t->out, t->p, len);
	t->p += len;
	t->p += *t->p == '?';
	t->atom = false;
	return true;
}

static bool one(struct translation *t, bool at_start)
{
	char c = *t->p;

	switch (c) {
	case '*':
	case '+':
	case '?':
		return repeat(t, 1);
	case '{':
		if (braces(t->p))
			return repeat(t, braces(t->p));
		break;
	case '\\':
		t->p++;
		return escape(t);
	case '[':
		t->p++;
		return bracket(t);
	case '(':
		t->p++;
		return group(t, at_start);
	case ')':
		t->p++;
		fah_strbuf_addc(t->out, c);
		t->atom = true;
		return --t->depth >= 0;
	case '|':
	case '^':
	case '$':
	case '.':
		t->p++;
		fah_strbuf_addc(t->out, c);
		t->atom = c == '.';
		return true;
	}
	t->p++;
	add_literal(t, c);
	return true;
}

bool fah_pstats_regex(const char *python, struct fah_strbuf *out, bool *ret_ignore_case)
{
	struct translation t = {.p = python, .out = out};

	while (*t.p)
		if (!one(&t, t.p == python))
			return false;
	*ret_ignore_case = t.ignore_case;
	return !t.depth;
}
