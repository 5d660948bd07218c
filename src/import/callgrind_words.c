/* callgrind_words.c - see callgrind_words.h. */
#include "import/callgrind_words.h"

#include <string.h>

void fah_word_skip(const char **s, const char *end)
{
	while (*s < end && fah_word_is_space(**s))
		(*s)++;
}

bool fah_word_number(const char **s, const char *end, uint64_t *ret)
{
	const char *p = *s;
	uint64_t base = 10, n = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	for (*s = p; p < end; p++) {
		char c = *p;
		uint64_t digit = c >= '0' && c <= '9'	? (uint64_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
							: 16;

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*ret = n;
	return p > *s ? (*s = p, true) : false;
}

bool fah_word_begins(const char *s, const char *end, const char *with, const char **ret)
{
	size_t n = strlen(with);

	if ((size_t)(end - s) < n || memcmp(s, with, n) != 0)
		return false;
	*ret = s + n;
	return true;
}

size_t fah_word_count(const char *s, const char *end)
{
	size_t n = 0;

	for (fah_word_skip(&s, end); s < end; fah_word_skip(&s, end), n++)
		while (s < end && !fah_word_is_space(*s))
			s++;
	return n;
}

size_t fah_word_find_line(const char *s, const char *end)
{
	size_t n = 0;

	for (fah_word_skip(&s, end); s < end; fah_word_skip(&s, end), n++) {
		const char *word = s;

		while (s < end && !fah_word_is_space(*s))
			s++;
		if (s - word == 4 && !memcmp(word, "line", 4))
			break;
	}
	return n;
}
