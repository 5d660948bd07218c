/* toml_string.c - strings in their four forms, and keys. */
#include "base/toml_parser.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "core/err.h"

#include <string.h>

static bool starts(const struct fah_toml_parser *ps, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(ps->end - ps->p) >= n && !memcmp(ps->p, s, n);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \uXXXX, \UXXXXXXXX, at its first digit. */
static int code_point(struct fah_toml_parser *ps, struct fah_strbuf *sb, int digits)
{
	const char *begin = ps->p - 2;
	uint32_t c = 0;

	for (int i = 0; i < digits; i++, ps->p++) {
		int v = hex_digit(*ps->p);

		if (v < 0)
			return fah_toml_fail(ps, begin, "\\%c needs %d hexadecimal digits",
					     begin[1], digits);
		c = c << 4 | (uint32_t)v;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return fah_toml_fail(ps, begin, "\\%c%0*X is no Unicode character", begin[1],
				     digits, (unsigned)c);
	fah_utf8_add(sb, c);
	return 0;
}

/* A backslash at the end of a line takes away all white space up to the next character. */
static bool line_continues(struct fah_toml_parser *ps)
{
	const char *p = ps->p + 1;

	while (*p == ' ' || *p == '\t')
		p++;
	if (*p != '\n')
		return false;
	while (*p == ' ' || *p == '\t' || *p == '\n')
		p++;
	ps->p = p;
	return true;
}

static int escape(struct fah_toml_parser *ps, struct fah_strbuf *sb, bool many_lines)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	const char *found;
	char c;

	if (many_lines && line_continues(ps))
		return 0;
	c = ps->p[1];
	found = c ? strchr(from, c) : NULL;
	if (found) {
		ps->p += 2;
		fah_strbuf_addc(sb, to[found - from]);
		return 0;
	}
	if (c == 'u' || c == 'U') {
		ps->p += 2;
		return code_point(ps, sb, c == 'u' ? 4 : 8);
	}
	return fah_toml_fail(ps, ps->p,
			     "a backslash in a string stands before one of b t n f r \" \\ u U "
			     "('...' has none of it)");
}

static int unterminated(struct fah_toml_parser *ps, const char *begin, const char *quotes)
{
	return fah_toml_fail(ps, begin, "a string that does not end: %s is missing", quotes);
}

/* From behind the opening quotes to behind the closing ones. */
static int text_of(struct fah_toml_parser *ps, struct fah_strbuf *sb, const char *quotes)
{
	bool many_lines = quotes[1] != 0;
	const char *begin = ps->p - strlen(quotes);
	int err;

	if (many_lines && *ps->p == '\n')
		ps->p++;
	for (;;) {
		if (ps->p >= ps->end || (!many_lines && *ps->p == '\n'))
			return unterminated(ps, begin, quotes);
		if (starts(ps, quotes)) {
			ps->p += strlen(quotes);
			/* Up to two more quotes belong to the text: """a""""" */
			for (int i = 0; many_lines && i < 2 && *ps->p == *quotes; i++)
				fah_strbuf_addc(sb, *ps->p++);
			return 0;
		}
		if (*ps->p == '\\' && *quotes == '"') {
			err = escape(ps, sb, many_lines);
			if (err < 0)
				return err;
			continue;
		}
		if (fah_toml_is_control(*ps->p) && *ps->p != '\n')
			return fah_toml_fail(ps, ps->p,
					     "the control character 0x%02x may not stand in a "
					     "string as it is",
					     (unsigned char)*ps->p);
		fah_strbuf_addc(sb, *ps->p++);
	}
}

int fah_toml_string(struct fah_toml_parser *ps, bool one_line, const char **ret, size_t *ret_len)
{
	static const char *const forms[] = {"\"\"\"", "'''", "\"", "'"};
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *quotes = NULL;
	int err;

	for (int i = 0; i < 4 && !quotes; i++)
		if (starts(ps, forms[i]))
			quotes = forms[i];
	if (one_line && quotes[1])
		return fah_toml_fail(ps, ps->p, "a key has one quote on each side, not three");
	ps->p += strlen(quotes);
	err = text_of(ps, &sb, quotes);
	if (err == 0) {
		*ret = sb.failed ? NULL : fah_arena_strndup(ps->arena, fah_strbuf_str(&sb), sb.len);
		*ret_len = sb.len;
		err = *ret ? 0 : FAH_ERR_NOMEM;
	}
	fah_strbuf_release(&sb);
	return err;
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static int key_part(struct fah_toml_parser *ps, struct fah_toml_part *part)
{
	size_t n;

	part->at = ps->p;
	if (*ps->p == '"' || *ps->p == '\'')
		return fah_toml_string(ps, true, &part->s, &part->len);
	while (is_bare(*ps->p))
		ps->p++;
	part->len = (size_t)(ps->p - part->at);
	if (!part->len) {
		if (ps->p >= ps->end || *ps->p == '\n')
			return fah_toml_fail(ps, ps->p, "a key is missing");
		fah_utf8_decode(ps->p, (size_t)(ps->end - ps->p), &n);
		return fah_toml_fail(ps, ps->p,
				     "'%s' where a key should stand; one without quotes has "
				     "letters a-z, A-Z, digits, _ and -",
				     fah_toml_show(ps->p, n).s);
	}
	part->s = fah_arena_strndup(ps->arena, part->at, part->len);
	return part->s ? 0 : FAH_ERR_NOMEM;
}

int fah_toml_key(struct fah_toml_parser *ps, struct fah_toml_part *parts, int *ret_n)
{
	for (int n = 0;; n++) {
		int err;

		if (n == FAH_TOML_DEPTH_MAX)
			return fah_toml_fail(ps, ps->p, "a key of more than %d parts",
					     FAH_TOML_DEPTH_MAX);
		err = key_part(ps, &parts[n]);
		if (err < 0)
			return err;
		fah_toml_skip_blanks(ps);
		if (*ps->p != '.') {
			*ret_n = n + 1;
			return 0;
		}
		ps->p++;
		fah_toml_skip_blanks(ps);
	}
}
