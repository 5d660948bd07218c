// C++'s operators: 6 x 1000033 stay.
#include <cstddef>
#include <new>
#include <vector>

struct alignas(128) wide {
	char bytes[1000064];
};

static std::vector<char *> kept;

extern "C" void by_new(void)
{
	for (int i = 0; i < 4; i++)
		kept.push_back(new char[1000033]);
	kept.push_back(new (std::nothrow) char[1000033]);
	kept.push_back(static_cast<char *>(operator new(1000033)));
	delete new wide;
	delete[] new int[100003];
}

// The same, behind an exception that passes through.
extern "C" void by_new_after_none(void)
{
	try {
		volatile std::size_t n = static_cast<std::size_t>(1) << 62;
		operator delete(operator new(n));
	} catch (const std::bad_alloc &) {
		kept.push_back(nullptr);
	}
	if (kept.empty() || kept.back())
		__builtin_abort();
	by_new();
}
