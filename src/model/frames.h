/*
 * frames.h - the frames of a view, each once, with the texts that people read; for view.c only.
 */
#ifndef FAH_MODEL_FRAMES_H
#define FAH_MODEL_FRAMES_H

#include "base/arena.h"
#include "base/map.h"
#include "model/view.h"

#define FAH_NO_FRAME UINT32_MAX /* no memory */

struct fah_frames {
	const struct fah_profile *p;
	struct fah_frame *all;
	size_t n, cap;
	struct fah_map by_key; /* kind and number, line -> index */
	struct fah_arena arena;
	const char **short_files; /* by file id; NULL: not made yet */
};

/* 0 or FAH_ERR_NOMEM; the caller releases either way. */
int fah_frames_init(struct fah_frames *f, const struct fah_profile *p);
void fah_frames_release(struct fah_frames *f);

/* The frame's number; FAH_NO_FRAME: no memory. line 0: of the function as a whole. */
uint32_t fah_frames_function(struct fah_frames *f, uint32_t function, uint32_t line);
uint32_t fah_frames_process(struct fah_frames *f, uint32_t process);
uint32_t fah_frames_thread(struct fah_frames *f, uint32_t thread);
uint32_t fah_frames_wait(struct fah_frames *f, uint32_t reason);
uint32_t fah_frames_empty(struct fah_frames *f);

#endif
