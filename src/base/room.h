/* room.h - arrays from malloc that grow. */
#ifndef FAH_BASE_ROOM_H
#define FAH_BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more item in an array from malloc that holds n; false: no memory, nothing changed.
 */
static inline bool fah_room(void *array, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;
	void *p;

	if (n < *cap)
		return true;
	memcpy(&p, array, sizeof(p)); /* array points to a pointer of any type */
	p = reallocarray(p, want, size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = want;
	return true;
}

#endif
