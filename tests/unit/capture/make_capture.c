/*
 * make_capture.c - a program that writes captures for tests.
 *
 *   make_capture golden PATH
 *   make_capture samples PATH N [STACKS [DEPTH [THREADS [contended]]]]
 */
#include "make.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number(int argc, char **argv, int i, uint32_t otherwise)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	struct fah_strbuf why = FAH_STRBUF_INIT;
	struct make_options opt;
	int err;

	if (argc == 3 && strcmp(argv[1], "golden") == 0) {
		err = make_golden(argv[2]);
	} else if (argc >= 4 && strcmp(argv[1], "samples") == 0) {
		opt.samples = strtoull(argv[3], NULL, 10);
		opt.stacks = number(argc, argv, 4, 5000);
		opt.depth = number(argc, argv, 5, 20);
		opt.threads = number(argc, argv, 6, 8);
		opt.contended = argc > 7;
		if (!opt.stacks || !opt.depth || !opt.threads)
			return 2;
		err = make_samples(argv[2], &opt, NULL, NULL);
	} else {
		fprintf(stderr, "usage: make_capture golden PATH\n"
				"       make_capture samples PATH N [STACKS [DEPTH [THREADS "
				"[contended]]]]\n");
		return 2;
	}
	if (err < 0) {
		fah_err_describe(&why, err, errno);
		fprintf(stderr, "make_capture: %s: %s\n", argv[2], fah_strbuf_str(&why));
		fah_strbuf_release(&why);
		return 1;
	}
	return 0;
}
