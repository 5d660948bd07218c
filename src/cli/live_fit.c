/* live_fit.c - how many rows of a terminal a text takes: see live_screen.h. Pure. */
#include "cli/live_screen.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#include <string.h>

/* Behind an escape sequence that starts at p ("\033[31m"). */
static const char *behind_escape(const char *p, const char *end)
{
	while (p < end && *p != 'm')
		p++;
	return p < end ? p + 1 : end;
}

static size_t width_of(const char *line, size_t len)
{
	const char *end = line + len;
	size_t width = 0;

	while (line < end) {
		const char *escape = memchr(line, '\033', (size_t)(end - line));
		const char *to = escape ? escape : end;

		width += fah_utf8_width(line, (size_t)(to - line));
		line = escape ? behind_escape(escape, end) : end;
	}
	return width;
}

bool fah_live_fit(struct fah_strbuf *sb, const char *text, int columns, int max, int *ret_rows)
{
	int rows = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), width = width_of(text, len);
		size_t takes = width ? (width + (size_t)columns - 1) / (size_t)columns : 1;

		if (takes > (size_t)(max - rows))
			break;
		rows += (int)takes;
		fah_strbuf_add(sb, text, len);
		fah_strbuf_addc(sb, '\n');
		text += len + (text[len] == '\n');
	}
	*ret_rows = rows;
	return !*text;
}
