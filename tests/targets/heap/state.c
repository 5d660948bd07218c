/*
 * state.c - what glibc's allocator has come to.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

/* From here on it takes up to this much from the heap, whatever the interpreter has given back so
 * far: whether its table of interned strings was made anew depends on a few strings more or less,
 * and code of ours for the program's logging has some. */
void begin(void)
{
	free(malloc(1000000));
}

/* Where malloc takes each size from: m, a mapping of its own, or h, the heap; which depends on what
 * was given back before. How many mappings it has; then, in bytes, what they are, the heap, and
 * what of it is in use. */
const char *state(void)
{
	static char said[200];
	int n = 0;

	for (size_t size = 100000; size < 64000000; size = size * 5 / 4) {
		size_t *volatile p = malloc(size);

		said[n++] = p[-1] & 2 ? 'm' : 'h';
		free(p);
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	struct mallinfo is = mallinfo(); /* its successor is not in older C libraries */
#pragma GCC diagnostic pop
	snprintf(said + n, sizeof said - (size_t)n, " %d %d %d %d", is.hblks, is.hblkhd, is.arena,
		 is.uordblks);
	return said;
}
