/*
 * throwing.cc - exceptions through a known chain, over and over, for tests/targets/throwing.py:
 * cxx_catches, which catches; rust_pass (throwing.rs, where there is Rust), which has something to
 * drop; cxx_passes, which has something to destroy; at each other turn, Python; thrower, whose call
 * that throws is the last thing in it.
 */
namespace shapes
{
static volatile long destroyed;

struct Guard {
	__attribute__((noinline)) ~Guard()
	{
		destroyed = destroyed + 1;
	}
};

__attribute__((noinline)) void thrower(long n)
{
	throw n;
}
} // namespace shapes

extern "C" {
typedef long (*pass_fn)(long, long (*)(long));

static long (*python)(long);

__attribute__((noinline)) long cxx_passes(long n)
{
	shapes::Guard guard;

	if (python && n % 64 == 0)
		python(n);
	shapes::thrower(n);
	return shapes::destroyed;
}

__attribute__((noinline)) long plain_pass(long n, long (*to)(long))
{
	shapes::Guard guard;

	return to(n) + 1;
}

/* How many were caught. */
long cxx_catches(long n, pass_fn pass, long (*back)(long))
{
	long caught = 0;

	python = back;
	if (!pass)
		pass = plain_pass;
	for (long i = 0; i < n; i++) {
		try {
			pass(i, cxx_passes);
		} catch (long) {
			caught++;
		}
	}
	return caught;
}
}
