/* nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static uint8_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return (uint8_t)(m < c ? m : c);
}

size_t fah_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uint8_t rows[3][FAH_NEAREST_FAR + 1], *before = rows[0], *last = rows[1], *row = rows[2],
					      *t;

	if (a_len >= FAH_NEAREST_FAR || b_len >= FAH_NEAREST_FAR)
		return FAH_NEAREST_FAR;
	memset(rows, 0, sizeof(rows));
	for (size_t j = 0; j <= b_len; j++)
		last[j] = (uint8_t)j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_len; j++) {
			int differ = lower(a[i - 1]) != lower(b[j - 1]);

			row[j] = least(last[j] + 1u, row[j - 1] + 1u, last[j - 1] + (size_t)differ);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1u < row[j])
				row[j] = (uint8_t)(before[j - 2] + 1u);
		}
		t = before;
		before = last;
		last = row;
		row = t;
	}
	return last[b_len];
}
