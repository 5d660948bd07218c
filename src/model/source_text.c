/* source_text.c - see source_text.h. */
#include "model/source_text.h"

#include "base/charset.h"
#include "base/strbuf.h"
#include "core/err.h"

#include <stdlib.h>
#include <string.h>

#define BOM "\xef\xbb\xbf"
#define COOKIE "coding"
#define COOKIE_LINES 2

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

/* The encoding that a comment names, from p up to end: `coding: NAME` or `coding=NAME`. NULL: none.
 */
static const char *cookie(const char *p, const char *end, size_t *ret_len)
{
	const size_t n = sizeof(COOKIE) - 1;
	const char *name;

	while ((p = memmem(p, (size_t)(end - p), COOKIE, n)) != NULL) {
		p += n;
		if (p == end || (*p != ':' && *p != '='))
			continue;
		for (name = p + 1; name < end && (*name == ' ' || *name == '\t'); name++)
			;
		for (p = name; p < end && name_char(*p); p++)
			;
		if (p > name) {
			*ret_len = (size_t)(p - name);
			return name;
		}
	}
	return NULL;
}

/* In the first comment of the first two lines; the second only counts behind a line without code.
 */
static const char *find_cookie(const char *p, const char *end, size_t *ret_len)
{
	for (int i = 0; i < COOKIE_LINES && p < end; i++) {
		const char *stop = p, *found;

		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		while (p < stop && (*p == ' ' || *p == '\t' || *p == '\f'))
			p++;
		if (p < stop && *p != '#')
			return NULL;
		found = cookie(p, stop, ret_len);
		if (found)
			return found;
		p = stop + (end - stop >= 2 && stop[0] == '\r' && stop[1] == '\n') + (stop < end);
	}
	return NULL;
}

int fah_source_text_decode(char **data, size_t *len)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const struct fah_charset *charset = NULL;
	const char *name;
	char *text;
	size_t n;

	if (*len >= 3 && !memcmp(*data, BOM, 3)) { /* says UTF-8, and has the last word */
		memmove(*data, *data + 3, *len - 3 + 1);
		*len -= 3;
		return 0;
	}
	name = find_cookie(*data, *data + *len, &n);
	if (name)
		charset = fah_charset_find(name, n);
	if (!charset)
		return 0;
	fah_charset_decode(charset, &sb, *data, *len);
	n = sb.len;
	text = fah_strbuf_take(&sb);
	if (!text)
		return FAH_ERR_NOMEM;
	free(*data);
	*data = text;
	*len = n;
	return 0;
}

void fah_source_text_newlines(char *data, size_t *len)
{
	char *from = memchr(data, '\r', *len), *end = data + *len, *to = from;

	if (!from)
		return;
	for (; from < end; from++) {
		if (*from != '\r')
			*to++ = *from;
		else if (from[1] != '\n')
			*to++ = '\n';
	}
	*to = '\0';
	*len = (size_t)(to - data);
}
