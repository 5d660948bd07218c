/*
 * live_screen.h - a text on the terminal that the program uses too, drawn again and again.
 *
 * In place of the one before where the program did nothing meanwhile that could show there; else
 * below, so that nothing of the program's is ever erased. Not at all while the terminal is the
 * program's: it waits for what the user types, or draws the screen itself.
 */
#ifndef FAH_CLI_LIVE_SCREEN_H
#define FAH_CLI_LIVE_SCREEN_H

#include "target/traffic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fah_strbuf;

struct fah_live_screen {
	int rows, columns; /* that the last text took, on a terminal so wide; 0: there is none */
	struct fah_traffic traffic; /* of the program, before it was drawn */
	bool has_traffic;
};

/* Whether stderr is a terminal that may be drawn on now. pid: the program. */
bool fah_live_screen_is_free(uint32_t pid);
/* As much of the text as fits; path is where the rest is. Nothing where it is not free (any more).
 */
void fah_live_screen_draw(struct fah_live_screen *s, const char *text, const char *path,
			  uint32_t pid);

/* live_fit.c: the lines of text, whole ones, that take at most max rows of so many columns. Escape
 * sequences for colours take none. The rows that they take through *ret_rows; true: that is all. */
bool fah_live_fit(struct fah_strbuf *sb, const char *text, int columns, int max, int *ret_rows);

#endif
