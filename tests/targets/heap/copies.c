/*
 * copies.c - every function that copies, those of fortified programs too: right() says whether each
 * does what it has to, volume() copies VOLUME bytes by each, overflow() more than there is room to.
 *
 * Preloaded, it has an allocator that copies for itself, too.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define VOLUME 20000000u
#define PIECE 65536u /* at a time */
#define ROOM 256u

/* As the compiler calls them with _FORTIFY_SOURCE. */
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);

static char to[ROOM];

static void *refill(void)
{
	memset(to, '#', sizeof(to));
	to[3] = 0; /* "###", to which strcat adds */
	return to;
}

/* Whether to begins with these bytes, and nothing behind them was touched. */
static int has(const char *bytes, size_t n)
{
	for (size_t i = 0; i < ROOM; i++)
		if (to[i] != (i < n ? bytes[i] : i == 3 ? 0 : '#'))
			return 0;
	return 1;
}

#define CHECK(call, returns, bytes) \
	do { \
		refill(); \
		if ((call) != to + (returns) || !has(bytes, sizeof(bytes) - 1)) \
			return __LINE__; \
	} while (0)

/* 0, or the line of what went wrong. */
int right(void)
{
	char text[ROOM];

	CHECK((char *)memcpy(to, "abcd\0ef", 7), 0, "abcd\0ef");
	CHECK((char *)memmove(to, "abcd\0ef", 7), 0, "abcd\0ef");
	CHECK((char *)mempcpy(to, "abcd\0ef", 7), 7, "abcd\0ef");
	CHECK((char *)memcpy(to, "", 0), 0, "");
	CHECK(strcpy(to, "hello"), 0, "hello\0");
	CHECK(strcpy(to, ""), 0, "\0");
	CHECK(stpcpy(to, "hello"), 5, "hello\0");
	CHECK(strncpy(to, "hello", 9), 0, "hello\0\0\0\0");
	CHECK(strncpy(to, "hello", 5), 0, "hello");
	CHECK(strncpy(to, "hello", 4), 0, "hell");
	CHECK(strncpy(to, "hello", 0), 0, "");
	CHECK(stpncpy(to, "hello", 9), 5, "hello\0\0\0\0");
	CHECK(stpncpy(to, "hello", 4), 4, "hell");
	CHECK(strcat(to, "hello"), 0, "###hello\0");
	CHECK(strncat(to, "hello", 9), 0, "###hello\0");
	CHECK(strncat(to, "hello", 4), 0, "###hell\0");
	CHECK(strncat(to, "hello", 0), 0, "###\0");
	CHECK((char *)__memcpy_chk(to, "abcd\0ef", 7, ROOM), 0, "abcd\0ef");
	CHECK((char *)__memmove_chk(to, "abcd\0ef", 7, 7), 0, "abcd\0ef");
	CHECK((char *)__mempcpy_chk(to, "abcd\0ef", 7, ROOM), 7, "abcd\0ef");
	CHECK(__strcpy_chk(to, "hello", 6), 0, "hello\0");
	CHECK(__stpcpy_chk(to, "hello", ROOM), 5, "hello\0");
	CHECK(__strcat_chk(to, "hello", 9), 0, "###hello\0");
	CHECK(__strncpy_chk(to, "hello", 9, 9), 0, "hello\0\0\0\0");
	CHECK(__stpncpy_chk(to, "hello", 9, ROOM), 5, "hello\0\0\0\0");
	CHECK(__strncat_chk(to, "hello", 4, 8), 0, "###hell\0");
	/* one over the other, both ways */
	for (int checked = 0; checked < 2; checked++) {
		strcpy(text, "0123456789");
		if (checked)
			__memmove_chk(text + 2, text, 8, ROOM - 2);
		else
			memmove(text + 2, text, 8);
		if (strcmp(text, "0101234567"))
			return __LINE__;
		if (checked)
			__memmove_chk(text, text + 2, 8, ROOM);
		else
			memmove(text, text + 2, 8);
		if (strcmp(text, "0123456767"))
			return __LINE__;
	}
	return 0;
}

#define N_WAYS 18

/* n bytes by each way: with its NUL, where the way counts that. */
static void by(int way, char *p, const char *s, size_t n)
{
	switch (way) {
	case 0:
		memcpy(p, s, n);
		break;
	case 1:
		memmove(p, s, n);
		break;
	case 2:
		mempcpy(p, s, n);
		break;
	case 3:
		strcpy(p, s);
		break;
	case 4:
		stpcpy(p, s);
		break;
	case 5:
		strncpy(p, s, n);
		break;
	case 6:
		stpncpy(p, s, n);
		break;
	case 7:
		*p = 0;
		strcat(p, s);
		break;
	case 8:
		*p = 0;
		strncat(p, s, n);
		break;
	case 9:
		__memcpy_chk(p, s, n, PIECE);
		break;
	case 10:
		__memmove_chk(p, s, n, PIECE);
		break;
	case 11:
		__mempcpy_chk(p, s, n, PIECE);
		break;
	case 12:
		__strcpy_chk(p, s, PIECE);
		break;
	case 13:
		__stpcpy_chk(p, s, PIECE);
		break;
	case 14:
		__strncpy_chk(p, s, n, PIECE);
		break;
	case 15:
		__stpncpy_chk(p, s, n, PIECE);
		break;
	case 16:
		*p = 0;
		__strcat_chk(p, s, PIECE);
		break;
	default:
		*p = 0;
		__strncat_chk(p, s, n, PIECE);
		break;
	}
}

/* The bytes that were copied, all in all. */
size_t volume(void)
{
	static char a[PIECE], b[PIECE];
	size_t sum = 0;

	memset(a, 'x', PIECE - 1);
	for (int way = 0; way < N_WAYS; way++)
		for (size_t n = 0; n < VOLUME; n += PIECE, sum += PIECE)
			by(way, b, a, PIECE);
	return sum;
}

void overflow(int by_string)
{
	volatile size_t n = ROOM;

	if (by_string)
		__strcpy_chk(to, "0123456789", n - ROOM + 10);
	else
		__memcpy_chk(to, to, n, n - 1);
}

/* libc's, and more than one interval between two copies that are picked. */
void *pvalloc(size_t n)
{
	static char a[8 << 20], b[8 << 20];

	memcpy(b, a, sizeof(a));
	return memalign(4096, n);
}

/* As much as it says, between calls of such an allocator. */
size_t between(void)
{
	static char a[PIECE], b[PIECE];
	size_t sum = 0;

	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 8; k++, sum += PIECE)
			memcpy(b, a, PIECE);
		free(pvalloc(1));
	}
	return sum;
}
