/* graph_out.h - a graph of calls as text or, through Graphviz's program, as a picture. */
#ifndef FAH_CLI_GRAPH_OUT_H
#define FAH_CLI_GRAPH_OUT_H

#include "export/dot.h"

/* Is it a name that fah_graph_write can write? 0, or an exit status after printing why not. Nothing
 * is written. NULL and "-" are stdout. */
int fah_graph_check_output(const char *path);

/* By how the name ends: .dot or .gv is the text, .svg and .png are pictures. A file is replaced
 * when all is written. 0, or an exit status after printing one line. */
int fah_graph_write(const char *path, const struct fah_callgraph *g,
		    const struct fah_dot_look *look);

#endif
