/*
 * strings.c - str and bytes objects.
 *
 * A str holds 1, 2 or 4 bytes a character, behind a head whose length depends on whether all of it
 * is ASCII. It is read piece by piece, so that no length from the target needs room here.
 */
#include "core/err.h"
#include "cpython/layout.h"

#include <string.h>

#define STR_MAX (1u << 30)
#define PIECE 512 /* bytes read at once; a multiple of 4 */

/* The UTF-8 of one character to buf; its length, 0 where it does not fit. */
static size_t put_utf8(uint32_t c, char *buf, size_t room)
{
	uint8_t b[4];
	size_t n;

	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	if (c < 0x80) {
		n = 1;
		b[0] = (uint8_t)c;
	} else if (c < 0x800) {
		n = 2;
		b[0] = (uint8_t)(0xc0 | c >> 6);
		b[1] = (uint8_t)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		n = 3;
		b[0] = (uint8_t)(0xe0 | c >> 12);
		b[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		b[2] = (uint8_t)(0x80 | (c & 0x3f));
	} else {
		n = 4;
		b[0] = (uint8_t)(0xf0 | c >> 18);
		b[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		b[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		b[3] = (uint8_t)(0x80 | (c & 0x3f));
	}
	if (n > room)
		return 0;
	memcpy(buf, b, n);
	return n;
}

/* Where the characters of str stand, how many there are and of how many bytes. */
static int find_chars(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t str,
		      uint64_t *ret_data, uint64_t *ret_length, uint32_t *ret_width)
{
	uint64_t length, data;
	uint32_t state, width;
	const struct fah_piece pieces[] = {
		{&length, str + layout->str_length, 8},
		{&state, str + layout->str_state, 4},
	};

	if (str == 0 || mem->read(mem, pieces, 2) != 2)
		return FAH_ERR_FAULT;
	width = state >> layout->str_kind_shift & 7;
	if ((width != 1 && width != 2 && width != 4) || length > STR_MAX)
		return FAH_ERR_RANGE;
	if ((state >> layout->str_compact_shift & 1) == 0) {
		if (fah_load(mem, str + layout->str_data_any, &data, 8) < 0 || data == 0)
			return FAH_ERR_FAULT;
	} else if (state >> layout->str_ascii_shift & 1) {
		if (width != 1)
			return FAH_ERR_RANGE;
		data = str + layout->str_ascii_size;
	} else {
		data = str + layout->str_compact_size;
	}
	*ret_data = data;
	*ret_length = length;
	*ret_width = width;
	return 0;
}

int fah_py_read_str(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t str,
		    char *buf, size_t cap)
{
	uint8_t piece[PIECE];
	uint64_t data, length;
	uint32_t width;
	size_t used = 0;
	int err = find_chars(mem, layout, str, &data, &length, &width);

	if (err < 0)
		return err;
	if (cap > INT32_MAX)
		cap = INT32_MAX;
	while (length > 0 && used < cap) {
		size_t chars = PIECE / width;

		if (chars > length)
			chars = (size_t)length;
		if (chars > cap - used) /* each character is at least one byte of UTF-8 */
			chars = cap - used;
		if (fah_load(mem, data, piece, chars * width) < 0)
			return FAH_ERR_FAULT;
		for (size_t i = 0; i < chars; i++) {
			uint32_t c = 0;
			size_t n;

			memcpy(&c, piece + i * width, width); /* little-endian, as the target */
			n = put_utf8(c, buf + used, cap - used);
			if (n == 0)
				return (int)used;
			used += n;
		}
		data += chars * width;
		length -= chars;
	}
	return (int)used;
}

int fah_py_bytes_span(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t bytes,
		      size_t max, uint64_t *ret_data, size_t *ret_len)
{
	uint64_t size;

	if (bytes == 0 || fah_load(mem, bytes + layout->ob_size, &size, 8) < 0)
		return FAH_ERR_FAULT;
	if (size > max)
		return FAH_ERR_RANGE;
	*ret_data = bytes + layout->bytes_data;
	*ret_len = (size_t)size;
	return 0;
}
