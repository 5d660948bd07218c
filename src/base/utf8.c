/*
 * utf8.c - UTF-8 text in columns of a terminal. Own tables, because wcwidth knows only what the
 * locale of the moment knows, and reports must not depend on it.
 */
#include "base/utf8.h"

struct range {
	int32_t first, last;
};

/* Needs struct range. */
#include "base/width_table.h"

static bool in_table(int32_t c, const struct range *table, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c > table[mid].last)
			low = mid + 1;
		else if (c < table[mid].first)
			high = mid;
		else
			return true;
	}
	return false;
}

int32_t fah_utf8_decode(const char *s, size_t len, size_t *ret_len)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *p = (const uint8_t *)s;
	size_t n, i;
	int32_t c;

	*ret_len = 1;
	if (p[0] < 0x80)
		return p[0];
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return -1;
	c = p[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	*ret_len = n;
	return c;
}

void fah_utf8_add(struct fah_strbuf *sb, uint32_t c)
{
	if (c < 0x80) {
		fah_strbuf_addc(sb, (char)c);
		return;
	}
	if (c < 0x800) {
		fah_strbuf_addc(sb, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			fah_strbuf_addc(sb, (char)(0xe0 | c >> 12));
		} else {
			fah_strbuf_addc(sb, (char)(0xf0 | c >> 18));
			fah_strbuf_addc(sb, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		fah_strbuf_addc(sb, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	fah_strbuf_addc(sb, (char)(0x80 | (c & 0x3f)));
}

int fah_char_width(int32_t c)
{
	if (c < 0)
		return 1;
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return 0;
	if (c < 0x300 && c != 0xad)
		return 1;
	if (in_table(c, zero_width, sizeof(zero_width) / sizeof(*zero_width)))
		return 0;
	return in_table(c, double_width, sizeof(double_width) / sizeof(*double_width)) ? 2 : 1;
}

size_t fah_utf8_width(const char *s, size_t len)
{
	size_t i, n, width = 0;

	for (i = 0; i < len; i += n)
		width += (size_t)fah_char_width(fah_utf8_decode(s + i, len - i, &n));
	return width;
}

size_t fah_utf8_fit(const char *s, size_t len, size_t columns)
{
	size_t i, n, width = 0;

	for (i = 0; i < len; i += n) {
		width += (size_t)fah_char_width(fah_utf8_decode(s + i, len - i, &n));
		if (width > columns)
			break;
	}
	return i;
}

static const char *ellipsis(bool ascii, size_t columns, size_t *ret_columns)
{
	static const char *const dots[] = {"", ".", "..", "..."};

	*ret_columns = columns < 3 ? columns : 3;
	if (ascii)
		return dots[*ret_columns];
	*ret_columns = columns ? 1 : 0;
	return columns ? "\xe2\x80\xa6" : "";
}

void fah_utf8_cut(struct fah_strbuf *sb, const char *s, size_t len, size_t columns, bool ascii)
{
	const char *dots;
	size_t taken;

	if (fah_utf8_width(s, len) <= columns) {
		fah_strbuf_add(sb, s, len);
		return;
	}
	dots = ellipsis(ascii, columns, &taken);
	fah_strbuf_add(sb, s, fah_utf8_fit(s, len, columns - taken));
	fah_strbuf_adds(sb, dots);
}

void fah_utf8_cut_tail(struct fah_strbuf *sb, const char *s, size_t len, size_t columns, bool ascii)
{
	size_t width = fah_utf8_width(s, len), taken, i, n;
	const char *dots;

	if (width <= columns) {
		fah_strbuf_add(sb, s, len);
		return;
	}
	dots = ellipsis(ascii, columns, &taken);
	for (i = 0; i < len && width > columns - taken; i += n)
		width -= (size_t)fah_char_width(fah_utf8_decode(s + i, len - i, &n));
	/* Marks of the character that was cut off go with it. */
	while (i < len && fah_char_width(fah_utf8_decode(s + i, len - i, &n)) == 0)
		i += n;
	fah_strbuf_adds(sb, dots);
	fah_strbuf_add(sb, s + i, len - i);
}

void fah_utf8_pad_left(struct fah_strbuf *sb, const char *s, size_t len, size_t columns)
{
	size_t width = fah_utf8_width(s, len);

	fah_strbuf_add(sb, s, len);
	fah_strbuf_fill(sb, ' ', width < columns ? columns - width : 0);
}

void fah_utf8_pad_right(struct fah_strbuf *sb, const char *s, size_t len, size_t columns)
{
	size_t width = fah_utf8_width(s, len);

	fah_strbuf_fill(sb, ' ', width < columns ? columns - width : 0);
	fah_strbuf_add(sb, s, len);
}

void fah_utf8_to_ascii(struct fah_strbuf *sb, const char *s, size_t len)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		int32_t c = fah_utf8_decode(s + i, len - i, &n);

		if (c >= 0 && c < 0x80)
			fah_strbuf_addc(sb, (char)c);
		else
			fah_strbuf_fill(sb, '?', (size_t)fah_char_width(c));
	}
}
