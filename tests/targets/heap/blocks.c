/* Every way to ask for memory, with sizes that are nobody else's. Each function leaves what its
 * comment says. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *kept[64];
static size_t n_kept;

static void keep(void *p)
{
	memset(p, 1, 16);
	kept[n_kept++] = p;
}

/* 10 x 1000003 */
void by_malloc(void)
{
	for (int i = 0; i < 10; i++)
		keep(malloc(1000003));
}

/* 3 x 7 x 500009 */
void by_calloc(void)
{
	for (int i = 0; i < 3; i++)
		keep(calloc(7, 500009));
}

/* 4000037: grown in many steps, moved, shrunk; one that fails; from NULL; to nothing */
void by_realloc(void)
{
	char *p = NULL, *q;

	for (size_t n = 1; n < 6000000; n = n * 5 / 4 + 1)
		p = realloc(p, n);
	q = realloc(p, SIZE_MAX / 4);
	if (q)
		abort();
	p = realloc(p, 4000037);
	keep(p);
	q = malloc(3000017);
	q = realloc(q, 0);
	free(q);
	q = reallocarray(NULL, 3, 1000033);
	free(q);
	if (reallocarray(NULL, SIZE_MAX / 2, 3) || errno != ENOMEM)
		abort();
}

/* 5 x 2000003 */
void by_alignment(void)
{
	void *p;

	if (posix_memalign(&p, 4096, 2000003))
		abort();
	keep(p);
	if (posix_memalign(&p, 24, 8) != EINVAL)
		abort();
	keep(aligned_alloc(64, 2000003));
	keep(memalign(1 << 16, 2000003));
	keep(valloc(2000003));
	keep(aligned_alloc(256, 2000003));
}

/* 2000003; not every allocator has it */
void by_pages(void)
{
	keep(pvalloc(2000003));
}

/* 9000000 - 2 x 4096: a mapping with a hole; one that is given back in parts; one that is only
 * reserved */
void by_mmap(void)
{
	char *p = mmap(NULL, 9000000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *q = mmap(NULL, 8192 * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 4096, 4096);
	munmap(p + 4 * 4096, 4096);
	munmap(q, 8192);
	munmap(q + 8192, 8192 * 2);
	munmap(q + 8192 * 3, 8192);
	mmap(NULL, 1ul << 34, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

#define MAP(n) mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

/* 12000000 + 1000003 + 3000000 + 2000000: grown where there was no room, so elsewhere; shrunk in
 * place; to a given place, over what was there; what fails, which changes nothing; out of two that
 * lie side by side */
void by_remap(void)
{
	char *p = MAP(24 << 20), *q, *wall;

	munmap(p + (5 << 20), 19 << 20); /* 5 MB, with room behind, and a wall */
	wall = mmap(p + (5 << 20), 4096, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (wall != p + (5 << 20) || mremap(p, 5 << 20, 12000000, 0) != MAP_FAILED)
		abort();
	if (errno != ENOMEM)
		abort();
	q = mremap(p, 5 << 20, 12000000, MREMAP_MAYMOVE);
	if (q == MAP_FAILED || q == p)
		abort();
	p = MAP(7000001);
	if (mremap(p, 7000001, 1000003, 0) != p)
		abort();
	p = MAP(3000000);
	q = MAP(4000000); /* all of it goes: 3000000 are put over it, the rest is given back */
	if (mremap(p, 3000000, 3000000, MREMAP_MAYMOVE | MREMAP_FIXED, q) != q)
		abort();
	munmap(q + 3002368, 4000000 - 3002368);
	p = MAP(8 << 20);
	munmap(p, 8 << 20);
	if (mmap(p, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != p ||
	    mmap(p + (4 << 20), 4 << 20, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p + (4 << 20))
		abort();
	if (mremap(p, 8 << 20, 2000000, 0) != p)
		abort();
}

/* nothing */
void temporary(void)
{
	for (int i = 0; i < 200; i++) {
		char *volatile p = malloc(3000029);

		p[0] = 1;
		free(p);
	}
	free(NULL);
}

void give_back(void)
{
	while (n_kept)
		free(kept[--n_kept]);
}
