/* cmd_flame.c - the flame graph of a capture, in the terminal or as a picture. */
#include "base/cleanup.h"
#include "base/path.h"
#include "cli/calls.h"
#include "cli/export.h"
#include "report/flame.h"

#include <stdio.h>
#include <string.h>

#define ROWS_DEFAULT 60

enum { OPT_OUTPUT = 1, OPT_DEPTH };

static const struct fah_option options[] = {
	{OPT_OUTPUT, "output", "o", "FILE",
	 "an interactive picture (.svg) instead of text; - is stdout"},
	{OPT_DEPTH, "depth", NULL, "N", "so many rows in the terminal (60)"},
	FAH_TREE_OPTIONS,
	FAH_MEMORY_VIEW,
	{0},
};

struct wanted {
	const char *out;
	struct fah_view view;
	uint32_t rows;
};

static int draw(const struct wanted *w, const char *path)
{
	_cleanup_(fah_calls_release) struct fah_calls calls = {0};
	int err, status = fah_open_calls(&calls, "flame", path, &w->view, true);

	if (status != FAH_STATUS_OK)
		return status;
	err = fah_report_flame(stdout, calls.opened.profile, calls.tree, w->rows, &calls.terminal);
	return err < 0 ? fah_fail_err(err, "flame: %s", calls.opened.path) : FAH_STATUS_OK;
}

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;

	if (option == OPT_OUTPUT)
		w->out = value;
	else if (option == OPT_DEPTH && !fah_parse_count(value, &w->rows))
		return fah_fail("flame: --depth %s: a number is needed, like 10", value);
	else if (option == FAH_OPT_MEMORY)
		return fah_view_memory(&w->view, "flame", value);
	else
		fah_view_option(&w->view, option, value);
	return 0;
}

static int cmd_flame(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_opened_release) struct fah_opened opened = {0};
	struct wanted w = {.view = FAH_TREE_INIT, .rows = ROWS_DEFAULT};
	const char *path;
	int status = fah_args_capture(cmd, argc, argv, "CAPTURE", take_option, &w, &path);

	if (status >= 0)
		return status;
	if (!w.out)
		return draw(&w, path);
	if (strcmp(w.out, "-") != 0 && !fah_path_ends(w.out, ".svg"))
		return fah_fail("flame: -o %s: a flame graph is a picture in SVG, so a name that "
				"ends in .svg is needed; for other formats: fixingahole export %s "
				"-o FILE",
				w.out, path);
	status = fah_open_view(&opened, "flame", path, &w.view);
	if (status != FAH_STATUS_OK)
		return status;
	return fah_export_to(&opened, fah_export_find("svg"), &w.view, w.out, stderr);
}

static const char *const examples[] = {
	"fixingahole flame performance/script/20260126_145848",
	"a flame graph in the terminal",
	"fixingahole flame profile.fah --native -o flame.svg",
	"a picture for the browser, with native functions: click to zoom, / to search",
	NULL,
};

const struct fah_command fah_cmd_flame = {
	.name = "flame",
	.usage = "CAPTURE [-o FILE.svg] [--depth N] [OPTIONS]",
	.summary = "draw a flame graph, in the terminal or as a picture",
	.description =
		"Draws the call tree of a capture as rows of boxes: each as wide as its share of "
		"the run, callers above what they call, the dearest first. Python, native, system "
		"and waiting have each a colour and a filling of their own.\n\n"
		"With -o FILE.svg it is a picture that needs nothing but a browser: click a box to "
		"zoom, press / to search by a regular expression, arrow keys to move, Escape for "
		"all. CAPTURE is a .fah file, a .partial file that a killed run left, or a run "
		"folder of fixingahole profile.",
	.options = options,
	.examples = examples,
	.run = cmd_flame,
};
