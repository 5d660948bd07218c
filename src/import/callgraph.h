/*
 * callgraph.h - files of other tools that tell functions and who called whom, made into struct
 * fah_exact. Their seconds are whatever the file counts: only shares of them mean something.
 *
 * Files are untrusted: whatever is in them, a graph comes out or an error that has a line's number.
 */
#ifndef FAH_IMPORT_CALLGRAPH_H
#define FAH_IMPORT_CALLGRAPH_H

#include "model/exact.h"

#include <stdbool.h>
#include <stddef.h>

struct fah_import_error {
	size_t line;	  /* from 1 on; 0: of no line */
	const char *text; /* what is wrong there, no full stop; static */
};

/* By their first lines. */
bool fah_import_is_callgrind(const char *text, size_t len);
bool fah_import_is_folded(const char *text, size_t len);

/*
 * callgrind.c: valgrind's, ours, and what else KCachegrind reads; the first of several events.
 * Functions that valgrind told apart by their depth of recursion (f'2) are one. *ret_whole: what
 * the file says that all took; 0: it does not. FAH_ERR_FORMAT with *ret_error; FAH_ERR_NOMEM.
 */
int fah_import_callgrind(const char *text, size_t len, struct fah_exact *into, double *ret_whole,
			 struct fah_import_error *ret_error);

/*
 * folded.c: a stack a line, "outer;inner 12". A frame "name (file:12)" has a file; its line is not
 * the function's, so that of one file and name is one function. Errors as above.
 */
int fah_import_folded(const char *text, size_t len, struct fah_exact *into,
		      struct fah_import_error *ret_error);

#endif
