/*
 * make.h - captures for tests, the same bytes every time. Also the program make_capture.
 */
#ifndef FAH_TESTS_CAPTURE_MAKE_H
#define FAH_TESTS_CAPTURE_MAKE_H

#include "capture/writer.h"

#include <stdbool.h>
#include <stdint.h>

/* A small capture with every record type and every kind of value; tests/golden/v2.fah. */
int make_golden(const char *path);

struct make_options {
	uint64_t samples;
	uint32_t stacks; /* distinct ones */
	uint32_t depth;	 /* of a stack, on average */
	uint32_t threads;
	bool contended; /* threads that wait for each other, as at a GIL: 5 ms in turn */
};

/* What a reader must find again. */
struct make_sums {
	uint64_t samples, cpu_us, nodes, functions;
};

/* ret_loss may be NULL: then any loss is FAH_ERR_SYS. ret_sums may be NULL. */
int make_samples(const char *path, const struct make_options *opt, struct make_sums *ret_sums,
		 struct fah_write_loss *ret_loss);

#endif
