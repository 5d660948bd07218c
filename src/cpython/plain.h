/* plain.h - loads of what is known to be there: for chain.c and walk_here.c alone. */
#ifndef FAH_CPYTHON_PLAIN_H
#define FAH_CPYTHON_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

static inline const uint8_t *fah_py_plain(uint64_t at)
{
	return (const uint8_t *)(uintptr_t)at;
}

static inline uint64_t fah_py_plain_word(uint64_t at)
{
	uint64_t v;

	__builtin_memcpy(&v, fah_py_plain(at), 8);
	return v;
}

static inline int32_t fah_py_plain_int(uint64_t at)
{
	int32_t v;

	__builtin_memcpy(&v, fah_py_plain(at), 4);
	return v;
}

/* May be followed. What is no address of a program's is the least of what could be wrong. */
static inline bool fah_py_credible(uint64_t at)
{
	return !(at & 7) && at - 4096 < (1ull << 47) - 4096;
}

#endif
