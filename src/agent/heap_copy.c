/*
 * heap_copy.c - memcpy and its like, in front of libc's: how much is copied, and where.
 *
 * All bytes are counted; one in COPY_INTERVAL is picked as those of blocks are (heap_sample.c), and
 * its copy recorded. memcpy is done by memmove, which in glibc is the same code: programs that were
 * built for an old memcpy may overlap.
 *
 * The agent's own copies are none of the program's, and come from handlers: the linker gives them
 * __wrap_memcpy and __wrap_memmove (meson.build). An allocator's, of a block that grows, are not
 * counted either: libc's own allocator copies within itself, where nobody sees it.
 *
 * Programs built with _FORTIFY_SOURCE call __memcpy_chk and its like: those are counted here and
 * done by libc's, whose check of the room and whose end of the program stay what they are.
 */
#include "agent/heap.h"

#include <string.h>

static struct {
	void *(*memmove)(void *, const void *, size_t);
	size_t (*strlen)(const char *);
	size_t (*strnlen)(const char *, size_t);
} real; /* NULL: our constructor has not run yet */

/* libc's functions that check the room there is: by bytes, by a string, by at most n of one. */
typedef void *bytes_fn(void *, const void *, size_t, size_t);
typedef char *string_fn(char *, const char *, size_t);
typedef char *part_fn(char *, const char *, size_t, size_t);
static struct {
	bytes_fn *memcpy, *memmove, *mempcpy;
	string_fn *strcpy, *stpcpy, *strcat;
	part_fn *strncpy, *stpncpy, *strncat;
} checked; /* likewise */

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
	*(void **)&checked.memcpy = fah_real("__memcpy_chk");
	*(void **)&checked.memmove = fah_real("__memmove_chk");
	*(void **)&checked.mempcpy = fah_real("__mempcpy_chk");
	*(void **)&checked.strcpy = fah_real("__strcpy_chk");
	*(void **)&checked.stpcpy = fah_real("__stpcpy_chk");
	*(void **)&checked.strcat = fah_real("__strcat_chk");
	*(void **)&checked.strncpy = fah_real("__strncpy_chk");
	*(void **)&checked.stpncpy = fah_real("__stpncpy_chk");
	*(void **)&checked.strncat = fah_real("__strncat_chk");
}

static inline void count(size_t n)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	if (__builtin_expect(h->inside != 0, 0))
		return;
	h->copy_left -= (int64_t)n;
	if (__builtin_expect(h->copy_left < 0, 0))
		fah_heap_copied(n);
}

static inline void *copy(void *to, const void *from, size_t n)
{
	count(n);
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

/* Before our constructor, that of another library may call these. Where libc has none of them,
 * nobody was built for them. */
#define CHECKED(name) \
	(checked.name ? checked.name \
		      : (__typeof__(checked.name))(uintptr_t)fah_real("__" #name "_chk"))

/* As a header would have them: there is none. */
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
char *__strcpy_chk(char *to, const char *s, size_t room);
char *__stpcpy_chk(char *to, const char *s, size_t room);
char *__strcat_chk(char *to, const char *s, size_t room);
char *__strncpy_chk(char *to, const char *s, size_t n, size_t room);
char *__stpncpy_chk(char *to, const char *s, size_t n, size_t room);
char *__strncat_chk(char *to, const char *s, size_t n, size_t room);

#define BY_BYTES(name) \
	FAH_AGENT_EXPORT void *__##name##_chk(void *to, const void *from, size_t n, size_t room) \
	{ \
		bytes_fn *fn = CHECKED(name); \
\
		count(n); \
		return fn(to, from, n, room); \
	}

#define BY_STRING(name) \
	FAH_AGENT_EXPORT char *__##name##_chk(char *to, const char *s, size_t room) \
	{ \
		string_fn *fn = CHECKED(name); \
\
		count(length(s) + 1); \
		return fn(to, s, room); \
	}

#define BY_PART(name) \
	FAH_AGENT_EXPORT char *__##name##_chk(char *to, const char *s, size_t n, size_t room) \
	{ \
		part_fn *fn = CHECKED(name); \
\
		count(length_to(s, n)); \
		return fn(to, s, n, room); \
	}

BY_BYTES(memcpy)
BY_BYTES(memmove)
BY_BYTES(mempcpy)
BY_STRING(strcpy)
BY_STRING(stpcpy)
BY_STRING(strcat)
BY_PART(strncpy)
BY_PART(stpncpy)
BY_PART(strncat)
