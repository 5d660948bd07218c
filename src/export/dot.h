/*
 * dot.h - a graph of calls as a text for Graphviz, in the look that gprof2dot's users know: what is
 * dear is red, what is cheap is blue.
 */
#ifndef FAH_EXPORT_DOT_H
#define FAH_EXPORT_DOT_H

#include "model/callgraph.h"

#include <stdbool.h>
#include <stdio.h>

struct fah_dot_look {
	bool by_self;	    /* functions have the colour of what they took by themselves */
	bool strip;	    /* files without their folders */
	const char *folder; /* files below it are shown without it; NULL: none */
	const char *title;  /* one line below the picture; NULL: none */
};

/* 0, FAH_ERR_NOMEM, or FAH_ERR_SYS with errno set. */
int fah_dot_write(FILE *f, const struct fah_callgraph *g, const struct fah_dot_look *look);

#endif
