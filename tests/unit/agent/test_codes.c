/*
 * test_codes.c - ids of code objects, asked for by several threads at once while the table is
 * emptied again and again: an id must always be that of the code it was asked for. What the table
 * needs of the agent's other files stands here; a "code object" is its own name. The table's file
 * is part of this one, so that a thread can be held up before any of its steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "core/varint.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 64u
static void hold_up(void);
#undef atomic_load
#undef atomic_store
#undef atomic_compare_exchange_strong
#define atomic_load(p) (hold_up(), atomic_load_explicit(p, memory_order_seq_cst))
#define atomic_store(p, v) (hold_up(), atomic_store_explicit(p, v, memory_order_seq_cst))
#define atomic_compare_exchange_strong(p, e, v) \
	(hold_up(), atomic_compare_exchange_strong_explicit(p, e, v, memory_order_seq_cst, \
							    memory_order_seq_cst))
#include "agent/codes.c"

#define THREADS 4
#define ROUNDS 50000u
#define CODES 96u /* more than the small table holds */
#define IDS (1u << 22)

struct fah_agent fah_agent;
static _Atomic uint64_t code_of[IDS]; /* by id, as the definitions say */
static _Atomic uint64_t wrong, undefined, asked;

/* Once in 16 steps the others go first. */
static void hold_up(void)
{
	static __thread uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	if (!(x & 15))
		sched_yield();
}

/* The code's address, as the line of its definition. */
int fah_py_code_read(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t code,
		     struct fah_py_code *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->firstlineno = (int32_t)code;
	return 0;
}

int fah_py_read_str(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t str,
		    char *buf, size_t cap)
{
	return 0;
}

int fah_py_bytes_span(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t obj,
		      size_t max, uint64_t *ret_data, size_t *ret_len)
{
	return FAH_ERR_RANGE;
}

uint8_t *fah_record_begin(struct fah_thread_state *t, size_t max)
{
	if (max >= sizeof(t->ahead.room))
		abort();
	return t->ahead.room;
}

void fah_record_commit(struct fah_thread_state *t, enum fah_seg_record type, uint8_t *end)
{
	struct fah_cursor c = {t->ahead.room, end, false};
	uint64_t id = fah_get_varint(&c), code = (uint64_t)fah_unzigzag(fah_get_varint(&c));

	if (type == FAH_SEG_CODE && id < IDS)
		atomic_store(&code_of[id], code);
}

static void *ask(void *seed)
{
	struct fah_thread_state *t = calloc(1, sizeof(*t));
	uint64_t x = (uint64_t)(uintptr_t)seed;
	enum fah_drop drop;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct fah_py_frame frame = {0};
		uint32_t id;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		frame.code = 1 + (x >> 33) % CODES;
		id = fah_codes_id(t, &frame, &drop);
		if (!id || id >= IDS)
			continue;
		atomic_fetch_add(&asked, 1);
		if (!atomic_load(&code_of[id]))
			atomic_fetch_add(&undefined, 1);
		else if (atomic_load(&code_of[id]) != frame.code)
			atomic_fetch_add(&wrong, 1);
	}
	free(t);
	return NULL;
}

static void an_id_is_always_that_of_its_code(void **state)
{
	pthread_t threads[THREADS];

	assert_int_equal(fah_codes_setup(), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, ask, (void *)(i * 2654435761u + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(atomic_load(&undefined), 0);
	assert_true(atomic_load(&asked) > ROUNDS);
}

/* The same code has the same id as long as the table is not full; another has another. */
static void an_id_stays(void **state)
{
	struct fah_thread_state *t = calloc(1, sizeof(*t));
	struct fah_py_frame a = {.code = 1000}, b = {.code = 1000, .ident = 7};
	enum fah_drop drop;
	uint32_t first;

	fah_codes_forget();
	first = fah_codes_id(t, &a, &drop);
	assert_int_equal(first, 1);
	assert_int_equal(fah_codes_id(t, &a, &drop), first);
	assert_int_not_equal(fah_codes_id(t, &b, &drop), first); /* its address is used again */
	assert_int_equal(fah_codes_id(t, &a, &drop), first);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_is_always_that_of_its_code),
		cmocka_unit_test(an_id_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
