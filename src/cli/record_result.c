/* record_result.c - see record_result.h. All numbers come from the capture just written. */
#include "cli/record_result.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/term.h"
#include "capture/reader.h"
#include "cli/cli.h"
#include "core/err.h"
#include "model/profile.h"
#include "report/closing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

static void say_samples(struct fah_text *t, const struct fah_totals *totals)
{
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_addf(&sb, "%s recorded: %s sample%s", fah_num_seconds(totals->wall_s).s,
			fah_num_count(totals->samples).s, totals->samples == 1 ? "" : "s");
	fah_strbuf_addf(&sb, " at %s of CPU time", fah_num_hz(totals->rate_reached).s);
	if (totals->rate_asked > 0)
		fah_strbuf_addf(&sb, " (%s asked)", fah_num_hz(totals->rate_asked).s);
	fah_strbuf_addf(&sb, ", %s dropped.", fah_num_count(totals->drops).s);
	fah_text_wrap(t, fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
}

static void say_where(struct fah_text *t, const char *path)
{
	const char *next = fah_command_find("flame") ? "flame" : "inspect";
	struct fah_strbuf sb = FAH_STRBUF_INIT;

	fah_strbuf_adds(&sb, "Result: ");
	fah_strbuf_add_printable(&sb, path, strlen(path));
	fah_strbuf_addf(&sb, "   next: fixingahole %s ", next);
	fah_strbuf_add_printable(&sb, path, strlen(path));
	fah_text_put(t, "%s", fah_strbuf_str(&sb));
	fah_strbuf_release(&sb);
}

static int say(const struct fah_run_result *result)
{
	_cleanup_(fah_reader_freep) struct fah_reader *reader = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *p = NULL;
	struct fah_report_options o = {
		.width = fah_term_width(STDERR_FILENO),
		.utf8 = fah_term_utf8(),
	};
	const struct fah_totals *totals;
	struct fah_text t;
	int err = fah_reader_new(result->capture, &reader);

	if (err == 0)
		err = fah_profile_load(reader, &p);
	if (err < 0)
		return err;
	totals = fah_profile_totals(p);
	fah_text_init(&t, stderr, &o);
	fah_closing_refused(&t, p);
	if (totals->samples)
		say_samples(&t, totals);
	else
		fah_closing_empty(&t, p);
	fah_closing_end(&t, p);
	say_where(&t, result->capture);
	return fah_text_finish(&t);
}

void fah_record_closing(const struct fah_run_result *result)
{
	int err = result->capture_err;

	errno = result->capture_errno;
	if (err == 0)
		err = say(result);
	if (err < 0)
		fah_fail_err(err, "%s is not complete", result->capture);
}
