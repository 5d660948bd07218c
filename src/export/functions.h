/* functions.h - the functions that the frames of a view are lines of; for formats that tell both.
 */
#ifndef FAH_EXPORT_FUNCTIONS_H
#define FAH_EXPORT_FUNCTIONS_H

#include "model/view.h"

struct fah_functions {
	uint32_t *of_frame;	      /* by frame: index into all */
	const struct fah_frame **all; /* of each any frame */
	uint32_t *namesake;	      /* of each: the first with the same file and name */
	uint32_t n;
};

/* 0 or FAH_ERR_NOMEM; the caller releases either way. */
int fah_functions_init(struct fah_functions *f, const struct fah_frame *frames, size_t n);
void fah_functions_release(struct fah_functions *f); /* also for _cleanup_ */

#endif
