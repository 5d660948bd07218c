/*
 * term.h - what the terminal can show: columns, colour, UTF-8. Reads the environment, keeps
 * nothing.
 */
#ifndef FAH_BASE_TERM_H
#define FAH_BASE_TERM_H

#include <stdbool.h>

#define FAH_TERM_WIDTH_DEFAULT 80
#define FAH_TERM_WIDTH_MIN 20
#define FAH_TERM_WIDTH_MAX 1000

/* COLUMNS if it is a number, else what fd's terminal says, else 80; within the bounds above. */
int fah_term_width(int fd);

/* NO_COLOR not empty: no. Else FORCE_COLOR not empty: yes, unless it is 0. Else: fd is a terminal
 * and TERM is neither empty nor "dumb". */
bool fah_term_color(int fd);

/* Whether fd is a terminal whose text can be rewritten: TERM is neither empty nor "dumb". */
bool fah_term_rewrites(int fd);
/* Whether we are in fd's terminal's foreground: elsewhere a write could stop us, or mix with
 * another program's lines. */
bool fah_term_is_ours(int fd);

/* Does the locale that the environment asks for (LC_ALL, LC_CTYPE, LANG in this order) use UTF-8?
 */
bool fah_term_utf8(void);

#endif
