/*
 * line_edit.h - lines that a user types, with editing, history and completion where stdin and
 * stdout are a terminal; elsewhere the prompt is printed and a line is read, no more.
 */
#ifndef FAH_CLI_LINE_EDIT_H
#define FAH_CLI_LINE_EDIT_H

#include <stddef.h>

struct fah_words {
	char **p; /* each from malloc */
	size_t n, cap;
};

void fah_words_add(struct fah_words *w, const char *word); /* without memory: not */
void fah_words_release(struct fah_words *w);		   /* usable again after */

struct fah_line_edit {
	struct fah_words history;
	/* What could stand at line + at, where a word begins that is typed up to the line's end:
	 * whole words. May be NULL. */
	void (*complete)(void *ctx, const char *line, size_t at, struct fah_words *found);
	void *ctx;
};

/* The next line, without its end; the caller frees it. NULL: there are no more. */
char *fah_line_edit_read(struct fah_line_edit *le, const char *prompt);
void fah_line_edit_release(struct fah_line_edit *le);

#endif
