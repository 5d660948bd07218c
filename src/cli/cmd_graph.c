/* cmd_graph.c - who called whom, as a drawing of boxes and arrows. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/export.h"
#include "cli/graph_file.h"
#include "cli/graph_out.h"
#include "core/err.h"

#include <stdio.h>
#include <string.h>

#define NODE_PERCENT 0.5
#define EDGE_PERCENT 0.1

enum {
	OPT_FORMAT = 1,
	OPT_OUTPUT,
	OPT_NODES,
	OPT_EDGES,
	OPT_ROOT,
	OPT_LEAF,
	OPT_STRIP,
	OPT_COLOUR,
};

static const struct fah_option options[] = {
	{OPT_FORMAT, "format", "f", "pstats|callgrind|folded",
	 "what the file is; without it, as it looks"},
	{OPT_OUTPUT, "output", "o", "FILE",
	 "a picture (.svg, .png) or the text (.dot), instead of the text on stdout"},
	{OPT_NODES, "node-thres", "n", "PERCENT",
	 "leave out functions with less than this of the run (0.5)"},
	{OPT_EDGES, "edge-thres", "e", "PERCENT",
	 "leave out calls with less than this of the run (0.1)"},
	{OPT_ROOT, "root", "z", "FUNC", "only what this function calls, and what that calls, ..."},
	{OPT_LEAF, "leaf", "l", "FUNC", "only what leads to calls of this function"},
	{OPT_STRIP, "strip", "s", NULL, "files by their names, without folders"},
	{OPT_COLOUR, "colour-by", NULL, "total|self",
	 "what makes a function's colour hot (default: total)"},
	{FAH_OPT_NATIVE, "native", NULL, NULL, "of a capture: native functions as well"},
	{FAH_OPT_BUSY, "busy", "b", NULL, "of a capture: without the time in which threads waited"},
	{0},
};

struct wanted {
	const char *format, *out;
	struct fah_callgraph_wanted graph;
	struct fah_dot_look look;
	struct fah_view view;
};

static int take_percent(const char *name, const char *value, double *to)
{
	double percent;

	if (!fah_parse_share(value, &percent))
		return fah_fail("graph: --%s %s: a percentage is needed, like 0.5", name, value);
	*to = percent / 100;
	return 0;
}

static int take_option(void *ctx, int option, const char *value)
{
	struct wanted *w = ctx;

	switch (option) {
	case OPT_FORMAT:
		w->format = value;
		return 0;
	case OPT_OUTPUT:
		w->out = value;
		return 0;
	case OPT_NODES:
		return take_percent("node-thres", value, &w->graph.node_share);
	case OPT_EDGES:
		return take_percent("edge-thres", value, &w->graph.edge_share);
	case OPT_ROOT:
		w->graph.root = value;
		return 0;
	case OPT_LEAF:
		w->graph.leaf = value;
		return 0;
	case OPT_STRIP:
		w->look.strip = true;
		return 0;
	case OPT_COLOUR:
		w->look.by_self = !strcmp(value, "self");
		if (!w->look.by_self && strcmp(value, "total") != 0)
			return fah_fail("graph: --colour-by %s: it is self or total", value);
		return 0;
	default:
		fah_view_option(&w->view, option, value);
		return 0;
	}
}

static bool is_known(const struct fah_exact *e, const char *text)
{
	for (size_t i = 0; i < e->n_functions; i++)
		if (fah_function_called(&e->functions[i], text))
			return true;
	return false;
}

static int fail_name(const struct fah_exact *e, const struct fah_callgraph_wanted *w)
{
	_cleanup_(fah_strbuf_release) struct fah_strbuf near = FAH_STRBUF_INIT;
	bool root = w->root && !is_known(e, w->root);
	const char *text = root ? w->root : w->leaf;

	fah_function_nearest(&near, e, text);
	return fah_fail("graph: --%s %s: there is no such function%s%s", root ? "root" : "leaf",
			text, near.len ? "; nearest: " : "", fah_strbuf_str(&near));
}

static int cmd_graph(const struct fah_command *cmd, int argc, char **argv)
{
	_cleanup_(fah_graph_release) struct fah_graph_file file = {0};
	_cleanup_(fah_callgraph_done) struct fah_callgraph graph = {0};
	struct wanted w = {
		.view = FAH_TREE_INIT,
		.graph = {.node_share = NODE_PERCENT / 100, .edge_share = EDGE_PERCENT / 100}};
	const char *argument;
	int err, status = fah_args_capture(cmd, argc, argv, "FILE | CAPTURE", take_option, &w,
					   &argument);

	if (status >= 0)
		return status;
	status = fah_graph_check_output(w.out);
	if (!status && w.out)
		status = fah_output_apart("graph: --output", w.out, argument);
	if (!status)
		status = fah_graph_open(&file, w.format, argument, &w.view);
	if (status)
		return status;
	w.graph.whole = file.whole;
	w.look.folder = file.folder;
	w.look.title = file.title;
	err = fah_callgraph_init(&graph, &file.exact, &w.graph);
	if (err == FAH_ERR_USAGE)
		return fail_name(&file.exact, &w.graph);
	if (err < 0)
		return fah_fail_err(err, "graph: %s", argument);
	if (!graph.n_nodes)
		fprintf(stderr,
			"fixingahole: graph: nothing is left to draw: no such function has "
			"%.4g%% of the run (-n)\n",
			100 * w.graph.node_share);
	return fah_graph_write(w.out, &graph, &w.look);
}

static const char *const examples[] = {
	"fixingahole graph -f pstats STATS_FILE | dot -Tpng -o output.png",
	"a picture of what cProfile wrote",
	"fixingahole graph profile.fah -o graph.svg",
	"a picture of a capture's calls, for the browser",
	"fixingahole graph callgrind.out.4711 -n 2 -e 1 | dot -Tpdf -o graph.pdf",
	"what valgrind saw, without what has less than 2 %",
	"fixingahole graph profile.fah --root 'app.py:main' --leaf '*.parse' -o parse.png",
	"the ways from main to any parse",
	NULL,
};

const struct fah_command fah_cmd_graph = {
	.name = "graph",
	.usage = "FILE | CAPTURE [-o FILE] [-n PERCENT] [-e PERCENT] [OPTIONS]",
	.summary = "draw who called whom, of a capture or of another tool's file",
	.description =
		"Draws functions as boxes and calls as arrows, in the manner of gprof2dot: the "
		"text that Graphviz reads goes to stdout, with -o a picture to a file (Graphviz "
		"must be there: apt install graphviz).\n\n"
		"FILE is a capture or the folder of a run, Python's own stats (cProfile's and the "
		"like), a file of callgrind's (valgrind's own, or any that KCachegrind reads; the "
		"first event counts), or folded stacks, one a line; - is stdin. Which one it is, "
		"its content says.\n\n"
		"A box has the function, where it stands, the share of the run that it took with "
		"all that it called, in brackets without that, and how often it was called where "
		"the file tells (samples don't). An arrow has the share of the run that these "
		"calls took. What is dear is red, what is cheap is blue. Recursion counts once, "
		"so nothing has more than 100 %; of functions that call each other in a circle "
		"the shares are upper bounds where a callgrind file does not tell levels of "
		"recursion apart, as valgrind's do. Long names are cut, and whole in the tooltips "
		"of an .svg.\n\n"
		"FUNC is a function's name, its last part (run of Class.run), either with its file "
		"in front (app.py:run), with the shell's patterns (*.run). Shares stay those of "
		"the whole run.",
	.options = options,
	.examples = examples,
	.run = cmd_graph,
};
