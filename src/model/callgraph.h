/*
 * callgraph.h - the part of a graph of calls that is worth drawing, with shares in place of times.
 *
 * Made of functions and edges wherever they come from (exact.h). Shares are of all there is, also
 * where only a part is drawn; no function and no edge has more than 1.
 */
#ifndef FAH_MODEL_CALLGRAPH_H
#define FAH_MODEL_CALLGRAPH_H

#include "base/strbuf.h"
#include "model/exact.h"

#include <stdbool.h>

struct fah_callgraph_wanted {
	double whole;	   /* what shares are of; less than what there is: that */
	double node_share; /* functions whose total is less are left out */
	double edge_share; /* and edges, likewise */
	const char *root;  /* only what functions called so reach; NULL: everything */
	const char *leaf;  /* only what reaches functions called so; NULL: everything */
};

struct fah_callgraph_node {
	uint32_t function;  /* in exact */
	double self, total; /* 0..1 */
	uint64_t calls;	    /* 0: not known */
};

struct fah_callgraph_edge {
	uint32_t caller, callee; /* nodes */
	double share;		 /* of the calls, with what they called */
	uint64_t calls;		 /* 0: not known */
};

struct fah_callgraph {
	const struct fah_exact *exact;	  /* borrowed */
	struct fah_callgraph_node *nodes; /* largest total first */
	struct fah_callgraph_edge *edges; /* largest share first */
	size_t n_nodes, n_edges;
};

/*
 * FAH_ERR_USAGE: root, or else leaf, is the name of nothing. FAH_ERR_NOMEM. The caller releases *g
 * either way; exact must outlive it.
 */
int fah_callgraph_init(struct fah_callgraph *g, const struct fah_exact *exact,
		       const struct fah_callgraph_wanted *wanted);
void fah_callgraph_done(struct fah_callgraph *g); /* also for _cleanup_, on a zeroed struct */

/*
 * Is this what somebody means by text? The name, its last part ("run" is Class.run), either with
 * its file in front ("app.py:run", "pkg/app.py:run"), "module:line:name" as gprof2dot calls
 * functions; all with the shell's patterns. Names that have such characters also mean themselves.
 */
bool fah_function_called(const struct fah_exact_function *f, const char *text);
/* The names nearest to text, at most three, with ", " between; nothing where none is near. */
void fah_function_nearest(struct fah_strbuf *to, const struct fah_exact *e, const char *text);

#endif
