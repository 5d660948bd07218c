/* draw_graph.h - what holds of every graph that a file of calls gave, for the targets that read
 * one. */
#ifndef FAH_FUZZ_DRAW_GRAPH_H
#define FAH_FUZZ_DRAW_GRAPH_H

#include "core/err.h"
#include "model/callgraph.h"

#include <stdlib.h>

static inline void check(bool ok)
{
	if (!ok)
		abort();
}

static inline void draw(const struct fah_exact *e, double whole)
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

#endif
