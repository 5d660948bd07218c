/*
 * measure_unwind.c - what an unwinding costs, warm: a stack DEPTH deep, ROUNDS times.
 *
 *   measure_unwind [DEPTH] [ROUNDS]    frames, ns a stack, ns a frame; tables' bytes and ms to make
 */
#include "own_modules.h"

#include <time.h>
#include <ucontext.h>

static double nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct fah_unwind_modules *mods;
static struct own_names names;
static int rounds = 100000;

static int measure(const void *a, const void *b)
{
	struct fah_stack stack = own_stack((uint64_t)(uintptr_t)&stack);
	struct fah_unwind_result result;
	struct fah_regs regs;
	uint64_t pcs[256];
	ucontext_t uc;
	double begun;
	int n = 0;

	getcontext(&uc);
	fah_regs_of_context(&regs, uc.uc_mcontext.gregs);
	begun = nanoseconds();
	for (int i = 0; i < rounds; i++)
		n = fah_unwind(mods, NULL, &regs, &stack, pcs, NULL, 256, &result);
	begun = (nanoseconds() - begun) / rounds;
	printf("%d frames, stop %d: %.0f ns a stack, %.1f ns a frame\n", n, (int)result.stop, begun,
	       begun / n);
	rounds = 0;
	return 0;
}

/* Through libc, so that frames of two modules take turns. */
__attribute__((noinline)) static int deeper(int depth)
{
	int two[2] = {1, 2};

	if (depth > 0)
		return deeper(depth - 1) + 1;
	qsort(two, 2, sizeof(int), measure);
	return two[0];
}

int main(int argc, char **argv)
{
	double begun = nanoseconds();

	mods = own_modules(NULL, &names);
	printf("%u modules, %zu bytes, %.2f ms\n", mods->n, names.bytes,
	       (nanoseconds() - begun) / 1e6);
	if (argc > 2)
		rounds = atoi(argv[2]);
	return deeper(argc > 1 ? atoi(argv[1]) : 20) < 0;
}
