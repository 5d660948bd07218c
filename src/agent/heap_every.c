/*
 * heap_every.c - see heap_every.h. What a block costs here is most of what --exact costs: no system
 * call, no lock, no atomic operation on the way of most.
 *
 * A handler of the program's that allocates while its thread is in here finds `writing` set: its
 * blocks are counted as lost. Our own handler writes what is whole, or nothing.
 */
#include "agent/heap_every.h"

#include "agent/gil.h"
#include "agent/heap.h"
#include "agent/heap_batch.h"
#include "agent/heap_here.h"

#define RANGE 4096u /* numbers that a thread takes at a time */
#define NUMBERS_MAX 0x7ffffffeu
#define THREADS_MAX 16384u

struct every {
	_Atomic bool used;
	volatile bool writing; /* for handlers of the same thread */
	struct fah_thread_state *t;
	uint32_t end; /* of the numbers that it may give */
	struct fah_batch batch;
};

static struct every *_Atomic all[THREADS_MAX];
static _Atomic uint32_t n_all;
static _Atomic uint64_t n_numbers;
static _Atomic bool over; /* the program has ended: what comes is the interpreter's own */

static FAH_HEAP_TLS struct every *mine;
static FAH_HEAP_TLS bool ended; /* what comes now is written at once */

static struct every *claim(struct fah_thread_state *t)
{
	uint32_t n = atomic_load(&n_all);
	struct every *e = NULL;

	for (uint32_t i = 0; i < n && i < THREADS_MAX && !e; i++) {
		bool expected = false;

		e = atomic_load(&all[i]);
		if (e && !atomic_compare_exchange_strong(&e->used, &expected, true))
			e = NULL;
	}
	if (!e) {
		e = fah_pages(sizeof(*e));
		if (!e)
			return NULL;
		atomic_store(&e->used, true);
		n = atomic_fetch_add(&n_all, 1);
		if (n < THREADS_MAX)
			atomic_store(&all[n], e);
	}
	fah_batch_reset(&e->batch);
	e->t = t;
	e->end = 0;
	return e;
}

static bool new_numbers(struct every *e)
{
	uint64_t first = atomic_fetch_add(&n_numbers, RANGE);

	if (first > NUMBERS_MAX - RANGE)
		return false;
	e->batch.next = (uint32_t)first + 1;
	e->end = e->batch.next + RANGE;
	return true;
}

/* The thread's, for one event; NULL: it cannot be told. */
static inline struct every *enter(void)
{
	struct every *e = mine;
	struct fah_thread_state *t;
	uint64_t mask;

	if (__builtin_expect(!e, 0)) {
		t = fah_heap_write_begin(&mask);
		if (!t)
			return NULL;
		e = mine = claim(t);
		fah_heap_write_end(t, &mask);
		if (!e)
			return NULL;
	}
	if (__builtin_expect(e->writing, 0))
		return NULL;
	e->writing = true;
	atomic_signal_fence(memory_order_seq_cst);
	fah_batch_relieve(&e->batch);
	return e;
}

static inline void leave(struct every *e)
{
	if (__builtin_expect(ended, 0))
		fah_batch_finish(&e->batch);
	atomic_signal_fence(memory_order_seq_cst);
	e->writing = false;
	if (__builtin_expect(ended, 0)) {
		mine = NULL;
		atomic_store(&e->used, false);
	}
}

struct walked {
	struct every *e;
	uint32_t node;
	enum fah_sites_answer answer;
	bool has_gil;
};

static void on_walked(struct fah_thread_state *t, void *arg)
{
	struct walked *w = arg;

	w->answer = fah_sites_walked(&w->e->batch.tree, t, w->has_gil, &w->node);
}

/* False: it could not be found out, or nothing can be written. */
static __attribute__((noinline)) bool site_slowly(struct every *e, enum fah_sites_answer answer,
						  uint32_t *ret_node)
{
	bool none;
	struct walked w = {.e = e, .has_gil = fah_gil_state(&none) != 0};

	for (int i = 0; i < 2; i++) {
		if (answer == FAH_SITES_FULL) { /* the batch names nodes of the tree */
			fah_batch_finish(&e->batch);
			fah_sites_reset(&e->batch.tree);
			answer = fah_sites_here(&e->batch.tree, ret_node);
			if (answer == FAH_SITES_FOUND)
				return true;
		}
		w.answer = FAH_SITES_WALK;
		if (!fah_heap_walk(on_walked, &w))
			return false;
		answer = w.answer;
		*ret_node = w.node;
		if (answer == FAH_SITES_FOUND)
			return true;
		if (answer == FAH_SITES_WALK)
			return false;
	}
	return false;
}

/* Its number; 0: it could not be told. */
static inline uint32_t told(uint64_t bytes, uint32_t kind)
{
	struct every *e = enter();
	uint32_t node, number = 0;
	enum fah_sites_answer answer;

	if (__builtin_expect(!e, 0))
		return 0;
	if (__builtin_expect(e->batch.next == e->end, 0)) {
		fah_batch_finish(&e->batch); /* it has numbers of one range */
		if (!new_numbers(e))
			goto out;
	}
	answer = fah_sites_here(&e->batch.tree, &node);
	if (__builtin_expect(answer != FAH_SITES_FOUND, 0) && !site_slowly(e, answer, &node))
		goto out;
	if (__builtin_expect(fah_batch_take(&e->batch, node, bytes, kind), 1))
		number = e->batch.next++;
out:
	leave(e);
	return number;
}

void fah_every_take(void *block, uint64_t bytes, uint32_t kind, uint16_t *entry)
{
	uint32_t number;

	if (__builtin_expect(atomic_load_explicit(&over, memory_order_relaxed), 0))
		return;
	number = told(bytes, kind);
	if (__builtin_expect(!number, 0)) {
		fah_heap_lost(1);
		return;
	}
	if (__builtin_expect(entry != NULL, 1)) {
		uint32_t *place = fah_shadow_number(entry, block);

		if (__builtin_expect(*place & FAH_SHADOW_CODE, 0)) /* its end was not seen */
			atomic_fetch_add(&fah_sites_epoch, 1);
		*place = number;
		*entry |= FAH_SHADOW_RECORDED;
	} else {
		fah_heap_table_put(block, number);
	}
}

static bool has_ended(void)
{
	struct every *e;

	if (__builtin_expect(!fah_heap_is_ending(), 1))
		return false;
	/* one thread has the interpreter now: it says so for all, once */
	if (atomic_exchange(&over, true))
		return true;
	e = enter();
	if (e) {
		fah_batch_end(&e->batch);
		leave(e);
	}
	return true;
}

void fah_every_give(uint32_t number, uint64_t bytes)
{
	struct every *e;

	if (__builtin_expect(number & FAH_SHADOW_CODE, 0)) {
		atomic_fetch_add(&fah_sites_epoch, 1);
		number &= ~FAH_SHADOW_CODE;
	}
	if (__builtin_expect(atomic_load_explicit(&over, memory_order_relaxed), 0) || has_ended())
		return;
	e = enter();
	if (__builtin_expect(!e, 0)) {
		fah_heap_lost(number != 0);
		return;
	}
	fah_batch_give(&e->batch, number, bytes);
	leave(e);
}

void fah_every_unmapped(uint64_t bytes, uint32_t number)
{
	fah_every_give(number, bytes);
	/* parts of it may have gone before: what is held is told anew */
	if (mine && number)
		mine->batch.due = true;
}

void fah_every_tick(struct fah_thread_state *t)
{
	struct every *e = mine;

	if (e && !e->writing && fah_batch_has_waited(&e->batch) && fah_batch_write(&e->batch, t))
		fah_batch_close(&e->batch);
}

void fah_every_flush(void)
{
	struct every *e = mine;

	/* maybe in the child of a vfork, whose memory is its parent's: then nothing is written */
	if (!e || e->writing)
		return;
	e->writing = true;
	fah_batch_flush(&e->batch);
	e->writing = false;
}

void fah_every_thread_end(void)
{
	struct every *e = mine;

	ended = true;
	if (!e || e->writing)
		return;
	e->writing = true;
	fah_batch_finish(&e->batch);
	e->writing = false;
	mine = NULL;
	atomic_store(&e->used, false);
}

void fah_every_end_all(void)
{
	uint32_t n = atomic_load(&n_all);

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		struct every *e = atomic_load(&all[i]);

		if (!e || !atomic_load(&e->used) || !e->batch.open || !e->batch.len)
			continue;
		if (!fah_batch_write(&e->batch, e->t))
			fah_heap_lost(e->batch.n_events);
		e->batch.open = false;
	}
}

void fah_every_forked(void)
{
	uint32_t n = atomic_load(&n_all);

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		struct every *e = atomic_load(&all[i]);

		if (!e)
			continue;
		fah_batch_reset(&e->batch);
		e->end = 0;
		e->writing = false;
		if (e != mine)
			atomic_store(&e->used, false);
	}
	atomic_store(&n_numbers, 0);
	atomic_store(&over, false);
	atomic_fetch_add(&fah_sites_epoch, 1);
	fah_shadow_forget_numbers();
}
