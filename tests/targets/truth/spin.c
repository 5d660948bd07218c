/* spin.c - native work of constructed length for extension.py: steps, and no system call. */
#include <stdint.h>

uint64_t spin(uint64_t steps);
uint64_t spin_other(uint64_t steps);

/* xorshift: each step needs the one before, so the time is that of the steps. */
uint64_t spin(uint64_t steps)
{
	uint64_t x = 88172645463325252u;

	while (steps--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

uint64_t spin_other(uint64_t steps)
{
	return spin(steps) ^ 1;
}
