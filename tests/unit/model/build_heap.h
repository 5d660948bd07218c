/*
 * build_heap.h - a process whose every block is known, written as its agent would: with what it
 * held at each record and the most so far.
 */
#ifndef FAH_TESTS_MODEL_BUILD_HEAP_H
#define FAH_TESTS_MODEL_BUILD_HEAP_H

#include "build.h"

#include "model/heap.h"

#include <math.h>

struct memory {
	struct build *b;
	uint32_t process, thread;
	uint64_t interval, before, held, most, blocks, python;
};

static inline void memory_count(struct memory *m, int64_t bytes)
{
	m->held += (uint64_t)bytes;
	if (m->held > m->most)
		m->most = m->held;
}

static inline void memory_state(struct memory *m, double at_ms)
{
	fah_writer_heap(m->b->w, &(struct fah_rec_heap){.process = m->process,
							.time_ns = MS(at_ms),
							.interval = m->interval,
							.before = m->before,
							.python = m->python,
							.native = m->held - m->python,
							.most = m->most});
}

/* It begins with a state; before: held by the interpreter. */
static inline struct memory memory_begin(struct build *b, uint32_t process, uint32_t thread,
					 double at_ms, uint64_t before, uint64_t interval)
{
	struct memory m = {b, process, thread, interval, before, before, before, 0, 0};

	memory_state(&m, at_ms);
	return m;
}

/* A block that is recorded; its number. */
static inline uint64_t memory_alloc_kind(struct memory *m, double at_ms, uint32_t node,
					 uint64_t bytes, uint32_t kind)
{
	memory_count(m, (int64_t)bytes);
	fah_writer_alloc(m->b->w, &(struct fah_rec_alloc){.thread = m->thread,
							  .node = node,
							  .kind = kind,
							  .time_ns = MS(at_ms),
							  .block = ++m->blocks,
							  .bytes = bytes,
							  .held = m->held,
							  .most = m->most});
	return m->blocks;
}

static inline uint64_t memory_alloc(struct memory *m, double at_ms, uint32_t node, uint64_t bytes)
{
	return memory_alloc_kind(m, at_ms, node, bytes, FAH_MEMORY_NATIVE);
}

static inline void memory_free(struct memory *m, double at_ms, uint64_t block, uint64_t bytes)
{
	memory_count(m, -(int64_t)bytes);
	fah_writer_free_block(m->b->w, &(struct fah_rec_free){.process = m->process,
							      .time_ns = MS(at_ms),
							      .block = block,
							      .held = m->held,
							      .most = m->most});
}

static inline void memory_copy(struct memory *m, double at_ms, uint32_t node, uint64_t bytes,
			       uint64_t interval)
{
	fah_writer_copied(m->b->w, &(struct fah_rec_copy){.thread = m->thread,
							  .node = node,
							  .time_ns = MS(at_ms),
							  .bytes = bytes,
							  .interval = interval});
}

/* The usual one: a process of one thread, from 0 on. */
static inline struct memory memory_new(struct build *b, uint64_t before, uint64_t interval)
{
	uint32_t process, thread;

	build_begin(b);
	process = build_process(b, 10, 0);
	thread = build_thread(b, process, 10, 0);
	return memory_begin(b, process, thread, 0, before, interval);
}

static inline void memory_end(struct memory *m, double at_ms)
{
	memory_state(m, at_ms);
	build_process_end(m->b, m->process, at_ms, 50000000);
}

static inline const struct fah_heap *heap_of(struct fah_profile *p)
{
	const struct fah_heap *heap = NULL;

	assert_int_equal(fah_profile_heap(p, &fah_scope_everything, &heap), 0);
	assert_non_null(heap);
	return heap;
}

static inline const struct fah_heap_line *heap_line(const struct fah_heap *heap, uint32_t line)
{
	for (size_t i = 0; i < heap->n_files; i++)
		if (fah_heap_line_of(&heap->files[i], line))
			return fah_heap_line_of(&heap->files[i], line);
	fail_msg("line %u has no memory", line);
	return NULL;
}

#endif
