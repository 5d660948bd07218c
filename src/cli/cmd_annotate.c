/* cmd_annotate.c - source lines with their hits and times: line_profiler's files, and ours; or with
 * the memory that they hold. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/lines_result.h"
#include "cli/shown.h"
#include "core/err.h"
#include "model/heap.h"
#include "report/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_UNIT = 1, OPT_SKIP_ZERO, OPT_SORT, OPT_SUMMARIZE, OPT_JSON, OPT_MEMORY };

static const struct fah_option options[] = {
	{OPT_UNIT, "unit", "u", "SECONDS",
	 "the unit of times printed: 1, 1e-3, 1e-9 (default: 1e-6)"},
	{OPT_SKIP_ZERO, "skip-zero", "z", NULL, "leave out functions that did not run"},
	{OPT_SORT, "sort", "t", NULL, "the dearest function last"},
	{OPT_SUMMARIZE, "summarize", "m", NULL, "and a line for each function below"},
	{OPT_JSON, "json", NULL, NULL, "all lines with all their numbers, as JSON"},
	{OPT_MEMORY, "memory", NULL, FAH_MEMORY_WHICH,
	 "of a capture: lines with time and memory, as profile has them"},
	{0},
};

struct wanted {
	struct fah_linehits_options how;
	bool json, memory;
	struct fah_view view; /* of memory: by what; 0: as profile shows it */
	struct fah_linehits sum;
	bool any;
};

static int take_option(struct wanted *w, int option, const char *value)
{
	switch (option) {
	case OPT_UNIT:
		return fah_lines_parse_unit("annotate", value, &w->how.unit);
	case OPT_SKIP_ZERO:
		w->how.skip_zero = true;
		return 0;
	case OPT_SORT:
		w->how.by_time = true;
		return 0;
	case OPT_SUMMARIZE:
		w->how.summarize = true;
		return 0;
	case OPT_MEMORY:
		w->memory = true;
		w->view.memory = FAH_HEAP_VIEW_NONE;
		return value ? fah_view_memory(&w->view, "annotate", value) : 0;
	default:
		w->json = true;
		return 0;
	}
}

/* The table that fixingahole profile --memory writes, again. */
static int show_memory(const char *path, const struct wanted *w)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	_cleanup_(fah_shown_release) struct fah_shown shown = {0};
	_cleanup_(fah_freep) char *real = NULL;
	struct fah_report_options o;
	struct fah_view view = {.memory = FAH_HEAP_VIEW_PEAK}; /* any of memory */
	int err, status = fah_open_view(&opened, "annotate", path, &view);

	if (status)
		return status;
	real = realpath(opened.path,
			NULL); /* the copy of the code is read by its whole path only */
	err = fah_shown_init(&shown, opened.profile, real ? real : opened.path);
	if (err == 0) {
		o = shown.report;
		fah_shown_on_stdout(&o);
		o.memory = w->view.memory;
		err = fah_report_lines(stdout, opened.profile, &o);
	}
	return err < 0 ? fah_fail_err(err, "annotate: %s", path) : FAH_STATUS_OK;
}

static int add_file(struct wanted *w, const char *path)
{
	_cleanup_(fah_linehits_done) struct fah_linehits one = {0};
	int err, status = fah_lines_open(&one, "annotate", path);

	if (status)
		return status;
	if (!w->any)
		fah_linehits_init(&w->sum, one.unit);
	w->any = true;
	err = fah_linehits_merge(&w->sum, &one);
	return err < 0 ? fah_fail_err(err, "annotate: %s", path) : 0;
}

static int show(struct wanted *w)
{
	int err;

	fah_linehits_sort(&w->sum);
	if (!w->json)
		return fah_lines_print(&w->sum, "annotate", &w->how);
	err = fah_report_linehits_json(stdout, &w->sum);
	return err < 0 ? fah_fail_err(err, "annotate") : FAH_STATUS_OK;
}

static int run(struct wanted *w, const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_freep) const char **paths = calloc((size_t)argc + 1, sizeof(*paths));
	struct fah_args a;
	int arg, status = 0, n = 0;

	if (!paths)
		return fah_fail_err(FAH_ERR_NOMEM, "annotate");
	fah_args_init(&a, cmd, argc, argv);
	while ((arg = fah_args_next(&a)) != FAH_ARG_END) {
		if (arg == FAH_ARG_HELP)
			return FAH_STATUS_OK;
		if (arg == FAH_ARG_ERROR)
			return FAH_STATUS_USAGE;
		if (arg == FAH_ARG_OPERAND)
			paths[n++] = a.value;
		else if (arg > 0)
			status = take_option(w, arg, a.value);
		if (status)
			return status;
	}
	if (w->memory && n > 1)
		return fah_fail("annotate: --memory: one capture at a time, not also %s", paths[1]);
	if (w->memory && n)
		return show_memory(paths[0], w);
	for (int i = 0; i < n; i++) {
		status = add_file(w, paths[i]);
		if (status)
			return status;
	}
	if (!w->any)
		return fah_fail(
			"annotate: which file? fixingahole annotate FILE.lprof (or a capture "
			"of fixingahole lines)");
	return show(w);
}

static int cmd_annotate(const struct fah_command *cmd, int argc, char **argv)
{
	struct wanted w = {0};
	int status = run(&w, cmd, argc, argv);

	fah_linehits_done(&w.sum);
	return status;
}

static const char *const examples[] = {
	"fixingahole annotate script.py.lprof",
	"what fixingahole lines, or kernprof -l, has written",
	"fixingahole annotate -z -t -m -u 1e-3 a.lprof b.lprof",
	"two runs added up, in milliseconds, the dearest function last, and a summary",
	"fixingahole annotate --memory performance/script/20260126_145848",
	"what each line of a run held, through its time",
	"fixingahole annotate --memory=live performance/script/20260126_145848",
	"what lines had not given back when the program ended",
	NULL,
};

const struct fah_command fah_cmd_annotate = {
	.name = "annotate",
	.usage = "FILE... [OPTIONS]",
	.summary = "print the source of timed functions with hits and time of each line",
	.description = "Prints what fixingahole lines or kernprof -l has recorded, in "
		       "line_profiler's layout, "
		       "with its options: files of line_profiler 3 to 5 and of ours (.lprof), and "
		       "captures of "
		       "fixingahole lines. Several files add up. Ours have a column more: Called, "
		       "the part of "
		       "a line's time in functions that it called.\n\n"
		       "A .lprof file is a pickle; it is read for its numbers only, and nothing in "
		       "it is ever "
		       "run. Sources are read from where they stood; functions that did not run "
		       "are shown too, "
		       "unless -z.\n\n"
		       "With --memory it prints the table of a capture that has memory, as "
		       "fixingahole profile --memory writes it. With --memory=peak, live, "
		       "temporary or total the column "
		       "of each line's own peak is what it held at the run's peak, what was live "
		       "at exit, what it gave back soon or all that it asked for; files, and the "
		       "lines listed below "
		       "each, are in the order of that.",
	.options = options,
	.examples = examples,
	.run = cmd_annotate,
};
