/*
 * fuzz_import_folded.c - any bytes as folded stacks: an error with a line of the text, or a graph
 * in which nothing has more than all there is, and which can be drawn.
 */
#include "core/err.h"
#include "import/callgraph.h"
#include "model/callgraph.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void draw(const struct fah_exact *e, double whole)
{
	const struct fah_callgraph_wanted wanted = {.whole = whole, .leaf = "*a*"};
	struct fah_callgraph g;
	int err = fah_callgraph_init(&g, e, &wanted);

	check(err == 0 || err == FAH_ERR_USAGE);
	for (size_t i = 0; i < g.n_nodes; i++)
		check(g.nodes[i].total >= 0 && g.nodes[i].total <= 1 && g.nodes[i].self >= 0 &&
		      g.nodes[i].self <= 1);
	for (size_t i = 0; i < g.n_edges; i++)
		check(g.edges[i].share <= g.nodes[g.edges[i].caller].total &&
		      g.edges[i].share <= g.nodes[g.edges[i].callee].total);
	fah_callgraph_done(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct fah_import_error error = {0};
	size_t lines = 1;
	struct fah_exact e;
	double whole = 0, sum;
	int err;

	fah_exact_init(&e);
	fah_import_is_folded(text, size);
	err = fah_import_folded(text, size, &e, &error);
	check(err == 0 || err == FAH_ERR_FORMAT);
	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	if (err < 0) {
		check(error.text && error.line <= lines);
	} else {
		sum = fah_exact_whole(&e).self_s;
		for (size_t i = 0; i < e.n_functions; i++)
			check(e.functions[i].times.total_s <= sum * (1 + 1e-9));
		draw(&e, whole);
	}
	fah_exact_done(&e);
	return 0;
}
