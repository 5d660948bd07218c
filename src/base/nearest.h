/* nearest.h - how far a name that was typed is from one that exists: for "did you mean". */
#ifndef FAH_BASE_NEAREST_H
#define FAH_BASE_NEAREST_H

#include <stddef.h>

/*
 * Letters to insert, leave out, replace or swap with a neighbour until a is b; capitals don't
 * count. Names longer than 255 bytes are FAH_NEAREST_FAR, as is everything from there on.
 */
#define FAH_NEAREST_FAR 255u
size_t fah_nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* How far a name of that length may be from what was meant. */
static inline size_t fah_nearest_limit(size_t len)
{
	return 1 + len / 4;
}

#endif
