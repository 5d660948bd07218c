/* heap_options.h - --memory and --precision of the commands that start a program. */
#ifndef FAH_CLI_HEAP_OPTIONS_H
#define FAH_CLI_HEAP_OPTIONS_H

#include "cli/cli.h"

#include <stdint.h>

#define FAH_MEMORY_OPTION(id, letter) \
	{ \
		id, "memory", letter, NULL, \
			"memory too: what each line holds, and held at the peak" \
	}
#define FAH_PRECISION_OPTION(id, letter) \
	{ \
		id, "precision", letter, "N", \
			"one block in 10 MB / 2^N is recorded, N from -10 to 10 (default: in 512 " \
			"kB)" \
	}

#define FAH_EXACT_OPTION(id) \
	{ \
		id, "exact", NULL, "[=all|malloc]", \
			"with --memory: every block is recorded; malloc: not small objects" \
	}

struct fah_heap_options {
	bool memory, precise;
	bool exact, without_small; /* without_small: of malloc's and mmap's alone */
	int precision;
};

/* 0, or an exit status after saying why not. */
int fah_heap_take_precision(struct fah_heap_options *o, const char *command, const char *value);
int fah_heap_take_exact(struct fah_heap_options *o, const char *command, const char *value);
/* Mean bytes from one recorded block to the next, or FAH_HEAP_EVERY and its like. Where memory was
 * not asked for, but how it is to be recorded, or in two ways, that is said. */
uint64_t fah_heap_interval(const struct fah_heap_options *o, const char *command);

#endif
