/* cmd_tree.c - the call tree of a capture, in the terminal or as JSON. */
#include "base/cleanup.h"
#include "cli/calls.h"
#include "cli/export.h"
#include "report/calls.h"

#include <stdio.h>

#define MIN_DEFAULT 0.01
#define DEPTH_DEFAULT 100

enum { OPT_MIN = 1, OPT_DEPTH, OPT_SELF_LESS, OPT_JSON };

static const struct fah_option options[] = {
	{OPT_MIN, "min", NULL, "PERCENT", "leave out calls with less than this of the run (1)"},
	{OPT_DEPTH, "depth", NULL, "N", "leave out calls that stand deeper (100)"},
	{OPT_SELF_LESS, "self-less", NULL, NULL, "leave out calls that only pass on to one other"},
	{OPT_JSON, "json", NULL, NULL, "all calls with all their numbers, as JSON"},
	FAH_TREE_OPTIONS,
	FAH_MEMORY_VIEW,
	{0},
};

struct wanted {
	const char *path;
	struct fah_calls_options calls;
	struct fah_view view;
	bool json;
};

static int show(const struct wanted *w)
{
	_cleanup_(fah_calls_release) struct fah_calls calls = {0};
	struct fah_profile *p;
	int err, status = fah_open_calls(&calls, "tree", w->path, &w->view, false);

	if (status != FAH_STATUS_OK)
		return status;
	p = calls.opened.profile;
	err = w->json ? fah_report_calls_json(stdout, p, calls.tree)
		      : fah_report_calls(stdout, p, calls.tree, &w->calls, &calls.terminal);
	return err < 0 ? fah_fail_err(err, "tree: %s", calls.opened.path) : FAH_STATUS_OK;
}

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;
	double percent;

	switch (option) {
	case OPT_MIN:
		if (!fah_parse_share(value, &percent))
			return fah_fail("tree: --min %s: a percentage is needed, like 0.5", value);
		w->calls.min = percent / 100;
		return 0;
	case OPT_DEPTH:
		if (!fah_parse_count(value, &w->calls.depth))
			return fah_fail("tree: --depth %s: a number is needed, like 10", value);
		return 0;
	case OPT_SELF_LESS:
		w->calls.self_less = true;
		return 0;
	case OPT_JSON:
		w->json = true;
		return 0;
	case FAH_OPT_MEMORY:
		return fah_view_memory(&w->view, "tree", value);
	default:
		fah_view_option(&w->view, option, value);
		return 0;
	}
}

static int cmd_tree(const struct fah_command *cmd, int argc, char **argv)
{
	struct wanted w = {
		.calls = {.min = MIN_DEFAULT, .depth = DEPTH_DEFAULT},
		.view = FAH_TREE_INIT,
	};
	int status = fah_args_capture(cmd, argc, argv, "CAPTURE", take_option, &w, &w.path);

	return status >= 0 ? status : show(&w);
}

static const char *const examples[] = {
	"fixingahole tree performance/script/20260126_145848",
	"the call tree of a run of fixingahole profile, the dearest calls first",
	"fixingahole tree profile.fah --min 0.1 --self-less",
	"also small calls, without those that only pass on to one other",
	"fixingahole tree profile.fah --memory=live",
	"who asked for the memory that was not given back when the program ended",
	NULL,
};

const struct fah_command fah_cmd_tree = {
	.name = "tree",
	.usage = "CAPTURE [--min PERCENT] [--depth N] [--self-less] [OPTIONS]",
	.summary = "print who called what, and what it took",
	.description =
		"Prints the call tree of a capture, the dearest calls first: the share of the run "
		"that each took with all it called, the half width of its 95 % interval, its own "
		"share, and its seconds. Calls of one function by the same callers are one row, "
		"whatever their lines. A call that hands all its time on to one other has that "
		"one straight below it, in the same column.\n\n"
		"CAPTURE is a .fah file, a .partial file that a killed run left, or a run folder "
		"of fixingahole profile. From 112 columns on, the parts of each total have "
		"columns of their own: Python, native, system, waiting.",
	.options = options,
	.examples = examples,
	.run = cmd_tree,
};
