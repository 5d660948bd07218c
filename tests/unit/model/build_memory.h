/*
 * build_memory.h - memory as the kernel counted it, written as the collector would. Bytes are in
 * MB (1,000,000), -1: not known.
 */
#ifndef FAH_TESTS_MODEL_BUILD_MEMORY_H
#define FAH_TESTS_MODEL_BUILD_MEMORY_H

#include "build_heap.h"

#include "capture/reader.h"
#include "model/memory.h"

#define MB(x) ((x)*1e6)

static inline uint64_t figure(double mb)
{
	return mb < 0 ? FAH_MEMORY_UNKNOWN : (uint64_t)(mb * 1e6);
}

static inline void seen_process(struct build *b, uint32_t process, double at_ms, double resident,
				double swapped, double high)
{
	fah_writer_memory(b->w, &(struct fah_rec_memory){.process = process,
							 .time_ns = MS(at_ms),
							 .resident = figure(resident),
							 .swapped = figure(swapped),
							 .high = figure(high)});
}

struct seen {
	double available, used, cache, limit; /* limit 0: there is none */
	uint64_t kills;
};

/* Of a machine with 16 GB. */
static inline void seen_machine(struct build *b, double at_ms, struct seen s)
{
	fah_writer_memory(b->w,
			  &(struct fah_rec_memory){
				  .time_ns = MS(at_ms),
				  .total = figure(16000),
				  .available = figure(s.available),
				  .used = figure(s.used),
				  .cache = figure(s.cache),
				  .limit = s.limit == 0 ? FAH_MEMORY_NO_LIMIT : figure(s.limit),
				  .kills = s.kills,
			  });
}

/* Finish by this wait status and load. */
static inline struct fah_profile *load_ended(struct build *b, double wall_ms, uint32_t wait_status)
{
	const struct fah_run_end end = {.wall_ns = MS(wall_ms), .wait_status = wait_status};
	struct fah_profile *p = NULL;
	struct fah_reader *reader;
	struct fah_write_loss loss;

	assert_int_equal(fah_writer_finish(b->w, &end, &loss), 0);
	fah_writer_free(b->w);
	assert_int_equal(fah_reader_new(b->path, &reader), 0);
	build_remove(b);
	assert_int_equal(fah_profile_load(reader, &p), 0);
	fah_reader_free(reader);
	return p;
}

#endif
