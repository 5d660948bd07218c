/*
 * test_sites.c - where a thread is, by its cache, against the same chain read with nothing
 * remembered; and against stacks that are known.
 *
 * The interpreter is made up here, in the layout of 3.12 (frames on a data stack, in generators,
 * shims in between) and of 3.9 (frame objects).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/gil.h"
#include "agent/heap.h"
#include "agent/heap_sites.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 64u
#define CODES 6u

struct fah_agent fah_agent;
static struct fah_sites *cached, *fresh;

struct iframe {
	uint64_t code;
	struct iframe *previous;
	uint64_t instr;
	uint8_t owner;
};

struct code {
	_Alignas(16) uint8_t head[64];
	int32_t firsttraceable, flags;
	uint8_t bytes[128];
};

static struct code codes[CODES];
static uint32_t ids[CODES];
static struct iframe frames[DEEPEST];
static struct {
	struct iframe *current;
} cframe;
static struct {
	uint64_t something;
	void *cframe;
} tstate;
static bool has_gil;

void *fah_global(const char *name);
static void *running(void)
{
	return has_gil ? &tstate : NULL;
}

static void *own(void)
{
	return &tstate;
}

void *fah_global(const char *name)
{
	return !strcmp(name, "PyThreadState_GetUnchecked") ? *(void *[]){(void *)(uintptr_t)running}
	       : !strcmp(name, "PyGILState_GetThisThreadState")
		       ? *(void *[]){(void *)(uintptr_t)own}
		       : NULL;
}

uint32_t fah_codes_id(struct fah_thread_state *t, const struct fah_py_frame *frame,
		      enum fah_drop *ret_drop)
{
	(void)t;
	(void)ret_drop;
	return ids[((struct code *)(uintptr_t)frame->code - codes)];
}

static void layout_312(void)
{
	struct fah_py_layout *l = &fah_agent.layout;

	memset(l, 0, sizeof(*l));
	fah_agent.python_version = 0x030c01f0;
	l->frames_kind = FAH_PY_FRAMES_CFRAME;
	l->ts_frame = 8;
	l->f_code = offsetof(struct iframe, code);
	l->f_previous = offsetof(struct iframe, previous);
	l->f_instr = offsetof(struct iframe, instr);
	l->f_owner = offsetof(struct iframe, owner);
	l->owner_shim = 3;
	l->co_code = offsetof(struct code, bytes);
	l->co_firsttraceable = offsetof(struct code, firsttraceable);
	l->co_flags = offsetof(struct code, flags);
	tstate.cframe = &cframe;
}

static int setup(void **state)
{
	(void)state;
	fah_shadow_has_numbers = true;
	cached = calloc(1, sizeof(*cached));
	fresh = calloc(1, sizeof(*fresh));
	assert_non_null(cached);
	assert_non_null(fresh);
	memset(codes, 0, sizeof(codes));
	for (uint32_t i = 0; i < CODES; i++)
		ids[i] = i + 1;
	has_gil = true;
	layout_312();
	fah_gil_setup();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(cached);
	free(fresh);
	return 0;
}

static uint64_t at(uint32_t code, uint32_t instr)
{
	return (uint64_t)(uintptr_t)codes[code].bytes + instr;
}

/* A frame above previous; at which place of frames[]. */
static struct iframe *push(uint32_t place, struct iframe *previous, uint32_t code, uint32_t instr,
			   uint8_t owner)
{
	frames[place] = (struct iframe){(uint64_t)(uintptr_t)&codes[code], previous,
					at(code, instr), owner};
	return &frames[place];
}

/* The innermost frame; the walk that a real agent makes where a code is not known. */
static uint32_t site(struct fah_sites *s, struct iframe *top)
{
	uint32_t node;
	enum fah_sites_answer answer;

	cframe.current = top;
	answer = fah_sites_here(s, &node);
	if (answer == FAH_SITES_WALK) {
		static struct fah_thread_state t;

		t.walk.n_frames = 0;
		for (; top; top = top->previous)
			if (top->owner < 3)
				t.walk.frames[t.walk.n_frames++] = (struct fah_py_frame){
					.code = top->code,
					.instr = (uint32_t)(top->instr - top->code -
							    offsetof(struct code, bytes))};
		answer = fah_sites_walked(s, &t, has_gil, &node);
	}
	assert_int_equal(answer, FAH_SITES_FOUND);
	return node;
}

/* Whether a node is the stack that these frames are. */
static bool is_stack(const struct fah_sites *s, uint32_t node, const struct iframe *top)
{
	for (; top; top = top->previous) {
		const struct fah_site *n = &s->nodes[node];
		uint32_t code = (uint32_t)((struct code *)(uintptr_t)top->code - codes);

		if (top->owner >= 3)
			continue;
		if (!node || n->code != ids[code] || n->instr != top->instr - at(code, 0))
			return false;
		node = n->parent;
	}
	return node == 0;
}

static bool agrees(struct iframe *top)
{
	/* nothing remembered, so nothing that could be stale */
	fresh->n_chain = 0;
	return is_stack(cached, site(cached, top), top) && is_stack(fresh, site(fresh, top), top);
}

static void same_frame_from_another_line(void **state)
{
	struct iframe *a, *b;

	(void)state;
	for (uint32_t line = 0; line < 10; line++) {
		a = push(0, NULL, 0, 2 * line, 0);
		b = push(1, a, 1, 8, 0); /* all that the innermost one shows is as before */
		assert_true(agrees(b));
	}
	/* the checker can fail: what the cache said of another line is not this stack */
	a = push(0, NULL, 0, 4, 0);
	b = push(1, a, 1, 8, 0);
	uint32_t node = site(cached, b);
	a->instr = at(0, 6);
	assert_false(is_stack(cached, node, b));
	assert_true(agrees(b));
}

static void recursion(void **state)
{
	struct iframe *top = NULL;

	(void)state;
	for (uint32_t i = 0; i < DEEPEST; i++) {
		top = push(i, top, 2, 10, 0);
		assert_true(agrees(top));
	}
	for (; top; top = top->previous)
		assert_true(agrees(top));
}

static void generators_and_shims(void **state)
{
	struct iframe *shim, *a, *g;

	(void)state;
	a = push(0, NULL, 0, 2, 0);
	for (int i = 0; i < 4; i++) {
		shim = push(1, a, 0, 0, 3); /* C called */
		g = push(40 + (uint32_t)i % 2, shim, 3, 6, 1);
		g->instr &= ~1ull;
		assert_true(agrees(push(2, g, 1, 4, 0)));
		assert_true(agrees(push(2, a, 1, 4, 0))); /* the same without the generator */
		assert_true(agrees(g));
	}
	/* a generator that has not begun is where it is, a function is nowhere yet */
	codes[3].firsttraceable = 4;
	codes[4].firsttraceable = 4;
	cached->n_chain = 0;
	cframe.current = push(5, NULL, 4, 2, 0);
	memset(cached->codes, 0, sizeof(cached->codes));
	uint32_t node = site(cached, cframe.current);
	node = site(cached, cframe.current);
	assert_int_equal(cached->nodes[node].instr, FAH_PY_NOT_STARTED);
}

/* Freed, and another at its address: only who hears of the end can tell. */
static void code_made_anew(void **state)
{
	struct iframe *a = push(0, NULL, 5, 2, 0);
	uint32_t before = site(cached, a), *number;
	uint16_t *entry = fah_shadow_make(&codes[5]);

	(void)state;
	assert_int_equal(site(cached, a), before);
	number = fah_shadow_number(entry, &codes[5]);
	assert_true(*number & FAH_SHADOW_CODE);
	ids[5] = 77;
	assert_false(is_stack(cached, site(cached, a), a)); /* nobody said so */
	*number = 0;					    /* as heap_every.c does */
	atomic_fetch_add(&fah_sites_epoch, 1);
	assert_true(is_stack(cached, site(cached, a), a));
	assert_int_not_equal(site(cached, a), before);
	ids[5] = 6;
	*number = 0;
	atomic_fetch_add(&fah_sites_epoch, 1);
	assert_int_equal(site(cached, a), before);
	/* another code's end changes nothing */
	atomic_fetch_add(&fah_sites_epoch, 1);
	assert_int_equal(site(cached, a), before);
}

static void random_chains(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		uint32_t depth = 1 + (uint32_t)rand() % 12, from = (uint32_t)rand() % depth;
		struct iframe *top = from ? &frames[from - 1] : NULL;

		/* what is below stays, or what was left there by deeper ones */
		if (i < 100)
			from = 0, top = NULL;
		for (uint32_t k = from; k < depth; k++)
			top = push(k, top, (uint32_t)rand() % 3, 2 * ((uint32_t)rand() % 4),
				   rand() % 5 ? 0 : 3);
		assert_true(agrees(top));
		if (cached->n_nodes > FAH_SITES_NODES / 2)
			fah_sites_reset(cached);
		if (fresh->n_nodes > FAH_SITES_NODES / 2)
			fah_sites_reset(fresh);
	}
}

static void full_trees_begin_anew(void **state)
{
	uint32_t node = 0, n = 0;

	(void)state;
	for (enum fah_sites_answer a = FAH_SITES_FOUND; a != FAH_SITES_FULL; n++) {
		push(0, NULL, 0, 0, 0);
		cframe.current = &frames[0];
		frames[0].instr = at(0, 0) + 2ull * n;
		a = fah_sites_here(cached, &node);
		if (a == FAH_SITES_WALK)
			site(cached, &frames[0]);
	}
	assert_true(n > FAH_SITES_NODES / 2);
	fah_sites_reset(cached);
	assert_true(agrees(push(0, NULL, 1, 2, 0)));
	assert_true(cached->n_nodes < 3);
}

static void doubt_and_no_gil(void **state)
{
	struct iframe *a = push(0, NULL, 0, 2, 0);
	uint32_t node;

	(void)state;
	cframe.current = a;
	has_gil = false;
	assert_int_equal(fah_sites_here(cached, &node), FAH_SITES_WALK);
	has_gil = true;
	a->previous = (struct iframe *)(uintptr_t)12345; /* no pointer */
	assert_int_equal(fah_sites_here(cached, &node), FAH_SITES_WALK);
	a->previous = a;
	assert_int_equal(fah_sites_here(cached, &node), FAH_SITES_WALK);
	a->previous = NULL;
	a->owner = 2; /* one that has ended */
	assert_int_equal(fah_sites_here(cached, &node), FAH_SITES_WALK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(same_frame_from_another_line),
		CASE(recursion),
		CASE(generators_and_shims),
		CASE(code_made_anew),
		CASE(random_chains),
		CASE(full_trees_begin_anew),
		CASE(doubt_and_no_gil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
