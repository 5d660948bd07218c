/* cmd_flame.c - the flame graph of a capture, in the terminal or as a picture. */
#include "base/cleanup.h"
#include "base/term.h"
#include "cli/export.h"
#include "core/err.h"
#include "report/flame.h"

#include <stdio.h>
#include <unistd.h>

#define ROWS_DEFAULT 60

enum { OPT_OUTPUT = 1, OPT_DEPTH };

static const struct fah_option options[] = {
	{OPT_OUTPUT, "output", "o", "FILE",
	 "an interactive picture (.svg) instead of text; - is stdout"},
	{OPT_DEPTH, "depth", NULL, "N", "so many rows in the terminal (60)"},
	FAH_TREE_OPTIONS,
	{0},
};

FAH_DEFINE_FREEP(struct fah_calltree *, fah_calltree_free)
FAH_DEFINE_FREEP(struct fah_stacks *, fah_stacks_free)

static int draw(const struct fah_opened *opened, const struct fah_view *view, uint32_t rows)
{
	_cleanup_(fah_stacks_freep) struct fah_stacks *stacks = NULL;
	_cleanup_(fah_calltree_freep) struct fah_calltree *tree = NULL;
	struct fah_report_options o = {
		.width = fah_term_width(STDOUT_FILENO),
		.colour = fah_term_color(STDOUT_FILENO),
		.utf8 = fah_term_utf8(),
	};
	int err = fah_stacks_new(opened->profile, view, &stacks);

	if (err == FAH_ERR_USAGE)
		return fah_fail_only(view);
	if (err == 0)
		err = fah_calltree_new(stacks, true, &tree);
	if (err == 0)
		err = fah_report_flame(stdout, opened->profile, tree, rows, &o);
	return err < 0 ? fah_fail_err(err, "flame: %s", opened->path) : FAH_STATUS_OK;
}

struct wanted {
	const char *out;
	struct fah_view view;
	uint32_t rows;
};

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;

	if (option == OPT_OUTPUT)
		w->out = value;
	else if (option == OPT_DEPTH && !fah_parse_count(value, &w->rows))
		return fah_fail("flame: --depth %s: a number is needed, like 10", value);
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
	status = fah_open_capture(&opened, "flame", path);
	if (status != FAH_STATUS_OK)
		return status;
	return w.out ? fah_export_to(&opened, fah_export_find("svg"), &w.view, w.out, stderr)
		     : draw(&opened, &w.view, w.rows);
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
		"With -o it is a picture (SVG) that needs nothing but a browser: click a box to "
		"zoom, press / to search by a regular expression, arrow keys to move, Escape for "
		"all. CAPTURE is a .fah file, a .partial file that a killed run left, or a run "
		"folder of fixingahole profile.",
	.options = options,
	.examples = examples,
	.run = cmd_flame,
};
