/*
 * targets.h - which node of a stack pays for it: the innermost Python frame inside a scope. For the
 * files of this folder only.
 */
#ifndef FAH_MODEL_TARGETS_H
#define FAH_MODEL_TARGETS_H

#include "model/internal.h"

#define FAH_TARGET_OUTSIDE UINT32_MAX /* Python frames, but none inside */

struct fah_targets {
	uint32_t *node; /* by node: the node it is charged to; 0: no Python */
	bool *inside;	/* by file */
};

/* Zeroed *ret; FAH_ERR_NOMEM. Release it in any case. */
int fah_targets_find(const struct fah_profile *p, const struct fah_scope *scope,
		     struct fah_targets *ret);
void fah_targets_release(struct fah_targets *t);

#endif
