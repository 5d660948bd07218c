/*
 * languages.cc - a known chain of C++ calls, for tests/targets/languages.py: cxx_chain, then
 * shapes::Walker::walk, into which shapes::step is inlined where there is optimisation, then
 * shapes::spin<long>; exceptions are thrown through two of them; then it calls back.
 */
#include <stdexcept>

namespace shapes
{
template <class T> __attribute__((noinline)) T spin(T n)
{
	volatile T x = n;

	for (T i = 0; i < n; i++)
		x = x * 31 + i;
	return x;
}

static inline __attribute__((always_inline)) long step(long n)
{
	volatile long before = n;
	long sum = spin<long>(n);

	return sum + before;
}

__attribute__((noinline)) long thrower(long n)
{
	if (n % 2)
		throw std::runtime_error("odd");
	return n;
}

struct Walker {
	long (*back)(long);
	__attribute__((noinline)) long walk(long n)
	{
		long sum = step(n);

		for (long i = 0; i < 20; i++) {
			try {
				sum += thrower(i);
			} catch (const std::exception &) {
				sum++;
			}
		}
		return back ? sum + back(n / 64) : sum;
	}
};
} // namespace shapes

extern "C" __attribute__((visibility("default"))) long cxx_chain(long n, long (*back)(long))
{
	return shapes::Walker{back}.walk(n) + 1;
}
