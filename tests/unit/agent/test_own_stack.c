/* test_own_stack.c - which part of a thread's stack may be read as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "core/sys.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096u
/* What is on the stack is to be there, and as it is. */
#define RAW __attribute__((noinline, no_sanitize("address")))

struct fah_agent fah_agent;
static uint8_t room[FAH_LOAD_ROOM];

void *fah_global(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static struct fah_thread_state *new_state(bool first)
{
	struct fah_thread_state *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->tid = (uint32_t)FAH_SYS0(SYS_gettid);
	t->pthread_id = (uint64_t)pthread_self();
	t->mem = fah_mem_self;
	t->mem.ctx = (uint64_t)(uintptr_t)room;
	atomic_store(&fah_agent.pid, first ? t->tid : 0);
	fah_own_stack_setup();
	return t;
}

RAW static uint64_t sp_here(void)
{
	return (uint64_t)(uintptr_t)__builtin_frame_address(0);
}

/* All of it is there, and what the caller knows of is in it. */
RAW static bool holds(struct fah_thread_state *t, const volatile uint8_t *known)
{
	uint64_t sp = sp_here() & ~7ull, hi = 0, at = (uint64_t)(uintptr_t)known;

	if (!fah_own_stack(t, sp, &hi))
		return false;
	for (uint64_t word = sp; word + 8 <= hi; word += 8)
		__asm__ volatile("" : : "r"(*(const uint64_t *)(uintptr_t)word));
	return at >= sp && at < hi;
}

RAW static bool deeper(struct fah_thread_state *t, int n, const volatile uint8_t *known)
{
	volatile uint8_t *some = alloca(3 * PAGE);

	some[0] = (uint8_t)n;
	return (n ? deeper(t, n - 1, some) : true) && holds(t, some) && holds(t, known);
}

RAW static void first_thread(void **state)
{
	struct fah_thread_state *t = new_state(true);
	volatile uint8_t known = 1;
	uint64_t lo;

	(void)state;
	assert_true(holds(t, &known));
	lo = t->own_lo;
	assert_true(deeper(t, 300, &known)); /* 3.6 MB */
	assert_true(t->own_lo < lo - 300 * 3 * PAGE);
	assert_int_equal(t->own_refused, 0);
	free(t);
}

RAW static void *other(void *arg)
{
	struct fah_thread_state *t = new_state(false);
	volatile uint8_t known = 1;
	bool *ok = arg;

	*ok = holds(t, &known) && deeper(t, 20, &known) && t->own_hi <= t->pthread_id;
	free(t);
	return NULL;
}

static void other_thread(void **state)
{
	pthread_t thread;
	bool ok = false;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, other, &ok), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(ok);
}

static ucontext_t back, there;
static struct fah_thread_state *on_other;
static bool other_is_own;

RAW static void on_other_stack(void)
{
	uint64_t hi;

	for (int i = 0; i < 20; i++)
		other_is_own |= fah_own_stack(on_other, sp_here() & ~7ull, &hi);
}

/* Neither above the thread's own nor below it; and the own one is known on. */
RAW static void coroutine(void **state)
{
	volatile uint8_t known = 1;
	char *stack =
		mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(stack, MAP_FAILED);
	for (int known_before = 0; known_before < 2; known_before++) {
		on_other = new_state(true);
		if (known_before)
			assert_true(holds(on_other, &known));
		assert_int_equal(getcontext(&there), 0);
		there.uc_stack.ss_sp = stack;
		there.uc_stack.ss_size = 16 * PAGE;
		there.uc_link = &back;
		other_is_own = false;
		makecontext(&there, on_other_stack, 0);
		assert_int_equal(swapcontext(&back, &there), 0);
		assert_false(other_is_own);
		assert_int_equal(holds(on_other, &known), known_before);
		free(on_other);
	}
	munmap(stack, 16 * PAGE);
}

/* One page that cannot be read between sp and the end: as of a stack below the thread's guard. */
static void hole(void **state)
{
	struct fah_thread_state *t = new_state(false);
	uint8_t *at =
		mmap(NULL, 200 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t lo = (uint64_t)(uintptr_t)at, hi;

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	t->pthread_id = lo + 200 * PAGE - 64;
	for (uint32_t page = 0; page < 199; page++) {
		assert_int_equal(mprotect(at + page * PAGE, PAGE, PROT_NONE), 0);
		t->own_lo = t->own_hi = t->own_refused = 0;
		assert_false(fah_own_stack(t, lo, &hi));
		assert_true(fah_own_stack(t, lo + (page + 1) * PAGE + 8, &hi));
		assert_int_equal(hi, t->pthread_id);
		assert_false(fah_own_stack(t, lo + page * PAGE + 8, &hi)); /* nor as what is more */
		assert_true(fah_own_stack(t, lo + (page + 1) * PAGE + 16, &hi));
		assert_int_equal(mprotect(at + page * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	}
	munmap(at, 200 * PAGE);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_thread),
		cmocka_unit_test(other_thread),
		cmocka_unit_test(coroutine),
		cmocka_unit_test(hole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
