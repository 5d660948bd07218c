/*
 * make_capture.c - a program that writes captures for tests.
 *
 *   make_capture golden PATH
 *   make_capture samples PATH N [STACKS [DEPTH [THREADS [contended]]]]
 *   make_capture read PATH      how long reading takes, in CPU time: no test, a measurement
 */
#include "make.h"

#include "base/err.h"
#include "capture/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t number(int argc, char **argv, int i, uint32_t otherwise)
{
	return argc > i ? (uint32_t)strtoul(argv[i], NULL, 10) : otherwise;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int measure(const char *path)
{
	double start = cpu_seconds(), opened, checked, decoded;
	uint64_t bytes = 0, n = 0, sum = 0;
	struct fah_reader *r = NULL;
	struct fah_samples_block block;
	struct fah_sample_item item;
	struct fah_record rec;
	int err = fah_reader_new(path, &r);

	if (err < 0)
		return err;
	opened = cpu_seconds();
	while (fah_reader_next(r, &rec) > 0)
		bytes += rec.len;
	checked = cpu_seconds();
	fah_reader_rewind(r);
	while (fah_reader_next(r, &rec) > 0) {
		if (rec.type != FAH_REC_SAMPLES || fah_samples_open(&rec, &block) < 0)
			continue;
		for (; fah_samples_next(&block, &item); n++)
			sum += item.cpu_ns + item.node;
	}
	decoded = cpu_seconds();
	printf("%" PRIu64 " samples, %" PRIu64 " bytes: read %.3f s, checked %.3f s (%.2f GB/s), "
	       "decoded %.3f s (%.1f ns a sample), sum %" PRIu64 "\n",
	       n, bytes, opened - start, checked - opened, (double)bytes / 1e9 / (checked - opened),
	       decoded - checked, n ? (decoded - checked) / (double)n * 1e9 : 0, sum);
	fah_reader_free(r);
	return 0;
}

int main(int argc, char **argv)
{
	struct fah_strbuf why = FAH_STRBUF_INIT;
	struct make_options opt;
	int err;

	if (argc == 3 && strcmp(argv[1], "golden") == 0) {
		err = make_golden(argv[2]);
	} else if (argc == 3 && strcmp(argv[1], "read") == 0) {
		err = measure(argv[2]);
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
