/* pstats_text.c - texts and numbers as Python counts and shows them. */
#include "base/utf8.h"
#include "report/pstats_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The character at s, also a lone surrogate; a byte that is none gives U+DC80 to U+DCFF, as Python
 * has it. */
static int32_t character(const char *s, size_t len, size_t *ret_len)
{
	const unsigned char *p = (const unsigned char *)s;
	int32_t c = fah_utf8_decode(s, len, ret_len);

	if (c >= 0)
		return c;
	if (len >= 3 && p[0] == 0xed && p[1] >= 0xa0 && p[1] <= 0xb1 && (p[2] & 0xc0) == 0x80) {
		*ret_len = 3;
		return 0xd000 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
	}
	return 0xdc00 | p[0];
}

size_t fah_pstats_len(const char *s)
{
	size_t len = strlen(s), count = 0, n;

	for (; len; s += n, len -= n, count++)
		character(s, len, &n);
	return count;
}

static bool is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

static bool is_surrogate(int32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

void fah_pstats_add_name(struct fah_strbuf *sb, const char *s)
{
	size_t len = strlen(s), n;

	for (; len; s += n, len -= n) {
		int32_t c = character(s, len, &n);

		if (is_control(c))
			fah_strbuf_addf(sb, "\\x%02x", (unsigned)c);
		else if (is_surrogate(c))
			fah_strbuf_addf(sb, "\\u%04x", (unsigned)c);
		else
			fah_strbuf_add(sb, s, n);
	}
}

void fah_pstats_add_repr(struct fah_strbuf *sb, const char *s)
{
	char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
	size_t len = strlen(s), n;

	fah_strbuf_addc(sb, quote);
	for (; len; s += n, len -= n) {
		int32_t c = character(s, len, &n);

		if (c == quote || c == '\\')
			fah_strbuf_addf(sb, "\\%c", (char)c);
		else if (c == '\n' || c == '\t' || c == '\r')
			fah_strbuf_adds(sb, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
		else if (is_control(c) || c == 0xa0 || c == 0xad)
			fah_strbuf_addf(sb, "\\x%02x", (unsigned)c);
		else if (is_surrogate(c))
			fah_strbuf_addf(sb, "\\u%04x", (unsigned)c);
		else
			fah_strbuf_add(sb, s, n);
	}
	fah_strbuf_addc(sb, quote);
}

/* The fewest digits that give the same number again. */
void fah_pstats_add_float(struct fah_strbuf *sb, double v)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	fah_strbuf_adds(sb, text);
	if (!strpbrk(text, ".en"))
		fah_strbuf_adds(sb, ".0");
}
