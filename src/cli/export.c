/* export.c - see export.h. */
#include "cli/export.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/number.h"

#include <string.h>
#include <unistd.h>

bool fah_view_option(struct fah_view *view, int option, const char *value)
{
	switch (option) {
	case FAH_OPT_NATIVE:
		return view->native = true;
	case FAH_OPT_THREADS:
		return view->threads = true;
	case FAH_OPT_SUBPROCESSES:
		return view->processes = true;
	case FAH_OPT_GIL:
		return view->gil = true;
	case FAH_OPT_IDLE:
		return view->idle = true;
	case FAH_OPT_FUNCTION:
		view->lines = false;
		return true;
	case FAH_OPT_ONLY:
		view->only = value;
		return true;
	case FAH_OPT_BUSY:
		view->idle = false;
		return true;
	case FAH_OPT_LINES:
		return view->lines = true;
	}
	return false;
}

int fah_view_memory(struct fah_view *view, const char *command, const char *value)
{
	static const char *const names[] = {
		[FAH_HEAP_VIEW_PEAK] = "peak",
		[FAH_HEAP_VIEW_LIVE] = "live",
		[FAH_HEAP_VIEW_TEMPORARY] = "temporary",
		[FAH_HEAP_VIEW_TOTAL] = "total",
	};

	for (unsigned i = FAH_HEAP_VIEW_PEAK; i <= FAH_HEAP_VIEW_TOTAL; i++)
		if (!strcmp(value ? value : "peak", names[i])) {
			view->memory = i;
			return 0;
		}
	return fah_fail("%s: --memory=%s: peak, live, temporary or total", command, value);
}

int fah_open_view(struct fah_opened *ret, const char *command, const char *argument,
		  const struct fah_view *view)
{
	int status;

	if (!view->memory)
		return fah_open_capture_time(ret, command, argument);
	status = fah_open_capture(ret, command, argument);
	if (status)
		return status;
	if (!fah_profile_has_heap(ret->profile))
		return fah_fail("%s: %s has no record of memory: record it with --memory", command,
				ret->path);
	if (fah_profile_heap_left_out(ret->profile))
		return fah_fail("%s: %s has more blocks of memory than half of this machine's free "
				"memory holds: --exact=malloc or sampling (without --exact) "
				"records less",
				command, ret->path);
	return 0;
}

int fah_fail_only(const struct fah_view *view)
{
	return fah_fail("no function '%s' in this capture; functions have their qualified names "
			"(Class.name), and file.py:name says which of several",
			view->only);
}

const struct fah_export *fah_export_choose(const char *command, const char *format, const char *out)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf names = FAH_STRBUF_INIT;
	const struct fah_export *e = format ? fah_export_find(format)
				     : out  ? fah_export_of_path(out)
					    : NULL;

	if (e)
		return e;
	for (const struct fah_export *const *p = fah_exports; *p; p++)
		fah_strbuf_addf(&names, "%s%s", names.len ? ", " : "", (*p)->name);
	if (format)
		fah_fail("%s: there is no format '%s'; there are %s", command, format,
			 fah_strbuf_str(&names));
	else
		fah_fail("%s: which format? -f %s", command, fah_strbuf_str(&names));
	return NULL;
}

/* What the views can't show because the capture does not have it. */
static void say_missing(FILE *words, const char *path, const struct fah_totals *t)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf sb = FAH_STRBUF_INIT;

	if (!t->complete)
		fah_strbuf_adds(&sb, ", the end of the run");
	if (t->lost_bytes)
		fah_strbuf_addf(&sb, ", %s that are cut off or damaged",
				fah_num_bytes(t->lost_bytes).s);
	if (t->lost_records)
		fah_strbuf_addf(&sb, ", %s records for want of space",
				fah_num_count(t->lost_records).s);
	if (t->bad_records)
		fah_strbuf_addf(&sb, ", %s records that make no sense",
				fah_num_count(t->bad_records).s);
	if (t->samples_lost)
		fah_strbuf_addf(&sb, ", %s samples", fah_num_count(t->samples_lost).s);
	if (sb.len)
		fprintf(words, "fixingahole: %s: missing are%s; the rest is exported\n", path,
			fah_strbuf_str(&sb) + 1);
}

FAH_DEFINE_FREEP(struct fah_stacks *, fah_stacks_free)

/* 0 or an enum fah_err. */
static int say_part(FILE *words, struct fah_profile *p, const struct fah_view *view)
{
	_cleanup_(fah_stacks_freep) struct fah_stacks *stacks = NULL;
	struct fah_part part;
	int err = fah_stacks_new(p, view, &stacks);

	if (err == 0)
		err = fah_stacks_part(stacks, &part);
	if (err < 0)
		return err;
	fprintf(words, "fixingahole: %s: %s samples, %s of the run (95%% interval: ±%.1f points)\n",
		view->only, fah_num_count(part.samples).s, fah_num_percent(part.share).s,
		100 * part.interval);
	return 0;
}

static int write_file(const struct fah_opened *s, const struct fah_export *format,
		      const struct fah_view *view, const char *path, struct fah_strbuf *note)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile of = {0};
	int err = fah_outfile_open(&of, path);

	if (err == 0)
		err = fah_export_write(format, s->profile, view, of.f, note);
	return err < 0 ? err : fah_outfile_commit(&of);
}

int fah_export_to(const struct fah_opened *s, const struct fah_export *format,
		  const struct fah_view *view, const char *out, FILE *words)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf note = FAH_STRBUF_INIT;
	bool to_stdout = !out || !strcmp(out, "-");
	int err = 0, status = to_stdout ? 0 : fah_output_apart("--output", out, s->path);

	if (status)
		return status;

	if (to_stdout && format->binary && isatty(STDOUT_FILENO))
		return fah_fail("%s is not text: write it to a file with -o x%s", format->name,
				format->extensions[0]);
	say_missing(words, s->path, fah_profile_totals(s->profile));
	if (view->only && !view->memory)
		err = say_part(words, s->profile, view);
	if (err == FAH_ERR_USAGE)
		return fah_fail_only(view);
	if (err == 0)
		err = to_stdout ? fah_export_write(format, s->profile, view, stdout, &note)
				: write_file(s, format, view, out, &note);
	if (err == 0 && note.len)
		fprintf(words, "fixingahole: %s\n", fah_strbuf_str(&note));
	return err < 0 ? fah_fail_err(err, "%s", to_stdout ? "stdout" : out) : FAH_STATUS_OK;
}
