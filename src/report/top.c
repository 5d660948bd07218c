/* top.c - see top.h. */
#include "report/top.h"

#include "base/room.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MIN 12 /* columns that a name keeps however narrow the terminal is */
#define PLACE_MIN 4 /* and the place behind it */
#define GAP 4
#define NUMBER 4 /* " 1. " */

static int columns(const struct fah_strbuf *sb)
{
	return (int)fah_utf8_width(fah_strbuf_str(sb), sb->len);
}

struct fah_top_row *fah_top_add(struct fah_top *top, const char *cost, double heat)
{
	struct fah_top_row *row;

	if (!fah_room(&top->rows, top->n, &top->cap, sizeof(*top->rows)))
		return NULL;
	row = &top->rows[top->n++];
	*row = (struct fah_top_row){.heat = heat};
	snprintf(row->cost, sizeof(row->cost), "%s", cost);
	return row;
}

void fah_top_fit(struct fah_top *top, const struct fah_text *t, int cost)
{
	int places = 0, all = 0, room;

	top->cost = cost;
	for (size_t i = 0; i < top->n; i++) {
		const struct fah_top_row *row = &top->rows[i];
		int behind = columns(&row->behind), len = (int)strlen(row->cost);

		top->counted += !row->is_extra;
		if (columns(&row->name) > top->name_columns)
			top->name_columns = columns(&row->name);
		if (len > top->cost)
			top->cost = len;
		all = behind > all ? behind : all;
		/* Names give way to places; what stands behind an extra row is cut instead. */
		places = behind > places && !row->is_extra ? behind : places;
	}
	room = t->width - NUMBER - GAP - top->cost - 1 - places;
	if (top->name_columns > room)
		top->name_columns = room > NAME_MIN ? room : NAME_MIN;
	top->longest = NUMBER + top->name_columns + GAP + top->cost + 1 + all;
}

static void put_row(struct fah_text *t, const struct fah_top *top, const struct fah_top_row *row)
{
	struct fah_strbuf cut = FAH_STRBUF_INIT;
	int place = t->width - NUMBER - top->name_columns - GAP - top->cost - 1;
	char text[FAH_TOP_MAX + 32];

	t->failed |= row->name.failed || row->behind.failed;
	fah_utf8_cut(&cut, fah_strbuf_str(&row->name), row->name.len, (size_t)top->name_columns,
		     !t->o->utf8);
	fah_utf8_pad_left(&t->line, fah_strbuf_str(&cut), cut.len,
			  (size_t)(top->name_columns + GAP));
	snprintf(text, sizeof(text), "%*s", top->cost, row->cost);
	fah_text_paint(t, fah_text_heat(row->heat), text);
	fah_strbuf_adds(&t->line, " ");
	fah_utf8_cut_tail(&t->line, fah_strbuf_str(&row->behind), row->behind.len,
			  (size_t)(place > PLACE_MIN ? place : PLACE_MIN), !t->o->utf8);
	fah_text_end(t);
	fah_strbuf_release(&cut);
}

void fah_top_print(struct fah_text *t, const struct fah_top *top)
{
	int number = 0;

	for (size_t i = 0; i < top->n; i++) {
		if (top->rows[i].is_extra)
			fah_strbuf_adds(&t->line, "    ");
		else
			fah_strbuf_addf(&t->line, "%2d. ", ++number);
		put_row(t, top, &top->rows[i]);
	}
}

void fah_top_release(struct fah_top *top)
{
	for (size_t i = 0; i < top->n; i++) {
		fah_strbuf_release(&top->rows[i].name);
		fah_strbuf_release(&top->rows[i].behind);
	}
	free(top->rows);
}
