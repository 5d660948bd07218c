/* callgrind_words.h - numbers and words in lines of callgrind's files; for callgrind.c only. A text
 * goes from s to end, without a NUL. */
#ifndef FAH_IMPORT_CALLGRIND_WORDS_H
#define FAH_IMPORT_CALLGRIND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool fah_word_is_space(char c)
{
	return c == ' ' || c == '\t';
}

void fah_word_skip(const char **s, const char *end); /* over spaces */
/* Digits, or hexadecimal ones behind 0x; *s is behind them then. False: none, or too large. */
bool fah_word_number(const char **s, const char *end, uint64_t *ret);
/* Does it begin so? *ret is what follows. */
bool fah_word_begins(const char *s, const char *end, const char *with, const char **ret);
size_t fah_word_count(const char *s, const char *end);
/* Which of the words is "line", from 0 on; their number: none. */
size_t fah_word_find_line(const char *s, const char *end);

#endif
