/*
 * chain.c - native code with a known chain of calls, for tests/targets/chain.py: outer, middle,
 * inner, each working before and after it calls the next; inner calls back. Built without frame
 * pointers and with frames of different sizes.
 */
#include <stddef.h>
#include <stdint.h>

typedef long callback(long);

#define NOT_INLINE __attribute__((noinline, noclone))

NOT_INLINE uint64_t chain_spin(uint64_t n)
{
	volatile uint64_t x = n;

	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005ull + i;
	return x;
}

NOT_INLINE uint64_t chain_inner(uint64_t n, callback *back)
{
	uint64_t sum = chain_spin(n);

	if (back)
		sum += (uint64_t)back((long)(n / 64));
	return sum + chain_spin(3);
}

NOT_INLINE uint64_t chain_middle(uint64_t n, callback *back)
{
	volatile uint64_t room[100];

	for (size_t i = 0; i < 100; i++)
		room[i] = n + i;
	return chain_inner(n, back) + room[n % 100];
}

NOT_INLINE uint64_t chain_outer(uint64_t n, callback *back)
{
	uint8_t *room = __builtin_alloca(64 + n % 512);

	room[n % 64] = (uint8_t)n;
	return chain_middle(n, back) + room[n % 64];
}
