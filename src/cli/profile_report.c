/* profile_report.c - see profile_report.h. All numbers come from the capture just written. */
#include "cli/profile_report.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "capture/reader.h"
#include "cli/cli.h"
#include "cli/logs.h"
#include "cli/shown.h"
#include "core/err.h"
#include "model/profile.h"
#include "report/lines.h"
#include "report/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*report_fn)(FILE *out, struct fah_profile *p, const struct fah_report_options *o);

static int write_path(const char *path, report_fn report, struct fah_profile *p,
		      const struct fah_report_options *o)
{
	_cleanup_(fah_outfile_abort) struct fah_outfile file = {0};
	int err = fah_outfile_open(&file, path);

	if (err == 0)
		err = report(file.f, p, o);
	return err < 0 ? err : fah_outfile_commit(&file);
}

static int write_file(const struct fah_runfolder *folder, const char *name, report_fn report,
		      struct fah_profile *p, const struct fah_report_options *o)
{
	char path[FAH_RUN_PATH_MAX + 64];

	return write_path(fah_runfolder_file(folder, name, path), report, p, o);
}

/* --output-file: both reports in one. */
static int whole(FILE *out, struct fah_profile *p, const struct fah_report_options *o)
{
	int err = fah_report_summary(out, p, o);

	fputc('\n', out);
	return err < 0 ? err : fah_report_lines(out, p, o);
}

FAH_DEFINE_FREEP(struct fah_reader *, fah_reader_free)
FAH_DEFINE_FREEP(struct fah_profile *, fah_profile_free)

static int report(const struct fah_runfolder *folder, const struct fah_profile_shown *how)
{
	_cleanup_(fah_reader_freep) struct fah_reader *reader = NULL;
	_cleanup_(fah_profile_freep) struct fah_profile *p = NULL;
	_cleanup_(fah_strbuf_release) struct fah_strbuf line = FAH_STRBUF_INIT;
	_cleanup_(fah_shown_release) struct fah_shown shown = {0};
	_cleanup_(fah_freep) char *logs = NULL;
	char path[FAH_RUN_PATH_MAX + 64];
	struct fah_report_options o;
	bool to_stdout = how->output_file && !strcmp(how->output_file, "-");
	int err, err_lines;

	err = fah_reader_new(fah_runfolder_file(folder, "profile.fah", path), &reader);
	if (err == 0)
		err = fah_profile_load(reader, &p);
	if (err == 0)
		err = fah_shown_init(&shown, p, path);
	if (err < 0)
		return err;
	o = shown.report;
	o.utf8 = true; /* files are UTF-8 */
	o.note = logs = fah_logs_line(p, path);
	err = write_file(folder, "profile_summary.txt", fah_report_summary, p, &o);
	err_lines = write_file(folder, "profile_results.txt", fah_report_lines, p, &o);
	if (err == 0)
		err = err_lines;
	if (how->output_file && !to_stdout) {
		err_lines = write_path(how->output_file, whole, p, &o);
		if (err == 0)
			err = err_lines;
	}
	if (!how->quiet) {
		int saved = errno;

		fah_shown_on_stdout(&o);
		if (to_stdout)
			whole(stdout, p, &o);
		else
			fah_report_summary(stdout, p, &o);
		fah_strbuf_adds(&line, "Results: ");
		fah_strbuf_add_printable(&line, folder->path, strlen(folder->path));
		printf("%s\n", fah_strbuf_str(&line));
		fflush(stdout);
		errno = saved;
	}
	return err;
}

void fah_profile_report(const struct fah_runfolder *folder, const struct fah_run_result *result,
			const struct fah_profile_shown *how)
{
	int err = result->capture_err;

	errno = result->capture_errno;
	if (err == 0)
		err = report(folder, how);
	if (err < 0 && !how->quiet)
		fah_fail_err(err, "the results in %s are not complete", folder->path);
}
