/* cmd_summarize.c - the summary of a capture again; of a folder of captures, statistics. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/logs.h"
#include "cli/open.h"
#include "cli/series.h"
#include "cli/shown.h"
#include "core/err.h"
#include "import/import.h"
#include "report/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_NUMBER = 1, OPT_THRESHOLD, OPT_DETAILED, OPT_JSON, OPT_MEMORY };

static const struct fah_option options[] = {
	{OPT_NUMBER, "number", "n", "N", "how many functions the list has (10)"},
	{OPT_THRESHOLD, "threshold", "t", "PERCENT",
	 "leave out functions with less than this of the run (0.05)"},
	{OPT_DETAILED, "detailed", "d", NULL, "all code, not only the project's own"},
	{OPT_JSON, "json", NULL, NULL, "all numbers, as JSON"},
	{OPT_MEMORY, "memory", "m", FAH_MEMORY_WHICH,
	 "functions by memory: at the peak (default), live at exit, ..."},
	{0},
};

struct wanted {
	const char *command; /* its name: stats has the same */
	const char *argument;
	uint32_t top;
	double floor;
	bool everything, json;
	struct fah_view view; /* of memory alone */
};

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;
	double percent;

	switch (option) {
	case OPT_NUMBER:
		if (!fah_parse_count(value, &w->top))
			return fah_fail("%s: --number %s: a number is needed, like 20", w->command,
					value);
		return 0;
	case OPT_THRESHOLD:
		if (!fah_parse_share(value, &percent))
			return fah_fail("%s: --threshold %s: a percentage is needed, like 0.5",
					w->command, value);
		w->floor = percent > 0 ? percent / 100 : 1e-12;
		return 0;
	case OPT_DETAILED:
		w->everything = true;
		return 0;
	case OPT_MEMORY:
		return fah_view_memory(&w->view, w->command, value);
	default:
		w->json = true;
		return 0;
	}
}

static void complete(struct fah_report_options *o, const struct wanted *w)
{
	fah_shown_on_stdout(o);
	o->top = w->top;
	o->floor = w->floor;
	o->memory = w->view.memory;
	if (w->everything)
		o->scope = &fah_scope_everything;
}

/* As fah_open_capture, also for another tool's file. */
static int open_any(struct fah_opened *ret, const struct wanted *w)
{
	const char *argument = w->argument;
	int err;

	if (w->view.memory)
		return fah_open_view(ret, w->command, argument, &w->view);
	if (!fah_path_ends(argument, ".json"))
		return fah_open_capture(ret, w->command, argument);
	ret->path = strdup(argument);
	err = ret->path ? fah_import_open(argument, &ret->reader) : FAH_ERR_NOMEM;
	if (err == FAH_ERR_FORMAT)
		return fah_fail("%s: %s: neither a capture nor a profile of scalene's", w->command,
				argument);
	if (err == 0)
		err = fah_profile_load(ret->reader, &ret->profile);
	return err < 0 ? fah_fail_err(err, "%s: %s", w->command, argument) : 0;
}

static int show_one(const struct wanted *w)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	_cleanup_(fah_shown_release) struct fah_shown shown = {0};
	_cleanup_(fah_freep) char *logs = NULL;
	struct fah_report_options o;
	int err, status = open_any(&opened, w);

	if (status)
		return status;
	err = fah_shown_init(&shown, opened.profile, opened.path);
	if (err < 0)
		return fah_fail_err(err, "%s: %s", w->command, w->argument);
	o = shown.report;
	complete(&o, w);
	o.note = logs = fah_logs_line(opened.profile, opened.path);
	err = w->json ? fah_report_summary_json(stdout, opened.profile, &o)
		      : fah_report_summary(stdout, opened.profile, &o);
	return err < 0 ? fah_fail_err(err, "%s: %s", w->command, w->argument) : FAH_STATUS_OK;
}

/* A folder that is not one run's is a folder of runs. */
static bool is_many(const char *path)
{
	_cleanup_(fah_freep) char *capture = NULL, *partial = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	if (asprintf(&capture, "%s/profile.fah", path) < 0)
		capture = NULL;
	if (asprintf(&partial, "%s/profile.fah.partial", path) < 0)
		partial = NULL;
	return capture && partial && stat(capture, &st) < 0 && stat(partial, &st) < 0;
}

static int cmd_summarize(const struct fah_command *cmd, int argc, char **argv)
{
	struct wanted w = {.command = cmd->name};
	struct fah_report_options o = {0};
	struct fah_series_view view = {.report = &o};
	int status =
		fah_args_capture(cmd, argc, argv, "CAPTURE | FOLDER", take_option, &w, &w.argument);

	if (status >= 0)
		return status;
	if (!is_many(w.argument))
		return show_one(&w);
	if (w.view.memory)
		return fah_fail("%s: --memory: of one run; %s has several", cmd->name, w.argument);
	complete(&o, &w);
	view.json = w.json;
	view.everything = w.everything;
	return fah_series_stats(cmd->name, w.argument, &view);
}

static const char *const examples[] = {
	"fixingahole summarize performance/script/20260126_145848",
	"the summary of a run again",
	"fixingahole summarize profile.fah -n 30 -t 0.1",
	"the 30 dearest functions with at least 0.1 % of the run",
	"fixingahole summarize performance/script",
	"mean and deviation of each function over all runs of a script",
	"fixingahole summarize scalene-profile.json",
	"a profile that scalene made",
	NULL,
};

const struct fah_command fah_cmd_summarize = {
	.name = "summarize",
	.usage = "CAPTURE | FOLDER [-n N] [-t PERCENT] [OPTIONS]",
	.summary = "print the summary of a capture again, or statistics of a folder of them",
	.description =
		"With a capture (a .fah file, a .partial file that a killed run left, or a run "
		"folder of fixingahole profile) or a JSON profile of scalene's, prints the summary "
		"that fixingahole profile printed.\n\n"
		"With any other folder, all captures and scalene profiles below it are read: for "
		"each program, which is a command line and a Python, a table with the mean, sample "
		"standard deviation, smallest and largest time of each function, and the number of "
		"runs that had it; where a run did not have it, it took no time. The same, with "
		"the git commit, branch and changed files where profile --repeat noted them, is "
		"written to function_stats.json in that folder.\n\n"
		"A function is marked unstable where its deviation is more than a tenth of its "
		"mean "
		"and more than twice what the choice of samples alone makes. Runs that were cut, "
		"or "
		"failed where others of the program did not, are left out and named.",
	.options = options,
	.examples = examples,
	.run = cmd_summarize,
};
