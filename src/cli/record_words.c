/* record_words.c - see record_words.h. */
#include "cli/record_words.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/term.h"
#include "cli/invoke.h"
#include "report/closing.h"
#include "report/health.h"
#include "report/loops.h"

#include <string.h>
#include <unistd.h>

#define LOOPS_SHOWN 4

static void say_totals(struct fah_text *t, const struct fah_profile *p)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;
	const struct fah_totals *totals = fah_profile_totals(p);
	size_t n;

	fah_profile_processes(p, &n);
	fah_strbuf_addf(&sb, "%s recorded", fah_num_seconds(totals->wall_s).s);
	if (n > 1)
		fah_strbuf_addf(&sb, ", %s processes", fah_num_count(n).s);
	fah_strbuf_addf(&sb, ": %s sample%s", fah_num_count(totals->samples).s,
			totals->samples == 1 ? "" : "s");
	if (totals->rate_reached > 0)
		fah_strbuf_addf(&sb, " at %s of CPU time", fah_num_hz(totals->rate_reached).s);
	if (totals->rate_asked > 0)
		fah_strbuf_addf(&sb, " (%s%s asked)", fah_num_hz(totals->rate_asked).s,
				totals->rate_reached > 0 ? "" : " of CPU time");
	fah_strbuf_addf(&sb, ", %s dropped", fah_num_count(totals->drops).s);
	fah_report_lowered(&sb, "; rate ", totals);
	fah_strbuf_addc(&sb, '.');
	fah_text_wrap(t, fah_strbuf_str(&sb));
}

/* Loops that the program marked (fixingahole.repeat). */
static void say_loops(struct fah_text *t, const struct fah_profile *p)
{
	size_t n;
	const struct fah_loop *loops = fah_profile_loops(p, &n);

	for (size_t i = 0; i < n && i < LOOPS_SHOWN; i++) {
		_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

		fah_report_loop(&sb, &loops[i], t->g->plus_minus);
		fah_text_wrap(t, fah_strbuf_str(&sb));
	}
	if (n > LOOPS_SHOWN)
		fah_text_put(t, "%s more loops: fixingahole inspect lists them.",
			     fah_num_count(n - LOOPS_SHOWN).s);
}

void fah_record_say_samples(FILE *out, const struct fah_profile *p)
{
	struct fah_report_options o = {
		.width = fah_term_width(STDERR_FILENO),
		.utf8 = fah_term_utf8(),
	};
	struct fah_text t;

	fah_text_init(&t, out, &o);
	fah_closing_refused(&t, p);
	if (fah_profile_totals(p)->samples)
		say_totals(&t, p);
	else
		fah_closing_empty(&t, p);
	fah_closing_caveat(&t, p);
	say_loops(&t, p);
	fah_closing_end(&t, p);
	fah_text_finish(&t);
}

/* A path on a line of its own, never broken: it is there to be copied. */
static void say_path(FILE *out, const char *head, const char *path, const char *tail)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_add_printable(&sb, path, strlen(path));
	fprintf(out, "%s%s%s\n", head, fah_strbuf_str(&sb), tail);
}

void fah_record_say_capture(FILE *out, const char *path)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf typed = FAH_STRBUF_INIT;

	say_path(out, "Capture: ", path, "");
	fah_invoke_quote(&typed, path);
	say_path(out,
		 fah_command_find("flame") ? "Next: fixingahole flame " : "Next: fixingahole tree ",
		 fah_strbuf_str(&typed), "");
}

void fah_record_say_export(FILE *out, const char *path, const struct fah_export *format)
{
	char tail[128];

	snprintf(tail, sizeof(tail), " (%s)", format->name);
	say_path(out, "Result: ", path, tail);
}
