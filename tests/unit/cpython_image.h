/*
 * cpython_image.h - memory that is wrong in every way, for walks to be made over: random, with
 * pointers that lead back into it, cut, failing now and then. Seeds are fixed.
 */
#ifndef FAH_TESTS_CPYTHON_IMAGE_H
#define FAH_TESTS_CPYTHON_IMAGE_H

#include "core/err.h"
#include "cpython/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BASE 0x7f0000000000ull
#define SIZE 32768u

struct image {
	uint8_t bytes[SIZE];
	uint64_t seed;
	uint32_t fail_one_in; /* 0: never */
	unsigned long reads;
};

static inline uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static inline int read_image(const struct fah_mem *mem, const struct fah_piece *pieces, int n)
{
	struct image *image = (struct image *)(uintptr_t)mem->ctx;

	assert_in_range(n, 1, FAH_PIECES_MAX);
	for (int i = 0; i < n; i++) {
		uint64_t at = pieces[i].addr - BASE;

		image->reads++;
		if (at > SIZE || pieces[i].len > SIZE - at)
			return i;
		if (image->fail_one_in != 0 && next(&image->seed) % image->fail_one_in == 0)
			return i;
		memcpy(pieces[i].dst, image->bytes + at, pieces[i].len);
	}
	return n;
}

/* Random words: small numbers, and addresses inside the image, often aligned as objects are. */
static inline void fill(struct image *image, uint64_t seed)
{
	image->seed = seed * 0x9e3779b97f4a7c15ull + 1;
	image->reads = 0;
	for (size_t i = 0; i + 8 <= SIZE; i += 8) {
		uint64_t r = next(&image->seed), word;

		switch (r % 8) {
		case 0:
			word = next(&image->seed);
			break;
		case 1:
			word = r >> 8 & 0xff;
			break;
		case 2:
			word = 0;
			break;
		case 3:
			word = r >> 8 & 0x3f000000ff;
			break;
		default:
			word = BASE + (r >> 8) % SIZE / 16 * 16;
			break;
		}
		memcpy(image->bytes + i, &word, 8);
	}
}

static inline void put(struct image *image, uint64_t addr, uint64_t word, size_t len)
{
	if (addr >= BASE && addr - BASE + len <= SIZE)
		memcpy(image->bytes + (addr - BASE), &word, len);
}

/* Makes the walk go further than chance would: types that fit, a plausible data stack. */
static inline void help(struct image *image, const struct fah_py_layout *l, uint64_t type)
{
	uint64_t chunk = BASE + 8192, tstate = BASE + 4096;

	for (size_t i = 0; i < SIZE; i += 16)
		if (next(&image->seed) % 3)
			put(image, BASE + i + l->ob_type, type, 8);
	if (l->frames_kind == FAH_PY_FRAMES_OBJECT)
		return;
	put(image, tstate + l->ts_chunk, chunk, 8);
	put(image, tstate + l->ts_chunk + 8, chunk + 512 + next(&image->seed) % 1024 * 8, 8);
	put(image, chunk + l->chunk_previous, next(&image->seed) % 2 ? 0 : BASE + 16384, 8);
	put(image, chunk + l->chunk_size, 16384, 8);
	put(image, BASE + 16384 + l->chunk_previous, next(&image->seed) % 2 ? 0 : chunk, 8);
	put(image, BASE + 16384 + l->chunk_size, 16384, 8);
	put(image, BASE + 16384 + l->chunk_top, next(&image->seed) % 2048, 8);
	put(image, tstate + l->ts_exc_info, tstate + l->ts_exc_state, 8);
}

/* Whatever the image holds, a walk ends: with a stack (0), or with a doubt and no frame. */
static inline uint32_t walk_image(struct fah_py_walk *walk, const struct fah_mem *mem,
				  const struct fah_py_layout *layout)
{
	int err = fah_py_walk_thread(walk, mem, layout, BASE + 4096);

	assert_true(err == 0 || err == FAH_ERR_DOUBT);
	assert_true(walk->n_frames <= FAH_PY_MAX_FRAMES);
	if (err == 0)
		return 0;
	assert_in_range(walk->doubt, 1, FAH_PY_DOUBT_COUNT - 1);
	assert_int_equal(walk->n_frames, 0);
	return walk->doubt;
}

#endif
