/*
 * heap_copy.c - memcpy and its like, in front of libc's: how much is copied, and where.
 *
 * All bytes are counted; one in COPY_INTERVAL is picked as those of blocks are (heap_sample.c), and
 * its copy recorded. memcpy is done by memmove, which in glibc is the same code: programs that were
 * built for an old memcpy may overlap.
 *
 * The agent's own copies are none of the program's, and come from handlers: the linker gives them
 * __wrap_memcpy and __wrap_memmove (meson.build).
 */
#include "agent/heap.h"

#include <string.h>

static struct {
	void *(*memmove)(void *, const void *, size_t);
	size_t (*strlen)(const char *);
	size_t (*strnlen)(const char *, size_t);
} real; /* NULL: our constructor has not run yet */

/* Backwards where the end would be overwritten before it is read. */
static void *copy_plainly(void *to, const void *from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;

	if ((uintptr_t)d - (uintptr_t)s >= n) {
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		return to;
	}
	for (d += n, s += n; n; n--) {
		*--d = *--s;
		__asm__ volatile("" : : : "memory"); /* not a call of memmove */
	}
	return to;
}

void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	return copy_plainly(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n)
{
	return copy_plainly(to, from, n);
}

void fah_heap_setup(void)
{
	*(void **)&real.strlen = fah_real("strlen");
	*(void **)&real.strnlen = fah_real("strnlen");
	*(void **)&real.memmove = fah_real("memmove");
}

static inline void *copy(void *to, const void *from, size_t n)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	h->copy_left -= (int64_t)n;
	if (__builtin_expect(h->copy_left < 0, 0))
		fah_heap_copied(n);
	return __builtin_expect(real.memmove != NULL, 1) ? real.memmove(to, from, n)
							 : copy_plainly(to, from, n);
}

static size_t length(const char *s)
{
	size_t n = 0;

	if (real.strlen)
		return real.strlen(s);
	while (s[n])
		n++;
	return n;
}

static size_t length_to(const char *s, size_t most)
{
	size_t n = 0;

	if (real.strnlen)
		return real.strnlen(s, most);
	while (n < most && s[n])
		n++;
	return n;
}

/* At most n bytes of s, and zeros up to n, as strncpy does. Where they begin. */
static char *copy_padded(char *to, const char *s, size_t n)
{
	size_t len = length_to(s, n);

	copy(to, s, len);
	memset(to + len, 0, n - len);
	return to + len;
}

FAH_AGENT_EXPORT void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return copy(to, from, n);
}

FAH_AGENT_EXPORT void *memmove(void *to, const void *from, size_t n)
{
	return copy(to, from, n);
}

FAH_AGENT_EXPORT void *mempcpy(void *restrict to, const void *restrict from, size_t n)
{
	return (char *)copy(to, from, n) + n;
}

FAH_AGENT_EXPORT char *strcpy(char *restrict to, const char *restrict s)
{
	return copy(to, s, length(s) + 1);
}

FAH_AGENT_EXPORT char *stpcpy(char *restrict to, const char *restrict s)
{
	size_t n = length(s);

	return (char *)copy(to, s, n + 1) + n;
}

FAH_AGENT_EXPORT char *strncpy(char *restrict to, const char *restrict s, size_t n)
{
	copy_padded(to, s, n);
	return to;
}

FAH_AGENT_EXPORT char *stpncpy(char *restrict to, const char *restrict s, size_t n)
{
	return copy_padded(to, s, n);
}

FAH_AGENT_EXPORT char *strcat(char *restrict to, const char *restrict s)
{
	copy(to + length(to), s, length(s) + 1);
	return to;
}

FAH_AGENT_EXPORT char *strncat(char *restrict to, const char *restrict s, size_t n)
{
	size_t at = length(to), len = length_to(s, n);

	copy(to + at, s, len);
	to[at + len] = 0;
	return to;
}
