/*
 * record_output.c - see record_output.h. Until the export is written the capture has a name that
 * says what it is of, so that whoever kills us finds it.
 */
#include "cli/record_output.h"

#include "base/file.h"
#include "cli/record_words.h"
#include "core/err.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 0, or ENAMETOOLONG as an exit status. */
static int set_path(char *buf, const char *head, const char *tail)
{
	if (snprintf(buf, FAH_OUTPUT_MAX, "%s%s", head, tail) < FAH_OUTPUT_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return fah_fail_err(FAH_ERR_SYS, "record: %s", head);
}

static int check(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[FAH_OUTPUT_MAX];
	int err = fah_file_check_output(path);

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	if (err == 0 && access(folder, W_OK | X_OK) < 0)
		err = FAH_ERR_SYS;
	return err < 0 ? fah_fail_err(err, "cannot write to %s", path) : 0;
}

/* The kept capture's name: the export's with another ending. */
static int set_kept(struct fah_record_output *o)
{
	const char *base = fah_basename(o->file), *dot = strrchr(base, '.');
	char head[FAH_OUTPUT_MAX];
	int status;

	if (dot && dot > base && !strcmp(dot, ".gz"))
		for (dot--; dot > base && *dot != '.';)
			dot--;
	snprintf(head, sizeof(head), "%.*s",
		 dot && dot > base ? (int)(dot - o->file) : (int)strlen(o->file), o->file);
	status = set_path(o->capture, head, ".fah");
	if (!status && !strcmp(o->capture, o->file))
		status = set_path(o->capture, o->file, ".fah");
	return status ? status : check(o->capture);
}

static int set_export(struct fah_record_output *o, const char *name)
{
	const char *temp = getenv("TMPDIR");
	int status;

	if (!strcmp(o->file, "-")) {
		o->to_stdout = true;
		if (o->format->binary && isatty(STDOUT_FILENO))
			return fah_fail("%s is not text: write it to a file with -o x%s",
					o->format->name, o->format->extensions[0]);
		o->add_pid = true;
		if (o->keep)
			return set_path(o->capture, o->stem, "");
		status = set_path(o->capture, temp && *temp ? temp : "/tmp", "/fixingahole-");
		if (!status && strlen(o->capture) + strlen(name) < sizeof(o->capture))
			strcat(o->capture, name);
		return status;
	}
	status = set_path(o->export_path, o->file, "");
	if (!status)
		status = check(o->export_path);
	if (status)
		return status;
	if (o->keep)
		return set_kept(o);
	o->add_pid = true;
	return set_path(o->capture, o->file, "");
}

int fah_record_output_set(struct fah_record_output *o, const char *name)
{
	int status = set_path(o->stem, "./", name);

	if (status)
		return status;
	o->format = o->format_name || (o->file && fah_export_of_path(o->file))
			    ? fah_export_choose("record", o->format_name, o->file)
			    : NULL;
	if (o->format_name && !o->format)
		return FAH_STATUS_USAGE;
	if (o->format && o->file)
		return set_export(o, name);
	if (o->file && !strcmp(o->file, "-"))
		return fah_fail("record: a capture is not text; with -f FORMAT its export goes to "
				"stdout");
	if (o->file) {
		status = set_path(o->capture, o->file, "");
		return status ? status : check(o->capture);
	}
	o->add_pid = true;
	return set_path(o->capture, o->stem, "");
}

static int write_export(struct fah_record_output *o, const struct fah_opened *opened, FILE *words)
{
	int status = fah_export_to(opened, o->format, &o->view, o->to_stdout ? "-" : o->export_path,
				   words);

	if (o->to_stdout)
		fflush(stdout);
	return status;
}

void fah_record_output_finish(struct fah_record_output *o, const struct fah_run_result *result,
			      FILE *words)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	bool failed = false;

	errno = result->capture_errno;
	if (result->capture_err < 0) {
		fah_fail_err(result->capture_err, "%s is not complete", result->capture);
		return;
	}
	if (fah_open_capture_time(&opened, "record", result->capture))
		return;
	fah_record_say_samples(words, opened.profile);
	if (!o->format) {
		fah_record_say_capture(words, result->capture);
		return;
	}
	if (!o->to_stdout && !o->export_path[0])
		snprintf(o->export_path, sizeof(o->export_path), "%.4000s-%d%.32s", o->stem,
			 (int)result->pid, o->format->extensions[0]);
	failed = write_export(o, &opened, words) != 0;
	if (!failed && !o->to_stdout)
		fah_record_say_export(words, o->export_path, o->format);
	if (failed)
		fah_fail("the recording is kept: %s", result->capture);
	else if (o->keep)
		fah_record_say_capture(words, result->capture);
	else
		unlink(result->capture);
}
