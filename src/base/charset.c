/* charset.c - see charset.h. */
#include "base/charset.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_BYTES 64
#define UNKNOWN 0xfffd /* the replacement character */

struct fah_charset {
	const uint16_t *high;  /* of bytes from 0x80 on; 0: none, or the first of several */
	const uint16_t *pairs; /* by row; 0: none. NULL: always one byte */
	uint8_t lead_first, lead_last, trail_first, trail_last;
};

struct charset_name {
	const char *name;
	uint16_t index;
};

/* Needs both structs. */
#include "generated/charset_table.h"

/* Small letters and digits, '_' for whatever lies between them. */
static size_t normalize(const char *name, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + ('a' - 'A'));
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			ret[n++] = c;
		else if (n && ret[n - 1] != '_')
			ret[n++] = '_';
	}
	while (n && ret[n - 1] == '_')
		n--;
	ret[n] = '\0';
	return n;
}

/* As the tokenizer has it: latin-1-unix, as Emacs writes it. */
static bool is_latin1(const char *name)
{
	static const char *const all[] = {"latin_1", "iso_8859_1", "iso_latin_1"};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t n = strlen(all[i]);

		if (!strncmp(name, all[i], n) && (!name[n] || name[n] == '_'))
			return true;
	}
	return false;
}

const struct fah_charset *fah_charset_find(const char *name, size_t len)
{
	char plain[NAME_MAX_BYTES + 1];

	if (len > NAME_MAX_BYTES || !normalize(name, len, plain))
		return NULL;
	if (is_latin1(plain))
		memcpy(plain, "latin_1", sizeof("latin_1"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, plain))
			return &charsets[names[i].index];
	return NULL;
}

static bool within(uint8_t c, uint8_t first, uint8_t last)
{
	return c >= first && c <= last;
}

static uint32_t pair(const struct fah_charset *cs, uint8_t lead, uint8_t trail)
{
	size_t columns = (size_t)cs->trail_last - cs->trail_first + 1;

	if (!within(lead, cs->lead_first, cs->lead_last) ||
	    !within(trail, cs->trail_first, cs->trail_last))
		return 0;
	return cs->pairs[(size_t)(lead - cs->lead_first) * columns + trail - cs->trail_first];
}

/* GB 18030 in four bytes: rows of 10 * 126 * 10. Above U+FFFF they follow one another; those below
 * are what GBK left out, without a rule: Chinese texts hardly have them. */
static uint32_t four(const uint8_t *p)
{
	uint32_t c = 0x10000 + ((p[0] - 0x90u) * 10 + (p[1] - 0x30u)) * 1260 + (p[2] - 0x81u) * 10 +
		     (p[3] - 0x30u);

	return p[0] < 0x90 || c > 0x10ffff ? UNKNOWN : c;
}

/* The character at p, outside ASCII, and its length. */
static uint32_t character(const struct fah_charset *cs, const uint8_t *p, size_t len,
			  size_t *ret_len)
{
	uint32_t c = cs->high[p[0] - 0x80];

	*ret_len = 1;
	if (c)
		return c;
	if (!cs->pairs || len < 2)
		return UNKNOWN;
	c = pair(cs, p[0], p[1]);
	if (c) {
		*ret_len = 2;
		return c;
	}
	if (cs->pairs == pairs_gb18030 && len >= 4 && within(p[0], 0x81, 0xfe) &&
	    within(p[1], '0', '9') && within(p[2], 0x81, 0xfe) && within(p[3], '0', '9')) {
		*ret_len = 4;
		return four(p);
	}
	if (cs->pairs == pairs_euc_jp && len >= 3 && p[0] == 0x8f && p[1] >= 0xa1 && p[2] >= 0xa1)
		*ret_len = 3; /* the supplementary set: rare, and as large as the other */
	return UNKNOWN;
}

void fah_charset_decode(const struct fah_charset *cs, struct fah_strbuf *sb, const char *text,
			size_t len)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + len, *plain;
	size_t n;

	while (p < end && !sb->failed) {
		for (plain = p; p < end && *p < 0x80; p++)
			;
		fah_strbuf_add(sb, plain, (size_t)(p - plain));
		if (p < end) {
			fah_utf8_add(sb, character(cs, p, (size_t)(end - p), &n));
			p += n;
		}
	}
}
