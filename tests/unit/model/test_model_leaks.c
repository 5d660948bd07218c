/*
 * test_model_leaks.c - lines that lose memory are found, others are not blamed: one shape each, of
 * a line that runs for 10 s, once with every block recorded and once with those that sampling
 * picks. Held beside it: 20 MB of another line, garbage of a third.
 */
#include "build_heap.h"

#define STEPS 2000 /* of 5 ms */

struct scene {
	struct memory m;
	uint32_t node;
	uint64_t interval;
	struct {
		uint64_t number, bytes;
	} blocks[20 * STEPS];
	int n, freed; /* the oldest first */
};

/* A block that the line asks for; sampling picks it or not. */
static void get(struct scene *s, double at, uint64_t bytes)
{
	struct build *b = s->m.b;
	double chance = s->interval ? 1 - exp(-(double)bytes / (double)s->interval) : 1;
	uint64_t number = 0;

	if (build_random(b) < chance)
		number = memory_alloc(&s->m, at, s->node, bytes);
	else
		memory_count(&s->m, (int64_t)bytes);
	s->blocks[s->n].number = number;
	s->blocks[s->n++].bytes = bytes;
}

static void put(struct scene *s, double at, int i)
{
	if (s->blocks[i].number)
		memory_free(&s->m, at, s->blocks[i].number, s->blocks[i].bytes);
	else
		memory_count(&s->m, -(int64_t)s->blocks[i].bytes);
}

static void put_oldest(struct scene *s, double at)
{
	if (s->freed < s->n)
		put(s, at, s->freed++);
}

static void put_newest(struct scene *s, double at)
{
	if (s->freed < s->n)
		put(s, at, --s->n);
}

static void put_all(struct scene *s, double at)
{
	while (s->freed < s->n)
		put_oldest(s, at);
}

/* Step i of STEPS, at a time in ms. */
typedef void shape(struct scene *s, int i, double at);

static void leak_plainly(struct scene *s, int i, double at)
{
	(void)i;
	get(s, at, 40000);
}

/* One in ten is lost. */
static void leak_among_garbage(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	for (int k = 0; k < 9; k++) {
		get(s, at + 0.1, 40000);
		put_newest(s, at + 0.2);
	}
	(void)i;
}

/* As a list's buffer: each copy is given back when the next is there. */
static void leak_and_replace(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (i % 50 == 0) {
		get(s, at + 1, 8u * (unsigned)i + 1000);
		put_newest(s, at + 2);
	}
}

static void leak_in_bursts(struct scene *s, int i, double at)
{
	for (int k = 0; i % 250 == 0 && k < 40; k++)
		get(s, at, 100000);
}

static void leak_ever_faster(struct scene *s, int i, double at)
{
	get(s, at, 20u * (unsigned)i + 1);
}

static void leak_ever_slower(struct scene *s, int i, double at)
{
	get(s, at, (uint64_t)(2000000 / sqrt(i + 100)));
}

/* From the middle of the run on. */
static void leak_late(struct scene *s, int i, double at)
{
	if (i > STEPS / 2)
		get(s, at, 60000);
}

static void leak_large(struct scene *s, int i, double at)
{
	if (i % 40 == 7)
		get(s, at, 3000000);
}

static void leak_small(struct scene *s, int i, double at)
{
	(void)i;
	for (int k = 0; k < 10; k++)
		get(s, at, 4096);
}

/* A cache is emptied early, then nobody does it any more. */
static void leak_after_clear(struct scene *s, int i, double at)
{
	if (i == 100)
		put_all(s, at);
	get(s, at, 40000);
}

/* Of any size, now and then, some given back soon. */
static void leak_at_random(struct scene *s, int i, double at)
{
	(void)i;
	if (build_random(s->m.b) < 0.5)
		get(s, at, (uint64_t)(build_random(s->m.b) * 200000));
	if (build_random(s->m.b) < 0.2) {
		get(s, at + 1, 100000);
		put_newest(s, at + 2);
	}
}

static void garbage(struct scene *s, int i, double at)
{
	(void)i;
	get(s, at, 4000000);
	put_newest(s, at + 1);
}

static void table_at_start(struct scene *s, int i, double at)
{
	if (i < 40)
		get(s, at, 2000000);
}

/* The same in three parts of the program. */
static void tables_now_and_then(struct scene *s, int i, double at)
{
	if (i % 800 < 40)
		get(s, at, 1000000);
}

static void cache_cleared_at_last(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (i == STEPS - 10)
		put_all(s, at + 1);
}

static void cache_cleared_often(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (i % 190 == 189)
		put_all(s, at + 1);
}

static void cache_of_a_size(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (s->n - s->freed > 500)
		put_oldest(s, at + 1);
	(void)i;
}

/* It is filled for nearly the whole run. */
static void cache_of_a_large_size(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (s->n - s->freed > STEPS * 8 / 10)
		put_oldest(s, at + 1);
	(void)i;
}

static void up_and_down(struct scene *s, int i, double at)
{
	if (i < STEPS / 2)
		get(s, at, 40000);
	else
		put_newest(s, at);
}

/* Grows as it is needed, then serves from what it has. */
static void pool(struct scene *s, int i, double at)
{
	if (i < STEPS / 3 && i % 5 == 0)
		get(s, at, 200000);
}

/* Ever fewer new ones come. */
static void interned(struct scene *s, int i, double at)
{
	if (build_random(s->m.b) < exp(-i / (STEPS / 5.0)))
		get(s, at, 100000);
}

/* One buffer, replaced by a larger one. */
static void buffer_that_grows(struct scene *s, int i, double at)
{
	if (i % 20)
		return;
	get(s, at, 10000u * (unsigned)i + 100000);
	if (s->n - s->freed > 1)
		put_oldest(s, at + 1);
}

/* Each request keeps what it needs while it lasts, 200 ms. */
static void requests(struct scene *s, int i, double at)
{
	get(s, at, 400000);
	if (i >= 40)
		put_oldest(s, at + 1);
}

/* What the program was for, made in its last tenth. */
static void result_in_the_end(struct scene *s, int i, double at)
{
	if (i > STEPS * 9 / 10)
		get(s, at, 400000);
}

/* Two generations: the old one goes when the new one is there. */
static void generations(struct scene *s, int i, double at)
{
	get(s, at, 40000);
	if (i % 400 == 399)
		for (int k = 0; k < (i > 400 ? 400 : 0); k++)
			put_oldest(s, at + 1);
}

/* Grows in its first and its last quarter. */
static void two_phases(struct scene *s, int i, double at)
{
	if (i < STEPS / 4 || i > STEPS * 3 / 4)
		get(s, at, 80000);
}

static struct fah_heap_leak judged(shape *f, uint64_t interval, uint64_t seed)
{
	static struct scene s;
	struct fah_heap_leak leak = {0};
	uint32_t function, held, junk;
	struct fah_profile *p;
	const struct fah_heap *heap;
	struct build b;

	s.m = memory_new(&b, 5000000, interval);
	s.n = s.freed = 0;
	s.interval = interval;
	b.seed += seed * 977;
	function = build_function(&b, "/p/main.py", "work", "work", 10);
	s.node = fah_writer_node(b.w, 0, function, 12);
	held = fah_writer_node(b.w, 0, function, 13);
	junk = fah_writer_node(b.w, 0, function, 14);
	memory_alloc(&s.m, 0, held, 20000000);
	for (int i = 0; i < STEPS; i++) {
		f(&s, i, 1 + 5 * i);
		if (i % 100 == 0) {
			memory_alloc(&s.m, 4 + 5 * i, junk, 10000000);
			memory_free(&s.m, 4.5 + 5 * i, s.m.blocks, 10000000);
		}
	}
	memory_end(&s.m, 1 + 5 * STEPS);
	p = build_load(&b, 1 + 5 * STEPS, 10);
	heap = heap_of(p);
	for (size_t i = 0; i < heap->n_files; i++)
		for (size_t k = 0; k < heap->files[i].n_lines; k++)
			if (heap->files[i].lines[k].line == 12)
				leak = heap->files[i].lines[k].leak;
			else
				assert_true(heap->files[i].lines[k].leak.likelihood == 0);
	fah_profile_free(p);
	return leak;
}

struct named {
	shape *f;
	const char *name;
	double velocity; /* MB/s */
};

#define N(f) f, #f

static const struct named leaking[] = {
	{N(leak_plainly), 8},	    {N(leak_among_garbage), 8}, {N(leak_and_replace), 8},
	{N(leak_in_bursts), 3.2},   {N(leak_ever_faster), 4},	{N(leak_ever_slower), 14.5},
	{N(leak_late), 12},	    {N(leak_large), 15},	{N(leak_small), 8.2},
	{N(leak_after_clear), 7.6}, {N(leak_at_random), 10},
};

static const struct named innocent[] = {
	{N(garbage), 0},
	{N(table_at_start), 0},
	{N(tables_now_and_then), 0},
	{N(cache_cleared_at_last), 0},
	{N(cache_cleared_often), 0},
	{N(cache_of_a_size), 0},
	{N(cache_of_a_large_size), 0},
	{N(up_and_down), 0},
	{N(pool), 0},
	{N(interned), 0},
	{N(buffer_that_grows), 0},
	{N(requests), 0},
	{N(result_in_the_end), 0},
	{N(generations), 0},
	{N(two_phases), 0},
};

#define SEEDS 20

static void found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(leaking) / sizeof(*leaking); i++) {
		struct fah_heap_leak exact = judged(leaking[i].f, 0, 0);
		int n = 0;

		if (exact.likelihood < 0.95 ||
		    fabs(exact.velocity * 1e-6 - leaking[i].velocity) > 0.1 * leaking[i].velocity)
			fail_msg("%s: %.2f, %.2f MB/s", leaking[i].name, exact.likelihood,
				 exact.velocity * 1e-6);
		/* One block in 1 MB: some 30 to 150 of each. */
		for (uint64_t seed = 0; seed < SEEDS; seed++)
			n += judged(leaking[i].f, 1000000, seed).likelihood > 0;
		if (n < SEEDS - 1)
			fail_msg("%s: found %d times of %d", leaking[i].name, n, SEEDS);
	}
}

static void not_blamed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(innocent) / sizeof(*innocent); i++) {
		if (judged(innocent[i].f, 0, 0).likelihood > 0)
			fail_msg("%s", innocent[i].name);
		for (uint64_t seed = 0; seed < SEEDS; seed++)
			if (judged(innocent[i].f, 1000000, seed).likelihood > 0)
				fail_msg("%s, sampled, seed %d", innocent[i].name, (int)seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(not_blamed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
