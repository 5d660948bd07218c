/* stats.c - see stats.h. Numbers are the model's (model/stats.h); here they are put in columns. */
#include "report/stats.h"

#include "base/file.h"
#include "base/number.h"
#include "base/utf8.h"
#include "report/text.h"

#include <math.h>
#include <string.h>

#define FLOOR 0.0005 /* of the run: what rounds to 0.1 % */
#define NAME_MIN 12
#define NAME_MAX_PART 2	 /* a name has at most this part of the width */
#define NUMBERS 47	 /* columns of share, mean, sd, min, max and n */
#define MARK " unstable" /* behind the place */
#define PROGRAM_MAX 200	 /* bytes of a command line that are shown */

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* "0.043"; one run has none. */
static struct fah_num deviation(const struct fah_stat *s)
{
	struct fah_num n = {"-"};

	if (!isnan(s->sd))
		snprintf(n.s, sizeof(n.s), "%.3f", s->sd);
	return n;
}

static void put_program(struct fah_text *t, const struct fah_stats_program *program)
{
	uint32_t v = program->python_version;
	size_t n = strlen(program->name);
	char heading[64];
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	snprintf(heading, sizeof(heading), "Statistics of %zu run%s: ", program->n,
		 plural(program->n));
	fah_strbuf_add_printable(&sb, program->name, n < PROGRAM_MAX ? n : PROGRAM_MAX);
	fah_text_paint(t, FAH_BOLD, heading);
	fah_strbuf_adds(&t->line, fah_strbuf_str(&sb));
	if (v)
		fah_strbuf_addf(&t->line, " (Python %u.%u.%u)", v >> 24, v >> 16 & 255,
				v >> 8 & 255);
	t->failed |= sb.failed;
	fah_strbuf_release(&sb);
	fah_text_end(t);
	if (!program->n)
		return;
	fah_text_put(t, "Total Wall Time: %.3f %s %s seconds (%.3f to %.3f)", program->wall_s.mean,
		     t->g->plus_minus, deviation(&program->wall_s).s, program->wall_s.min,
		     program->wall_s.max);
	fah_text_end(t);
}

static void add_place(struct fah_strbuf *sb, const struct fah_stats_function *f)
{
	fah_strbuf_addc(sb, '(');
	fah_text_place(sb, f->file, f->line);
	fah_strbuf_addc(sb, ')');
}

static int name_columns(const struct fah_stats_program *program, size_t n, int width)
{
	struct fah_strbuf name = FAH_STRBUF_INIT;
	int most = NAME_MIN;

	for (size_t i = 0; i < n; i++) {
		int columns;

		fah_strbuf_truncate(&name, 0);
		fah_text_clean(&name, program->functions[i].name);
		columns = (int)fah_utf8_width(fah_strbuf_str(&name), name.len);
		most = columns > most ? columns : most;
	}
	fah_strbuf_release(&name);
	width = (width - 4 - NUMBERS) / NAME_MAX_PART;
	if (most > width)
		most = width;
	return most > NAME_MIN ? most : NAME_MIN;
}

static void put_row(struct fah_text *t, const struct fah_stats_function *f, size_t number,
		    int columns)
{
	struct fah_strbuf name = FAH_STRBUF_INIT, cut = FAH_STRBUF_INIT, place = FAH_STRBUF_INIT;
	int room = t->width - 4 - columns - NUMBERS - 1 - (f->unstable ? (int)strlen(MARK) : 0);
	char share[24];

	fah_text_clean(&name, f->name);
	fah_utf8_cut(&cut, fah_strbuf_str(&name), name.len, (size_t)columns, !t->o->utf8);
	fah_strbuf_addf(&t->line, "%2zu. ", number);
	fah_utf8_pad_left(&t->line, fah_strbuf_str(&cut), cut.len, (size_t)columns);
	snprintf(share, sizeof(share), "%7s", fah_share_text(f->share.mean, 1).s);
	fah_text_paint(t, fah_text_heat(f->share.mean), share);
	fah_strbuf_addf(&t->line, " %8.3f %s %6s %8.3f %8.3f %3zu", f->seconds.mean,
			t->g->plus_minus, deviation(&f->seconds).s, f->seconds.min, f->seconds.max,
			f->n);
	add_place(&place, f);
	if (room > NAME_MIN) {
		fah_strbuf_addc(&t->line, ' ');
		fah_utf8_cut_tail(&t->line, fah_strbuf_str(&place), place.len, (size_t)room,
				  !t->o->utf8);
	}
	if (f->unstable)
		fah_text_paint(t, FAH_HOT, MARK);
	t->failed |= name.failed || cut.failed || place.failed;
	fah_text_end(t);
	fah_strbuf_release(&name);
	fah_strbuf_release(&cut);
	fah_strbuf_release(&place);
}

static void put_functions(struct fah_text *t, const struct fah_stats_program *program)
{
	size_t most = t->o->top ? t->o->top : FAH_REPORT_TOP, n = 0, unstable = 0;
	double floor = t->o->floor > 0 ? t->o->floor : FLOOR;
	/* "+-" has two columns */
	int columns, wide = (int)fah_utf8_width(t->g->plus_minus, strlen(t->g->plus_minus));

	while (n < most && n < program->n_functions && program->functions[n].share.mean >= floor)
		n++;
	if (!n) {
		fah_text_wrap(t,
			      "No function of the folders reported has a share of these runs worth "
			      "listing.");
		return;
	}
	columns = name_columns(program, n, t->width);
	fah_text_put(t, "    %*s  share     mean %s     sd      min      max   n  (seconds)",
		     columns, "", wide > 1 ? "+-" : t->g->plus_minus);
	for (size_t i = 0; i < n; i++) {
		put_row(t, &program->functions[i], i + 1, columns);
		unstable += program->functions[i].unstable;
	}
	if (!unstable)
		return;
	fah_text_end(t);
	fah_text_wrap(t,
		      "Unstable: from run to run a function differs (sd) by more than a tenth of "
		      "its mean, and by more than twice what the choice of samples makes.");
}

static void put_left(struct fah_text *t, const struct fah_stats *s)
{
	static const char *const why[] = {[FAH_STATS_CUT] = "the capture has no end",
					  [FAH_STATS_EMPTY] = "it has no sample",
					  [FAH_STATS_FAILED] =
						  "the program failed, and did not in other runs"};
	size_t n;
	const struct fah_stats_run *runs = fah_stats_runs(s, &n);

	for (size_t i = 0; i < n; i++) {
		struct fah_strbuf sb = FAH_STRBUF_INIT;

		if (runs[i].left == FAH_STATS_USED)
			continue;
		fah_strbuf_adds(&sb, "Left out: ");
		fah_text_clean(&sb, runs[i].path);
		fah_strbuf_addf(&sb, ": %s.", why[runs[i].left]);
		t->failed |= sb.failed;
		fah_text_wrap(t, fah_strbuf_str(&sb));
		fah_strbuf_release(&sb);
	}
}

int fah_report_stats(FILE *out, const struct fah_stats *s, const struct fah_report_options *o)
{
	struct fah_text t;
	size_t n;
	const struct fah_stats_program *programs = fah_stats_programs(s, &n);

	fah_text_init(&t, out, o);
	for (size_t i = 0; i < n; i++) {
		put_program(&t, &programs[i]);
		if (programs[i].n)
			put_functions(&t, &programs[i]);
		fah_text_end(&t);
	}
	put_left(&t, s);
	return fah_text_finish(&t);
}
