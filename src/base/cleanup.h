/*
 * cleanup.h - the one cleanup style of the tool side: variables free themselves at the end of
 * their scope, TAKE_PTR hands their value over. Not for agent code.
 */
#ifndef FAH_BASE_CLEANUP_H
#define FAH_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* The pointer's value; the variable is NULL afterwards, so its cleanup does nothing. */
#define TAKE_PTR(p) \
	__extension__({ \
		__typeof__(p) *take_ptr_ = &(p); \
		__typeof__(p) took_ptr_ = *take_ptr_; \
		*take_ptr_ = NULL; \
		took_ptr_; \
	})

/* fah_x_freep for a fah_x_free that accepts NULL: FAH_DEFINE_FREEP(struct fah_x *, fah_x_free). */
#define FAH_DEFINE_FREEP(type, func) \
	static inline void func##p(type *p) \
	{ \
		func(*p); \
	}

/* For pointers from malloc: _cleanup_(fah_freep) char *s = NULL; */
static inline void fah_freep(void *p)
{
	free(*(void **)p);
}

static inline void fah_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fah_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#endif
