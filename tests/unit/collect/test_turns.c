/*
 * test_turns.c - one at a time, and nobody is passed over: who does one turn after another lets the
 * other in between two of them. With a mutex alone both have it, but one of them all the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/turns.h"

#include <stdbool.h>
#define TURNS 300

struct shared {
	struct fah_turns turns;
	uint64_t count;	  /* of all turns: whoever has one reads it and writes it back later */
	uint64_t others;  /* turns of the thread that waits */
	uint64_t skipped; /* passes after which it still waited */
	_Atomic bool done;
};

static void one_turn(struct shared *s)
{
	uint64_t before = s->count;

	for (volatile int i = 0; i < 500; i++)
		;
	s->count = before + 1;
}

static uint64_t waiting(struct shared *s)
{
	uint64_t n;

	pthread_mutex_lock(&s->turns.mutex);
	n = s->turns.asked - s->turns.ended - 1; /* all but ours */
	pthread_mutex_unlock(&s->turns.mutex);
	return n;
}

/* Has the turn until somebody waits for it, passes, and has it again. */
static void *busy(void *arg)
{
	struct shared *s = arg;

	fah_turn_begin(&s->turns);
	for (int i = 0; i < TURNS; i++) {
		uint64_t before = s->others;

		one_turn(s);
		while (!waiting(s))
			;
		fah_turn_pass(&s->turns);
		s->skipped += s->others == before;
	}
	fah_turn_end(&s->turns);
	s->done = true;
	return NULL;
}

static void each_in_its_turn(void **state)
{
	struct shared s = {.turns = FAH_TURNS_INIT};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, busy, &s), 0);
	while (!s.done) {
		fah_turn_begin(&s.turns);
		one_turn(&s);
		s.others++;
		fah_turn_end(&s.turns);
	}
	pthread_join(thread, NULL);
	assert_int_equal(s.skipped, 0);
	assert_int_equal(s.count, TURNS + s.others);
	assert_int_equal(s.turns.asked, s.turns.ended);
}

static void alone(void **state)
{
	fah_turn_begin(NULL);
	fah_turn_pass(NULL);
	fah_turn_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_in_its_turn),
		cmocka_unit_test(alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
