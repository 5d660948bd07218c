/*
 * line_edit.c - see line_edit.h.
 *
 * The terminal is raw only while a line is read, so that what is printed, and a stop by Ctrl-Z
 * meanwhile, find it as it was. A line that is wider than the terminal is shown around the cursor.
 * Keys are those of readline: arrows, Home, End, Delete, Ctrl-A B C D E F H K L N P U W, Tab.
 */
#include "cli/line_edit.h"

#include "base/cleanup.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "base/term.h"
#include "base/utf8.h"
#include "cli/line_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define KEY_CTRL(c) ((c)&0x1f)
#define ESCAPE 0x1b
#define DELETE 0x7f

enum key { KEY_UP = 256, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_END, KEY_DELETE, KEY_NONE };

struct line {
	struct fah_line_edit *le;
	const char *prompt;
	struct fah_line_text text;
	size_t past;	   /* which line of the history is shown; its n: the new one */
	char *kept;	   /* the new one, while another is shown */
	bool done, cancel; /* the line is complete; there are no more */
};

void fah_words_add(struct fah_words *w, const char *word)
{
	char *copy = strdup(word);

	if (copy && fah_room(&w->p, w->n, &w->cap, sizeof(*w->p)))
		w->p[w->n++] = copy;
	else
		free(copy);
}

void fah_words_release(struct fah_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->p[i]);
	free(w->p);
	*w = (struct fah_words){0};
}

void fah_line_edit_release(struct fah_line_edit *le)
{
	fah_words_release(&le->history);
}

static void go_history(struct line *l, bool back)
{
	const struct fah_words *h = &l->le->history;

	if (back ? !l->past : l->past >= h->n)
		return;
	if (l->past == h->n) {
		free(l->kept);
		l->kept = strdup(fah_line_text_str(&l->text));
	}
	l->past += back ? (size_t)-1 : 1;
	fah_line_text_replace(&l->text, l->past < h->n ? h->p[l->past] : l->kept ? l->kept : "");
}

static void say(const char *s, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, s, len);

		if (n < 0 && errno != EINTR)
			return;
		s += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void redraw(const struct line *l)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	const char *text = fah_line_text_str(&l->text);
	size_t prompt = fah_utf8_width(l->prompt, strlen(l->prompt));
	size_t room = (size_t)fah_term_width(STDOUT_FILENO) - 1, first = 0, shown;

	room = room > prompt + 10 ? room - prompt : 10;
	while (first < l->text.at && fah_utf8_width(text + first, l->text.at - first) >= room)
		first = fah_line_text_behind(&l->text, first);
	shown = fah_utf8_fit(text + first, l->text.s.len - first, room);
	fah_strbuf_addf(&sb, "\r%s", l->prompt);
	fah_strbuf_add(&sb, text + first, shown);
	fah_strbuf_addf(&sb, "\x1b[K\r\x1b[%zuC",
			prompt + fah_utf8_width(text + first, l->text.at - first));
	say(fah_strbuf_str(&sb), sb.len);
}

static int read_byte(void)
{
	unsigned char c;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &c, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? c : -1;
}

/* ESC [ A, ESC O A, ESC [ 3 ~ and their like; others are swallowed. */
static int read_escape(void)
{
	static const char letters[] = "ABCDHF";
	int c = read_byte(), number = 0;
	const char *letter;

	if (c != '[' && c != 'O')
		return KEY_NONE;
	while ((c = read_byte()) >= '0' && c <= ';')
		number = c == ';' ? 0 : number < 100 ? number * 10 + (c - '0') : number;
	if (c == '~')
		return number == 1 || number == 7   ? KEY_HOME
		       : number == 4 || number == 8 ? KEY_END
		       : number == 3		    ? KEY_DELETE
						    : KEY_NONE;
	letter = c > 0 ? strchr(letters, c) : NULL;
	return letter ? KEY_UP + (int)(letter - letters) : KEY_NONE;
}

/* The rest of a character of several bytes comes with the first. */
static void take_character(struct line *l, int first)
{
	char bytes[4] = {(char)first};
	size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1, n = 1;

	for (; n < want; n++) {
		int c = read_byte();

		if (c < 0)
			return;
		bytes[n] = (char)c;
	}
	fah_line_text_insert(&l->text, bytes, n);
}

static size_t common(const struct fah_words *w)
{
	size_t len = w->n ? strlen(w->p[0]) : 0;

	for (size_t i = 1; i < w->n; i++)
		for (size_t k = 0; k < len; k++)
			if (w->p[i][k] != w->p[0][k])
				len = k;
	return len;
}

static void list(const struct fah_words *w)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_adds(&sb, "\n");
	for (size_t i = 0; i < w->n; i++) {
		fah_strbuf_add_printable(&sb, w->p[i], strlen(w->p[i]));
		fah_strbuf_adds(&sb, i + 1 < w->n ? "  " : "\n");
	}
	say(fah_strbuf_str(&sb), sb.len);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void complete(struct line *l)
{
	struct fah_words found = {0};
	_cleanup_(fah_freep) char *line = strndup(fah_line_text_str(&l->text), l->text.at);
	size_t at = l->text.at, len;

	while (at && fah_line_text_str(&l->text)[at - 1] != ' ')
		at--;
	if (line && l->le->complete)
		l->le->complete(l->le->ctx, line, at, &found);
	if (found.n)
		qsort(found.p, found.n, sizeof(*found.p), compare);
	len = common(&found);
	if (len > l->text.at - at || found.n == 1) {
		fah_line_text_cut(&l->text, at, l->text.at);
		l->text.at = at;
		fah_line_text_insert(&l->text, found.p[0], len);
		if (found.n == 1 && found.p[0][len - (len > 0)] != '/')
			fah_line_text_insert(&l->text, " ", 1);
	} else if (found.n) {
		list(&found);
	}
	fah_words_release(&found);
}

static void take_key(struct line *l, int key)
{
	switch (key) {
	case '\r':
	case '\n':
		l->done = true;
		break;
	case -1:
		l->cancel = true;
		break;
	case KEY_CTRL('D'):
		if (!l->text.s.len)
			l->cancel = true;
		else
			fah_line_text_cut(&l->text, l->text.at,
					  fah_line_text_behind(&l->text, l->text.at));
		break;
	case KEY_DELETE:
		fah_line_text_cut(&l->text, l->text.at, fah_line_text_behind(&l->text, l->text.at));
		break;
	case KEY_CTRL('C'):
		say("^C\n", 3);
		fah_line_text_replace(&l->text, "");
		break;
	case KEY_CTRL('H'):
	case DELETE:
		fah_line_text_cut(&l->text, fah_line_text_before(&l->text, l->text.at), l->text.at);
		break;
	case KEY_CTRL('A'):
	case KEY_HOME:
		l->text.at = 0;
		break;
	case KEY_CTRL('E'):
	case KEY_END:
		l->text.at = l->text.s.len;
		break;
	case KEY_CTRL('B'):
	case KEY_LEFT:
		l->text.at = fah_line_text_before(&l->text, l->text.at);
		break;
	case KEY_CTRL('F'):
	case KEY_RIGHT:
		l->text.at = fah_line_text_behind(&l->text, l->text.at);
		break;
	case KEY_CTRL('P'):
	case KEY_UP:
		go_history(l, true);
		break;
	case KEY_CTRL('N'):
	case KEY_DOWN:
		go_history(l, false);
		break;
	case KEY_CTRL('K'):
		fah_line_text_cut(&l->text, l->text.at, l->text.s.len);
		break;
	case KEY_CTRL('U'):
		fah_line_text_cut(&l->text, 0, l->text.at);
		break;
	case KEY_CTRL('W'):
		fah_line_text_cut(&l->text, fah_line_text_word(&l->text), l->text.at);
		break;
	case KEY_CTRL('L'):
		say("\x1b[H\x1b[2J", 7);
		break;
	case '\t':
		complete(l);
		break;
	default:
		if (key >= 0x20 && key < 256)
			take_character(l, key);
	}
}

static char *read_terminal(struct fah_line_edit *le, const char *prompt)
{
	struct line l = {.le = le, .prompt = prompt, .past = le->history.n};
	struct termios was, raw;

	if (tcgetattr(STDIN_FILENO, &was) < 0)
		return NULL;
	raw = was;
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	while (!l.done && !l.cancel) {
		int key;

		redraw(&l);
		key = read_byte();
		take_key(&l, key == ESCAPE ? read_escape() : key);
	}
	l.text.at = l.text.s.len;
	redraw(&l);
	if (l.done)
		say("\n", 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &was);
	free(l.kept);
	if (l.cancel) {
		fah_strbuf_release(&l.text.s);
		return NULL;
	}
	if (l.text.s.len)
		fah_words_add(&le->history, fah_line_text_str(&l.text));
	return l.text.s.p ? fah_strbuf_take(&l.text.s) : strdup("");
}

char *fah_line_edit_read(struct fah_line_edit *le, const char *prompt)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (isatty(STDIN_FILENO) && fah_term_rewrites(STDOUT_FILENO))
		return read_terminal(le, prompt);
	fputs(prompt, stdout);
	fflush(stdout);
	n = getline(&line, &cap, stdin);
	if (n < 0) {
		free(line);
		return NULL;
	}
	if (n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	return line;
}
