/* gains.c - see gains.h. Numbers are the model's (model/gains.h); here they are put into words. */
#include "report/gains.h"

#include "base/file.h"
#include "base/number.h"
#include "base/utf8.h"
#include "capture/words.h"
#include "model/gains.h"

#include <stdio.h>
#include <string.h>

#define LINES_MAX 5
#define LINES_FLOOR 0.01 /* of the run */
#define PLACE_MIN 12	 /* columns that a place keeps however narrow the terminal is */
#define NUMBERS 43	 /* columns of the numbers behind it */
#define NUMBERS_SHORT 23 /* without the seconds */
#define PARALLEL 1.1	 /* cores: more is not one thread after the other */
#define TIMES_MAX 1000

/* "±1.7", in points. */
static void add_interval(struct fah_text *t, struct fah_strbuf *sb, double interval)
{
	struct fah_share text = fah_share_text(interval, 1);

	text.s[strcspn(text.s, "%")] = '\0';
	fah_strbuf_addf(sb, " %s%s", t->g->plus_minus, text.s);
}

/* "name (file.py:4)" */
static void add_function(struct fah_strbuf *sb, const struct fah_profile *p, uint32_t function)
{
	const struct fah_function *f = fah_profile_function(p, function);

	fah_text_clean(sb, f->name);
	fah_strbuf_adds(sb, " (");
	fah_text_place(sb, f->file, f->first_line);
	fah_strbuf_addc(sb, ')');
}

static void add_doing(struct fah_strbuf *sb, const struct fah_bottleneck *b)
{
	static const char *const words[] = {[FAH_DOING_PYTHON] = "running Python code",
					    [FAH_DOING_NATIVE] = "in native code",
					    [FAH_DOING_SYSTEM] = "in the system",
					    [FAH_DOING_WAITING] = "waiting"};

	if (b->doing_share >= 0.995)
		fah_strbuf_addf(sb, ", all of it %s", words[b->doing]);
	else
		fah_strbuf_addf(sb, ", %s of that %s", fah_share_text(b->doing_share, 0).s,
				words[b->doing]);
	if (b->doing == FAH_DOING_WAITING)
		fah_strbuf_addf(sb, " (mostly: %s)", fah_wait_words(b->reason));
}

static void add_evidence(struct fah_text *t, struct fah_strbuf *sb, const struct fah_profile *p,
			 const struct fah_bottleneck *b)
{
	fah_strbuf_addf(sb, " has %s", fah_share_text(b->share, 1).s);
	/* samples say nothing of waiting: how long it was is known */
	if (b->doing != FAH_DOING_WAITING || b->doing_share < 0.995)
		add_interval(t, sb, b->function->interval);
	fah_strbuf_adds(sb, " of the run");
	add_doing(sb, b);
	if (b->line && b->line_share >= 0.995 * b->share)
		fah_strbuf_addf(sb, ", on line %u", b->line->line);
	else if (b->line)
		fah_strbuf_addf(sb, "; its line %u alone has %s", b->line->line,
				fah_share_text(b->line_share, 1).s);
	fah_strbuf_addc(sb, '.');
	if (!b->rival)
		return;
	fah_strbuf_addc(sb, ' ');
	add_function(sb, p, b->rival->function);
	fah_strbuf_addf(sb, ", %s, may have as much: the samples do not tell them apart.",
			fah_share_text(b->rival->share, 1).s);
}

void fah_bottleneck_say(struct fah_text *t, const struct fah_profile *p,
			const struct fah_charges *charges)
{
	static const char *const others[] = {
		[FAH_BOTTLENECK_OUTSIDE] =
			"code outside the folders reported, which nothing inside "
			"them called",
		[FAH_BOTTLENECK_NO_PYTHON] = "no Python code at all, but the interpreter's start "
					     "and end, or threads and children without Python",
		[FAH_BOTTLENECK_NO_CORE] = "want of a core: the program was ready to run and other "
					   "work had the machine",
		[FAH_BOTTLENECK_UNKNOWN] = "waiting or want of a core, in no known line",
	};
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	struct fah_bottleneck b;

	fah_profile_bottleneck(p, charges, &b);
	switch (b.kind) {
	case FAH_BOTTLENECK_NONE:
		return;
	case FAH_BOTTLENECK_SPREAD:
		fah_strbuf_adds(&sb, "No single bottleneck: the dearest function, ");
		add_function(&sb, p, b.function->function);
		fah_strbuf_addf(&sb, ", has %s", fah_share_text(b.share, 1).s);
		add_interval(t, &sb, b.function->interval);
		fah_strbuf_adds(&sb, " of the run.");
		break;
	case FAH_BOTTLENECK_FUNCTION:
		fah_strbuf_adds(&sb, "Bottleneck: ");
		add_function(&sb, p, b.function->function);
		add_evidence(t, &sb, p, &b);
		break;
	default:
		fah_strbuf_addf(&sb, "Bottleneck: %s, in %s of the run.", others[b.kind],
				fah_share_text(b.share, 1).s);
		if (b.function) {
			fah_strbuf_adds(&sb, " In the program itself ");
			add_function(&sb, p, b.function->function);
			fah_strbuf_addf(&sb, " has most, %s.",
					fah_share_text(b.function->share, 1).s);
		}
	}
	t->failed |= sb.failed;
	fah_text_wrap(t, fah_strbuf_str(&sb));
	fah_text_end(t);
	fah_strbuf_release(&sb);
}

/* "6.980s (1.43x)", or "1.43x" in a narrow column. */
static void add_gain(struct fah_strbuf *sb, double seconds, double times, bool narrow)
{
	char text[32], whole[FAH_NUM_MAX + 40];

	if (times < TIMES_MAX)
		snprintf(text, sizeof(text), "%.2fx", times);
	else
		snprintf(text, sizeof(text), ">%dx", TIMES_MAX);
	snprintf(whole, sizeof(whole), "%s (%s)", fah_num_seconds_short(seconds).s, text);
	fah_strbuf_addf(sb, narrow ? " %7s" : " %17s", narrow ? text : whole);
}

static void add_place(struct fah_strbuf *sb, const struct fah_gain *g)
{
	fah_text_place(sb, g->file->path, g->line->line);
}

static int columns_of(const struct fah_gains *gains, int room)
{
	struct fah_strbuf place = FAH_STRBUF_INIT;
	int most = PLACE_MIN;

	for (size_t i = 0; i < gains->n; i++) {
		int columns;

		fah_strbuf_truncate(&place, 0);
		add_place(&place, &gains->lines[i]);
		columns = (int)fah_utf8_width(fah_strbuf_str(&place), place.len);
		if (columns > most)
			most = columns;
	}
	fah_strbuf_release(&place);
	if (most > room)
		most = room;
	return most > PLACE_MIN ? most : PLACE_MIN;
}

static void put_line(struct fah_text *t, const struct fah_gain *g, size_t number, int columns,
		     bool narrow)
{
	struct fah_strbuf place = FAH_STRBUF_INIT, cut = FAH_STRBUF_INIT;
	char share[24];

	add_place(&place, g);
	fah_strbuf_addf(&t->line, "%2zu. ", number);
	fah_utf8_cut_tail(&cut, fah_strbuf_str(&place), place.len, (size_t)columns, !t->o->utf8);
	fah_utf8_pad_left(&t->line, fah_strbuf_str(&cut), cut.len, (size_t)columns);
	snprintf(share, sizeof(share), "%7s", fah_share_text(g->share, 1).s);
	fah_text_paint(t, fah_text_heat(g->share), share);
	add_gain(&t->line, g->without_s, g->without_x, narrow);
	add_gain(&t->line, g->half_s, g->half_x, narrow);
	t->failed |= place.failed || cut.failed;
	fah_text_end(t);
	fah_strbuf_release(&place);
	fah_strbuf_release(&cut);
}

int fah_gains_print(struct fah_text *t, struct fah_profile *p, const struct fah_charges *charges)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;
	bool narrow = t->width < 4 + PLACE_MIN + NUMBERS;
	const struct fah_gains *gains;
	int columns, err;

	err = fah_profile_gains(p, charges, LINES_MAX, LINES_FLOOR, &gains);
	if (err < 0 || !gains->n)
		return err;
	fah_strbuf_addf(
		&sb, "The run took %s. Without a line's time, or with half of it, it would take:",
		fah_num_seconds_short(charges->wall_s).s);
	fah_text_wrap(t, fah_strbuf_str(&sb));
	columns = columns_of(gains, t->width - 4 - (narrow ? NUMBERS_SHORT : NUMBERS));
	fah_text_put(t, "    %*s  share %*s %*s", columns, "", narrow ? 7 : 17, "without",
		     narrow ? 7 : 17, "half");
	for (size_t i = 0; i < gains->n; i++)
		put_line(t, &gains->lines[i], i + 1, columns, narrow);
	if (fah_profile_totals(p)->cores > PARALLEL) {
		fah_strbuf_truncate(&sb, 0);
		fah_strbuf_addf(&sb,
				"At most: %.1f cores were used at a time, and what runs beside the "
				"line would "
				"still take its time.",
				fah_profile_totals(p)->cores);
		fah_text_wrap(t, fah_strbuf_str(&sb));
	}
	t->failed |= sb.failed;
	fah_strbuf_release(&sb);
	fah_text_end(t);
	return 0;
}
