/*
 * test_lines.c - times of lines, by a clock that is made up: recursion counts once, what was called
 * is told apart, frames whose end was never told are closed, tables grow in both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/lines.h"

struct fah_agent fah_agent;
struct fah_pyapi fah_py;

static int references;
static uint8_t codes[8][16] __attribute__((aligned(16))); /* only their addresses count */
/* frames of the interpreter: the next outer one, and whose they are */
static struct iframe {
	uint64_t previous, owner;
} frames[8];
static struct fah_lines_thread *t;
static int64_t now;

uint64_t fah_now_mono(void)
{
	return 0;
}

static void incref(fah_object *o)
{
	(void)o;
	references++;
}

static void decref(fah_object *o)
{
	(void)o;
	references--;
}

static uint64_t room[(1u << 18) / 8]; /* what outlives the process */
static size_t room_used;

void *fah_kept_room(enum fah_kept kind, size_t size)
{
	assert_int_equal(kind, FAH_KEPT_LINES);
	return size <= sizeof(room) && !room_used++ ? room : NULL;
}

void fah_lines_tell(struct fah_lined *l)
{
	l->id = 7;
	fah_lined_told(l);
}

static struct fah_lined *choose(int i)
{
	bool is_new;
	struct fah_lined *l = fah_lined_add((fah_object *)(void *)codes[i], &is_new);

	assert_non_null(l);
	return l;
}

static uint64_t frame(int i)
{
	return (uint64_t)(uintptr_t)&frames[i];
}

static struct fah_lines_frame *enter(int code, int i)
{
	fah_lines_enter(t, choose(code), frame(i), now);
	return &t->frames[t->depth - 1];
}

static void leave(void)
{
	fah_lines_leave(t, now);
}

/* A line of the frame on top begins, and takes ns. */
static void line(int32_t number, int64_t ns)
{
	fah_lines_hit(&t->frames[t->depth - 1], number, now);
	now += ns;
}

static void is(int code, int32_t number, uint64_t hits, int64_t ticks, int64_t called)
{
	const struct fah_lined *l = choose(code);
	const struct fah_line *at = &l->lines[number - l->base];

	assert_true(number >= l->base && (uint32_t)(number - l->base) < l->n_lines);
	assert_int_equal(at->hits, hits);
	assert_int_equal(at->ticks, ticks);
	assert_int_equal(at->called, called);
}

static int setup(void **state)
{
	(void)state;
	fah_py.incref = incref;
	fah_py.decref = decref;
	fah_agent.layout.f_previous = offsetof(struct iframe, previous);
	fah_agent.layout.f_owner = offsetof(struct iframe, owner);
	fah_agent.layout.owner_shim = 3;
	assert_int_equal(fah_lined_setup(), 0);
	fah_lined_clear();
	fah_lines_thread_end();
	t = fah_lines_mine();
	assert_non_null(t);
	now = 1000;
	return 0;
}

static void lines_and_calls(void **state)
{
	struct fah_lines_frame *f;

	enter(0, 0);
	line(10, 100);
	line(11, 30);
	/* a chosen function, however it is entered: 200 of 250 */
	f = enter(1, 1);
	line(20, 150);
	line(21, 50);
	leave();
	now += 20;
	/* C's, up to its own end; what it calls is in it */
	f = &t->frames[0];
	fah_lines_call_begin(f, FAH_LINES_CALL_C, now);
	now += 5;
	enter(1, 1);
	line(20, 40);
	leave();
	now += 5;
	fah_lines_call_end(f, now);
	now += 7;
	line(12, 1);
	leave();
	is(0, 10, 1, 100, 0);
	is(0, 11, 1, 30 + 200 + 20 + 50 + 7, 200 + 50);
	is(0, 12, 1, 1, 0);
	is(1, 20, 2, 190, 0);
	is(1, 21, 1, 50, 0);
	assert_int_equal(t->depth, 0);
}

/* A Python function: up to the frame's next event, or the end of its own frame where that is told.
 */
static void python_calls(void **state)
{
	struct fah_lines_frame *f = enter(0, 0);

	frames[1].previous = frame(0);
	line(10, 1);
	fah_lines_call_begin(f, FAH_LINES_CALL_PYTHON, now);
	now += 10;
	enter(1, 1); /* it is the one */
	line(20, 100);
	leave();
	now += 1000; /* the line's own */
	line(11, 1);
	frames[2].previous = frame(3); /* called by one that is not told */
	fah_lines_call_begin(f, FAH_LINES_CALL_PYTHON, now);
	now += 10;
	enter(1, 2);
	line(20, 100);
	leave();
	now += 1000;
	line(12, 1);
	leave();
	is(0, 10, 1, 1111, 110);
	is(0, 11, 1, 1111, 1110);
}

/* The lines of a function add up to the time in which it ran, directly or with another between. */
static void recursion(void **state)
{
	enter(0, 0);
	line(10, 1);
	enter(0, 1);
	line(10, 10);
	enter(1, 2); /* another */
	line(20, 100);
	enter(0, 3);
	line(10, 1000);
	leave();
	now += 100;
	leave();
	now += 10;
	leave();
	now += 1;
	leave();
	is(0, 10, 3, 1 + 10 + 100 + 1000 + 100 + 10 + 1, 200);
	is(1, 20, 1, 1200, 1000);
}

/* A generator: not while it is suspended; it goes on in the middle of a line. */
static void generators(void **state)
{
	enter(0, 0);
	line(10, 5);
	leave();
	now += 1000;
	enter(0, 0);
	fah_lines_go_on(&t->frames[0], 10, now);
	now += 7;
	line(11, 1);
	leave();
	is(0, 10, 1, 12, 0);
	is(0, 11, 1, 1, 0);
}

/* Ends that were not told: what lies above the frame that is told of next is over. */
static void lost_ends(void **state)
{
	enter(0, 0);
	line(10, 1);
	enter(1, 1);
	line(20, 10);
	enter(1, 2);
	line(21, 100);
	assert_null(fah_lines_find(t, frame(5), (uint64_t)(uintptr_t)codes[0], now));
	assert_ptr_equal(fah_lines_find(t, frame(0), (uint64_t)(uintptr_t)codes[0], now),
			 &t->frames[0]);
	assert_int_equal(t->depth, 1);
	line(11, 1);
	leave();
	is(0, 10, 1, 111, 110);
	is(1, 20, 1, 10, 0);
	is(1, 21, 1, 100, 0);
	leave(); /* of nothing */
	assert_int_equal(t->depth, 0);
}

static void deeper_than_room(void **state)
{
	for (uint32_t i = 0; i < FAH_LINES_DEPTH + 5; i++)
		enter(0, 0);
	assert_int_equal(t->lost, 5);
	assert_int_equal(atomic_load(&fah_lining.lost_frames), 5);
	for (uint32_t i = 0; i < FAH_LINES_DEPTH + 5; i++)
		leave();
	assert_int_equal(t->depth + t->lost, 0);
	enter(0, 0);
	line(1, 3);
	leave();
	is(0, 1, 1, 3, 0);
}

/* Lines before the first that came, and far behind; frames that run keep theirs. */
static void tables_grow(void **state)
{
	enter(0, 0);
	line(500, 1);
	enter(0, 1);
	line(100, 10);
	line(5000, 100);
	line(7, 1000);
	leave();
	now += 1;
	line(501, 1);
	leave();
	is(0, 500, 1, 2, 0);
	is(0, 100, 1, 10, 0);
	is(0, 5000, 1, 100, 0);
	is(0, 7, 1, 1000, 0);
	is(0, 501, 1, 1, 0);
	enter(0, 0);
	line(-3, 1); /* none of a code object that is one */
	line(2000000000, 1);
	leave();
	assert_int_equal(atomic_load(&fah_lining.lost_lines), 2);
}

/* A child has the lines that run, and none of the counts. */
static void forks(void **state)
{
	enter(0, 0);
	line(10, 50);
	fah_lined_forked();
	fah_lines_threads_forked();
	assert_int_equal(t->depth, 1);
	t->frames[0].since = now; /* the made up clock is not the one that it read */
	now += 3;
	line(11, 1);
	leave();
	is(0, 10, 0, 3, 0);
	is(0, 11, 1, 1, 0);
}

/* Counts stand where the collector finds them; lines that had to move are there once. */
static void kept(void **state)
{
	const struct fah_lines_kept *first = (const void *)room, *second;

	fah_lined_keep();
	room_used = 0;
	enter(0, 0);
	line(100, 5);
	assert_int_equal(room_used, 1);
	assert_int_equal(first->n, 32);
	assert_int_equal(first->id, 7);
	assert_int_equal(first->base, 100);
	line(90, 3); /* before the first one that has room */
	leave();
	second = (const void *)(first->lines + first->n);
	assert_int_equal(first->id, 0);
	assert_int_equal(second->id, 7);
	assert_int_equal(second->base, 90);
	assert_int_equal(second->lines[0].hits, 1);
	assert_int_equal(second->lines[0].ticks, 3);
	assert_int_equal(second->lines[10].hits, 1);
	assert_int_equal(second->lines[10].ticks, 5);
	assert_int_equal(
		((const struct fah_lines_kept *)(const void *)(second->lines + second->n))->n, 0);
	/* a child's are in room of its own */
	fah_lined_forked();
	enter(0, 0);
	line(100, 1);
	leave();
	assert_int_equal(second->lines[10].hits, 1);
	is(0, 100, 1, 1, 0);
}

static void many_codes(void **state)
{
	static uint8_t others[FAH_LINED_MAX + 1][16] __attribute__((aligned(16)));
	bool is_new;

	references = 0;
	for (uint32_t i = 0; i < FAH_LINED_MAX; i++) {
		struct fah_lined *l = fah_lined_add((fah_object *)(void *)others[i], &is_new);

		assert_true(is_new && fah_lined_index(l) == i);
		assert_ptr_equal(fah_lined_find((uint64_t)(uintptr_t)others[i]), l);
	}
	assert_int_equal(references, FAH_LINED_MAX);
	assert_null(fah_lined_add((fah_object *)(void *)others[FAH_LINED_MAX], &is_new));
	assert_null(fah_lined_find((uint64_t)(uintptr_t)others[FAH_LINED_MAX]));
	fah_lined_clear();
	assert_int_equal(references, 0);
	assert_null(fah_lined_find((uint64_t)(uintptr_t)others[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lines_and_calls, setup),
		cmocka_unit_test_setup(python_calls, setup),
		cmocka_unit_test_setup(recursion, setup),
		cmocka_unit_test_setup(generators, setup),
		cmocka_unit_test_setup(lost_ends, setup),
		cmocka_unit_test_setup(deeper_than_room, setup),
		cmocka_unit_test_setup(tables_grow, setup),
		cmocka_unit_test_setup(forks, setup),
		cmocka_unit_test_setup(kept, setup),
		cmocka_unit_test_setup(many_codes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
