/*
 * build.h - captures by construction, for tests of the model and of reports: what is written is
 * known, so what must come out can be computed by hand. Times are in ms.
 */
#ifndef FAH_TESTS_MODEL_BUILD_H
#define FAH_TESTS_MODEL_BUILD_H

#include "capture/writer.h"
#include "core/segment.h"
#include "model/profile.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

struct build {
	char path[64];
	struct fah_writer *w;
	uint64_t seed;
};

#define MS(x) ((uint64_t)((x)*1e6))

static inline void build_begin(struct build *b)
{
	strcpy(b->path, "/tmp/fah-test-XXXXXX");
	assert_true(close(mkstemp(b->path)) == 0);
	assert_int_equal(fah_writer_new(b->path, &b->w), 0);
	b->seed = 88172645463325252u;
	fah_writer_meta(b->w, "command", "fixingahole profile advanced.py");
	fah_writer_meta(b->w, "cwd", "/home/me/project");
	fah_writer_meta(b->w, "rate_asked", "250");
}

/* A number in [0, 1), the same in every run of the test. */
static inline double build_random(struct build *b)
{
	b->seed ^= b->seed << 13;
	b->seed ^= b->seed >> 7;
	b->seed ^= b->seed << 17;
	return (double)(b->seed >> 11) / 9007199254740992.0;
}

static inline uint32_t build_function(struct build *b, const char *file, const char *name,
				      const char *qualname, uint32_t first_line)
{
	uint32_t f = fah_writer_string(b->w, file, strlen(file));
	uint32_t n = fah_writer_string(b->w, name, strlen(name));
	uint32_t q = qualname ? fah_writer_string(b->w, qualname, strlen(qualname)) : 0;

	return fah_writer_function(b->w, f, n, q, first_line);
}

static inline uint32_t build_process(struct build *b, uint32_t pid, double start_ms)
{
	struct fah_process_def def = {
		.pid = pid,
		.ppid = 1,
		.python_version = 0x030b0700,
		.clock = FAH_CLOCK_THREAD_CPU,
		.start_ns = MS(start_ms),
		.period_ns = MS(4),
		.cmdline = "python3\0advanced.py",
		.cmdline_len = 20,
	};

	return fah_writer_process(b->w, &def);
}

static inline uint32_t build_thread(struct build *b, uint32_t process, uint32_t tid,
				    double start_ms)
{
	return fah_writer_thread(b->w, process, tid, MS(start_ms), "t", 1);
}

static inline void build_process_end(struct build *b, uint32_t process, double at_ms, uint64_t rss)
{
	struct fah_process_end end = {
		.process = process,
		.status = FAH_AGENT_ENDED,
		.time_ns = MS(at_ms),
		.max_rss_bytes = rss,
		.reason = "",
	};

	fah_writer_process_end(b->w, &end);
}

/* Finish with END, or without one where wall_ms is 0. The file stays, as b->path or its .partial.
 */
static inline void build_finish(struct build *b, double wall_ms, double cpu_ms)
{
	struct fah_run_end end = {
		.wall_ns = MS(wall_ms),
		.user_ns = MS(cpu_ms),
		.max_rss_bytes = 1706000000,
	};
	struct fah_write_loss loss;

	if (wall_ms > 0) {
		assert_int_equal(fah_writer_finish(b->w, &end, &loss), 0);
	} else {
		fah_writer_flush(b->w);
		unlink(b->path);
	}
	fah_writer_free(b->w);
}

static inline void build_remove(struct build *b)
{
	char partial[80];

	snprintf(partial, sizeof(partial), "%s.partial", b->path);
	unlink(b->path);
	unlink(partial);
}

/* Finish and load with moments; *ret_reader must outlive the profile. The file is gone afterwards.
 */
static inline struct fah_profile *build_load_moments(struct build *b, double wall_ms, double cpu_ms,
						     struct fah_reader **ret_reader)
{
	struct fah_profile *p = NULL;

	build_finish(b, wall_ms, cpu_ms);
	assert_int_equal(fah_reader_new(b->path, ret_reader), 0);
	build_remove(b);
	assert_int_equal(fah_profile_load_moments(*ret_reader, &p), 0);
	return p;
}

/* Finish and load. The file is gone afterwards. */
static inline struct fah_profile *build_load(struct build *b, double wall_ms, double cpu_ms)
{
	struct fah_profile *p = NULL;
	struct fah_reader *r = NULL;

	build_finish(b, wall_ms, cpu_ms);
	assert_int_equal(fah_reader_new(b->path, &r), 0);
	build_remove(b);
	assert_int_equal(fah_profile_load(r, &p), 0);
	fah_reader_free(r);
	return p;
}

#endif
