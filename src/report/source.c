/*
 * source.c - source lines for a table.
 */
#include "report/source.h"

#include "base/file.h"
#include "base/utf8.h"
#include "core/err.h"
#include "core/time.h"
#include "model/source_text.h"

#include <string.h>
#include <sys/stat.h>

#define SOURCE_MAX (256u << 20)
#define TAB 8
#define LINE_MAX_BYTES 4096 /* of a line that are looked at: more than any table shows */

static int find_lines(struct fah_source *s)
{
	size_t n = 0, i;

	fah_source_text_newlines(s->data, &s->len);
	for (i = 0; i < s->len; i++)
		n += s->data[i] == '\n';
	n += s->len && s->data[s->len - 1] != '\n';
	s->starts = calloc(n + 1, sizeof(*s->starts));
	if (!s->starts) {
		fah_source_release(s);
		return FAH_ERR_NOMEM;
	}
	s->n_lines = n;
	for (i = 0, n = 1; i + 1 < s->len; i++)
		if (s->data[i] == '\n')
			s->starts[n++] = i + 1;
	s->starts[s->n_lines] = s->len;
	return 0;
}

int fah_source_init(struct fah_source *s, const char *path, uint64_t since_ns)
{
	struct stat st;

	*s = (struct fah_source){0};
	if (path[0] != '/' || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (fah_file_read_regular(path, SOURCE_MAX, &s->data, &s->len) < 0)
		return 0;
	if (fah_source_text_decode(&s->data, &s->len) < 0) {
		fah_source_release(s);
		return FAH_ERR_NOMEM;
	}
	s->newer = since_ns && fah_timespec_ns(st.st_mtim) > since_ns;
	return find_lines(s);
}

int fah_source_of_text(struct fah_source *s, const char *text)
{
	*s = (struct fah_source){.data = strdup(text), .len = strlen(text)};
	return s->data ? find_lines(s) : FAH_ERR_NOMEM;
}

void fah_source_release(struct fah_source *s)
{
	free(s->data);
	free(s->starts);
	*s = (struct fah_source){0};
}

static bool is_utf8(const char *p, size_t len)
{
	size_t n;

	for (; len; p += n, len -= n)
		if (fah_utf8_decode(p, len, &n) < 0)
			return false;
	return true;
}

/* Tabs to spaces, what is no UTF-8 as Latin-1, form feeds and other controls to a space. */
static void expand(struct fah_strbuf *sb, const char *p, size_t len)
{
	bool utf8 = is_utf8(p, len);
	size_t column = 0, n;

	for (; len; p += n, len -= n) {
		unsigned char c = (unsigned char)*p;

		n = 1;
		if (c == '\t') {
			size_t to = (column / TAB + 1) * TAB;

			fah_strbuf_fill(sb, ' ', to - column);
			column = to;
		} else if (c < 0x20 || c == 0x7f) {
			fah_strbuf_addc(sb, ' ');
			column++;
		} else if (c < 0x80) {
			fah_strbuf_addc(sb, (char)c);
			column++;
		} else if (utf8) {
			int32_t u = fah_utf8_decode(p, len, &n);

			if (u >= 0x80 && u < 0xa0) { /* C1 controls */
				fah_strbuf_addc(sb, ' ');
				column++;
			} else {
				fah_strbuf_add(sb, p, n);
				column += (size_t)fah_char_width(u);
			}
		} else if (c < 0xa0) {
			fah_strbuf_addc(sb, '?');
			column++;
		} else {
			fah_strbuf_addc(sb, (char)(0xc0 | c >> 6));
			fah_strbuf_addc(sb, (char)(0x80 | (c & 0x3f)));
			column++;
		}
	}
}

void fah_source_line(const struct fah_source *s, uint32_t number, struct fah_strbuf *out,
		     size_t columns, bool ascii)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *p;
	size_t len;

	if (!number || number > s->n_lines)
		return;
	p = s->data + s->starts[number - 1];
	len = s->starts[number] - s->starts[number - 1];
	while (len && (p[len - 1] == '\n' || p[len - 1] == ' ' || p[len - 1] == '\t'))
		len--;
	if (len > LINE_MAX_BYTES) {
		len = LINE_MAX_BYTES;
		while (len && ((unsigned char)p[len] & 0xc0) == 0x80) /* between characters */
			len--;
	}
	expand(&sb, p, len);
	if (sb.failed)
		out->failed = true;
	else if (sb.len)
		fah_utf8_cut(out, sb.p, sb.len, columns, ascii);
	fah_strbuf_release(&sb);
}
