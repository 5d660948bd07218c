/*
 * report.h - what all text views share: how to print, and for whom.
 *
 * Views write to a stream that they are given and to nothing else. Names, paths and sources come
 * from outside: control characters in them never reach the stream.
 */
#ifndef FAH_REPORT_REPORT_H
#define FAH_REPORT_REPORT_H

#include "model/profile.h"

#include <stdbool.h>
#include <stdio.h>

#define FAH_REPORT_WIDTH 120 /* of files */
#define FAH_REPORT_TOP 10

struct fah_report_options {
	int width;	  /* columns; 0: FAH_REPORT_WIDTH */
	bool colour;	  /* escape sequences */
	bool utf8;	  /* else ASCII only */
	bool seconds;	  /* costs in seconds of the run; else in percent of it */
	const char *root; /* absolute folder that paths are shown relative to; NULL: none */
	const struct fah_scope *scope; /* NULL: everything */
	const char *command;	       /* the first line; NULL: what the capture says */
	/* The program's code as it was when the run began, and the names that the capture may have
	 * for it (its path as it was given, and resolved); NULL: none. */
	const char *copy, *copy_of[2];
	bool trace;	  /* where the dearest functions are called from */
	uint32_t memory;  /* enum fah_heap_view: what functions, lines and files are listed by; 0:
			     their own peaks */
	size_t top;	  /* functions in the list of the summary; 0: FAH_REPORT_TOP */
	double floor;	  /* of the run, 0..1: less is not listed there; 0: what rounds to 0.1 % */
	const char *note; /* a line of its own below the totals, e.g. of the logs; NULL: none */
	bool so_far; /* the run goes on: said first, and nothing is said that only its end can tell
		      */
	uint64_t rss_bytes; /* with so_far: of the largest process now; 0: unknown */
};

#endif
