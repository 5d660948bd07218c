/*
 * text.h - one line at a time: collected in UTF-8, then written as the options ask.
 *
 * A line is measured before colours are added to it, so add colour last and never measure after.
 */
#ifndef FAH_REPORT_TEXT_H
#define FAH_REPORT_TEXT_H

#include "base/strbuf.h"
#include "report/report.h"

/* What lines and trees are drawn with. */
struct fah_glyphs {
	const char *vertical, *top, *bottom; /* of a table: beside a row, above it, below it */
	const char *rule, *cross, *over;     /* below the head, its crossings; above a word */
	const char *branch, *last, *pass;    /* of a tree, 3 columns each */
	const char *plus_minus;
	const char *heights[9]; /* of a line of small bars: none at all up to full */
};

enum fah_colour {
	FAH_PLAIN,
	FAH_BOLD,
	FAH_HOT,
	FAH_WARM,
	/* Backgrounds, for boxes: of enum fah_call_tone, in its order. */
	FAH_BOX_OTHER,
	FAH_BOX_PYTHON,
	FAH_BOX_NATIVE,
	FAH_BOX_SYSTEM,
	FAH_BOX_WAITING,
};

struct fah_text {
	FILE *out; /* borrowed */
	const struct fah_report_options *o;
	const struct fah_glyphs *g;
	struct fah_strbuf line;
	int width;   /* always > 0 */
	bool failed; /* memory ended: the text has gaps */
};

void fah_text_init(struct fah_text *t, FILE *out, const struct fah_report_options *o);
/* 0, FAH_ERR_NOMEM, or FAH_ERR_SYS where the stream failed. */
int fah_text_finish(struct fah_text *t);

/* The line so far and a newline; trailing spaces go. */
void fah_text_end(struct fah_text *t);
/* A whole line, formatted. */
void fah_text_put(struct fah_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* n times a glyph, as a line's next part. */
void fah_text_repeat(struct fah_text *t, const char *glyph, int n);
/* Columns of the line so far. */
int fah_text_column(const struct fah_text *t);
/* Add text in a colour, where colours are wanted. */
void fah_text_paint(struct fah_text *t, enum fah_colour colour, const char *text);
/* The colour of a share of the run. */
enum fah_colour fah_text_heat(double share);
/* A paragraph, broken at spaces so that it fits; its further lines are indented by two. */
void fah_text_wrap(struct fah_text *t, const char *paragraph);

/* Text from outside made harmless: control characters and bad UTF-8 written as escapes. The caller
 * releases *sb. */
void fah_text_clean(struct fah_strbuf *sb, const char *s);

/* The same of a file's path; of a notebook's cell: "/dir/x.ipynb, cell 4". */
void fah_text_file(struct fah_strbuf *sb, const char *path);
/* The same of a place, short: "x.py:12", "cell 4, line 2". */
void fah_text_place(struct fah_strbuf *sb, const char *path, uint32_t line);

struct fah_share {
	char s[24];
};
/* "70.6%" with 1 decimal, "71%" with 0; the same in every locale. */
struct fah_share fah_share_text(double share, int decimals);

/* The same as seconds of the run, "9.308s", where the options ask for it. */
struct fah_share fah_cost_text(const struct fah_report_options *o, double share, double wall_s,
			       int decimals);

/* The file as people of this project call it: below root without root, else as it is. Borrowed. */
const char *fah_report_path(const struct fah_report_options *o, const char *abspath);

#endif
