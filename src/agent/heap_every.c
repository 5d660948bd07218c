/*
 * heap_every.c - see heap_every.h. What a block costs here is most of what --exact costs: no system
 * call, no lock, no atomic operation on the way of most.
 *
 * A handler of the program's that allocates while its thread is in here finds `writing` set: its
 * blocks are counted as lost. Our own handler writes what is whole, or nothing.
 */
#include "agent/heap_every.h"

#include "agent/heap.h"
#include "agent/heap_here.h"
#include "agent/heap_sites.h"
#include "agent/heap_sums.h"
#include "core/arch.h"

#include <string.h>

#define ROOM 6144u	  /* bytes of events */
#define FULL (ROOM - 512) /* here it is lost; one event more and its time fit */
#define ENOUGH 4096u	  /* it is written; where that fails, again and again up to FULL */
#define RANGE 4096u	  /* numbers that a thread takes at a time */
#define NUMBERS_MAX 0x7ffffffeu
#define SHAPES FAH_BLOCKS_SHAPES
#define SITES_MAX 256u /* of a batch */
#define DEFS_MAX 2048u /* nodes that it may have to define */
#define DEF_MAX 12u    /* bytes of one: distance, code, instruction */
#define HEAD_MAX (8 * FAH_VARINT_MAX)
#define TICKS_APART (1u << 17) /* of the CPU's clock between two times: some 50 us */
#define LARGE 4096u	       /* bytes from which on a block's own time matters */
#define LOOK_EVERY 8u	       /* of other blocks, one has the clock looked at */
#define WAIT_NS 20000000u      /* a batch is written after that */
#define THREADS_MAX 16384u

_Static_assert(FAH_PY_MAX_FRAMES <= DEFS_MAX, "the deepest stack can be defined");
_Static_assert(HEAD_MAX + 3 * SITES_MAX + DEFS_MAX * DEF_MAX + ROOM <
		       sizeof(((struct fah_chunk *)0)->data) - 64,
	       "a batch fits a chunk");

/* What is asked for where: most blocks are like one of before. */
struct shape {
	uint64_t bytes;
	uint32_t node, kind;
};

struct every {
	_Atomic bool used;
	volatile bool writing; /* for handlers of the same thread */
	struct fah_thread_state *t;
	bool due;
	uint32_t next, end; /* numbers */
	/* the batch */
	uint32_t len, n_events, first;
	uint32_t batch; /* counts up */
	uint32_t n_sites, n_defs;
	uint64_t begin_ns, time_ns, held;
	uint64_t ticks;
	uint32_t looks;
	bool open;
	/* the part of a chunk that nodes are defined in */
	uint32_t gen, n_local, order;
	const struct fah_chunk *chunk;
	struct shape shapes[SHAPES];
	uint8_t events[ROOM];
	uint32_t sites[SITES_MAX];
	uint32_t stack[FAH_PY_MAX_FRAMES];
	struct fah_sites tree;
};

static struct every *_Atomic all[THREADS_MAX];
static _Atomic uint32_t n_all;
static _Atomic uint64_t n_numbers;
static _Atomic bool over; /* the program has ended: what comes is the interpreter's own */

static FAH_HEAP_TLS struct every *mine;
static FAH_HEAP_TLS bool ended; /* what comes now is written at once */

void fah_every_setup(void)
{
	fah_sites_setup();
}

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
	fah_sites_reset(&e->tree);
	e->t = t;
	e->next = e->end = 0;
	e->chunk = NULL;
	e->open = false;
	e->len = e->n_events = 0;
	return e;
}

/* One event more than fits is not begun. Nothing that was in it stays. */
static void close_batch(struct every *e)
{
	e->open = false;
	e->len = e->n_events = 0;
	e->due = false;
}

static void open_batch(struct every *e, int64_t change)
{
	uint64_t most;

	e->open = true;
	e->batch++;
	e->n_sites = e->n_defs = 0;
	e->first = e->next;
	memset(e->shapes, 0xff, sizeof(e->shapes));
	fah_heap_sums(&e->held, &most);
	e->held = (int64_t)e->held > change ? e->held - (uint64_t)change : 0;
	e->begin_ns = e->time_ns = fah_now_mono();
	e->ticks = fah_arch_ticks();
}

/* The nodes that the batch's sites need and that the chunk does not have yet: parents first. */
static uint8_t *put_defs(struct every *e, uint8_t *p, uint32_t *ret_n)
{
	struct fah_site *nodes = e->tree.nodes;

	*ret_n = 0;
	for (uint32_t i = 0; i < e->n_sites; i++) {
		uint32_t n = 0, node = e->sites[i];

		for (; node && nodes[node].gen != e->gen; node = nodes[node].parent)
			e->stack[n++] = node;
		while (n--) {
			struct fah_site *s = &nodes[e->stack[n]];
			uint32_t parent = s->parent ? nodes[s->parent].local : 0;

			s->gen = e->gen;
			s->local = ++e->n_local;
			p = fah_put_varint(p, parent ? s->local - parent : 0);
			p = fah_put_varint(p, s->code);
			p = fah_put_varint(p, (uint32_t)(s->instr + 1));
			(*ret_n)++;
		}
	}
	return p;
}

/* Numbers of nodes begin anew where the thread goes on in another chunk. */
static void see_chunk(struct every *e, const struct fah_thread_state *t)
{
	uint32_t order = atomic_load(&t->chunk->order);

	if (t->chunk == e->chunk && order == e->order)
		return;
	e->chunk = t->chunk;
	e->order = order;
	e->gen++;
	e->n_local = 0;
}

/* With t's chunk ours to write to. False: no room. The batch is as before. */
static bool write_batch(struct every *e, struct fah_thread_state *t, bool ending)
{
	uint64_t held, most;
	uint32_t n_defs;
	uint8_t *p = fah_record_begin(t, HEAD_MAX + 3 * e->n_sites + (size_t)e->n_defs * DEF_MAX +
						 e->len),
		*count;

	if (!p)
		return false;
	see_chunk(e, t);
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, t->chunk_time_ns > e->begin_ns ? t->chunk_time_ns - e->begin_ns : 0);
	p = fah_put_varint(p, ending);
	p = fah_put_varint(p, e->first);
	fah_heap_sums(&held, &most);
	p = fah_put_varint(p, e->held);
	p = fah_put_varint(p, most);
	count = p; /* up to 2 bytes: written as 2 */
	p = put_defs(e, p + 2, &n_defs);
	count[0] = (uint8_t)(n_defs | 0x80);
	count[1] = (uint8_t)(n_defs >> 7);
	p = fah_put_varint(p, e->n_sites);
	for (uint32_t i = 0; i < e->n_sites; i++)
		p = fah_put_varint(p, e->sites[i] ? e->tree.nodes[e->sites[i]].local : 0);
	memcpy(p, e->events, e->len);
	fah_record_commit(t, FAH_SEG_BLOCKS, p + e->len);
	return true;
}

/* What cannot be written any more is lost, and counted. */
static void drop(struct every *e)
{
	fah_heap_lost(e->n_events);
	close_batch(e);
}

/* False: it is still there. */
static bool flush(struct every *e, bool ending)
{
	struct fah_thread_state *t;
	uint64_t mask;
	bool done = false;

	if (!e->open || (!e->len && !ending))
		return true;
	t = fah_heap_write_begin(&mask);
	if (t) {
		done = write_batch(e, t, ending);
		fah_heap_write_end(t, &mask);
	}
	if (done)
		close_batch(e);
	return done;
}

static bool new_numbers(struct every *e)
{
	uint64_t first = atomic_fetch_add(&n_numbers, RANGE);

	if (first > NUMBERS_MAX - RANGE)
		return false;
	e->next = (uint32_t)first + 1;
	e->end = e->next + RANGE;
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
	if (__builtin_expect(e->len > ENOUGH, 0) && !flush(e, false) && e->len > FULL)
		drop(e);
	return e;
}

static inline void leave(struct every *e)
{
	if (__builtin_expect(ended, 0) && !flush(e, false))
		drop(e);
	atomic_signal_fence(memory_order_seq_cst);
	e->writing = false;
	if (__builtin_expect(ended, 0)) {
		mine = NULL;
		atomic_store(&e->used, false);
	}
}

/* Room for one event, with the time before it where some has passed. change: of what is held. */
static inline uint8_t *place(struct every *e, int64_t change, bool large)
{
	uint8_t *p;
	uint64_t ticks, now;

	if (__builtin_expect(!e->open, 0))
		open_batch(e, change);
	p = e->events + e->len;
	if (__builtin_expect(!large && ++e->looks % LOOK_EVERY, 1))
		return p;
	ticks = fah_arch_ticks();
	if (__builtin_expect(ticks - e->ticks < TICKS_APART, 1))
		return p;
	e->ticks = ticks;
	now = fah_now_mono();
	if (now <= e->time_ns)
		return p;
	*p++ = FAH_BLOCKS_TIME;
	p = fah_put_varint(p, now - e->time_ns);
	e->time_ns = now;
	if (now - e->begin_ns > WAIT_NS)
		e->due = true;
	return p;
}

static inline void placed(struct every *e, uint8_t *end)
{
	e->len = (uint32_t)(end - e->events);
	e->n_events++;
	if (__builtin_expect(e->due, 0))
		flush(e, false);
}

/* The site's place in the batch. False: the batch is too full for it. */
static bool site_index(struct every *e, uint32_t node, uint32_t *ret)
{
	struct fah_site *nodes = e->tree.nodes;
	uint32_t n = 0;

	if (nodes[node].batch == e->batch && nodes[node].index) {
		*ret = nodes[node].index - 1;
		return true;
	}
	for (uint32_t i = node; i && nodes[i].batch != e->batch; i = nodes[i].parent)
		n++;
	if (e->n_sites == SITES_MAX || e->n_defs + n > DEFS_MAX)
		return false;
	e->n_defs += n;
	for (uint32_t i = node; i && nodes[i].batch != e->batch; i = nodes[i].parent) {
		nodes[i].batch = e->batch;
		nodes[i].index = 0;
	}
	nodes[node].batch = e->batch; /* of 0, too */
	*ret = e->n_sites;
	e->sites[e->n_sites++] = node;
	nodes[node].index = e->n_sites;
	return true;
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

	w->answer = fah_sites_walked(&w->e->tree, t, w->has_gil, &w->node);
}

/* False: it could not be found out, or nothing can be written. */
static __attribute__((noinline)) bool site_slowly(struct every *e, enum fah_sites_answer answer,
						  uint32_t *ret_node)
{
	struct walked w = {.e = e, .has_gil = fah_sites_has_gil()};

	for (int i = 0; i < 2; i++) {
		if (answer == FAH_SITES_FULL) { /* the batch names nodes of the tree */
			if (!flush(e, false))
				drop(e);
			close_batch(e);
			fah_sites_reset(&e->tree);
			answer = fah_sites_here(&e->tree, ret_node);
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

static inline uint32_t slot_of(uint32_t node, uint64_t bytes, uint32_t kind)
{
	uint64_t h = (bytes << 2 | kind) * 0x9e3779b97f4a7c15ull ^ (uint64_t)node << 32;

	return (uint32_t)((h * 0xd6e8feb86659fd93ull) >> 56) & (SHAPES - 1);
}

/* False: it is lost. */
static inline bool tell(struct every *e, uint32_t node, uint64_t bytes, uint32_t kind)
{
	uint32_t slot = slot_of(node, bytes, kind), index;
	uint8_t *p = place(e, (int64_t)bytes, bytes >= LARGE);
	struct shape *s = &e->shapes[slot];

	if (__builtin_expect(s->node == node && s->bytes == bytes && s->kind == kind, 1)) {
		placed(e, fah_put_varint(p, slot << 2));
		return true;
	}
	if (__builtin_expect(!site_index(e, node, &index), 0)) {
		if (!flush(e, false))
			drop(e);
		p = place(e, (int64_t)bytes, bytes >= LARGE);
		if (!site_index(e, node, &index))
			return false;
		s = &e->shapes[slot];
	}
	*s = (struct shape){bytes, node, kind};
	*p++ = FAH_BLOCKS_SHAPE;
	*p++ = (uint8_t)slot;
	p = fah_put_varint(p, index);
	p = fah_put_varint(p, bytes << 2 | kind);
	placed(e, p);
	return true;
}

/* Its number; 0: it could not be told. */
static inline uint32_t told(uint64_t bytes, uint32_t kind)
{
	struct every *e = enter();
	uint32_t node, number = 0;
	enum fah_sites_answer answer;

	if (__builtin_expect(!e, 0))
		return 0;
	if (__builtin_expect(e->next == e->end, 0)) {
		/* a batch has numbers of one range */
		if (!flush(e, false))
			drop(e);
		close_batch(e);
		if (!new_numbers(e))
			goto out;
	}
	answer = fah_sites_here(&e->tree, &node);
	if (__builtin_expect(answer != FAH_SITES_FOUND, 0) && !site_slowly(e, answer, &node))
		goto out;
	if (__builtin_expect(tell(e, node, bytes, kind), 1))
		number = e->next++;
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
		flush(e, false);
		if (!e->open)
			open_batch(e, 0);
		flush(e, true);
		leave(e);
	}
	return true;
}

void fah_every_give(uint32_t number, uint64_t bytes)
{
	struct every *e;
	uint8_t *p;

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
	p = place(e, -(int64_t)bytes, bytes >= LARGE);
	if (__builtin_expect(number != 0, 1)) {
		p = fah_put_varint(p, fah_zigzag((int64_t)e->next - number) << 1 | 1);
	} else {
		*p++ = FAH_BLOCKS_OTHER;
		p = fah_put_varint(p, fah_zigzag(-(int64_t)bytes));
	}
	placed(e, p);
	leave(e);
}

void fah_every_unmapped(uint64_t bytes, void *gone)
{
	uint32_t number = gone ? (uint32_t)fah_heap_table_take(gone) : 0;

	fah_every_give(number, bytes);
	/* parts of it may have gone before: what is held is told anew */
	if (mine && number)
		mine->due = true;
}

void fah_every_tick(struct fah_thread_state *t)
{
	struct every *e = mine;

	if (!e || e->writing || !e->open || !e->len || fah_now_mono() - e->begin_ns < WAIT_NS)
		return;
	if (write_batch(e, t, false))
		close_batch(e);
}

void fah_every_flush(void)
{
	struct every *e = mine;

	/* maybe in the child of a vfork, whose memory is its parent's: then nothing is written */
	if (!e || e->writing)
		return;
	e->writing = true;
	flush(e, false);
	e->writing = false;
}

void fah_every_thread_end(void)
{
	struct every *e = mine;

	ended = true;
	if (!e || e->writing)
		return;
	e->writing = true;
	if (!flush(e, false))
		drop(e);
	e->writing = false;
	mine = NULL;
	atomic_store(&e->used, false);
}

void fah_every_end_all(void)
{
	uint32_t n = atomic_load(&n_all);

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		struct every *e = atomic_load(&all[i]);

		if (!e || !atomic_load(&e->used) || !e->open || !e->len)
			continue;
		if (!write_batch(e, e->t, false))
			fah_heap_lost(e->n_events);
		e->open = false;
	}
}

void fah_every_forked(void)
{
	uint32_t n = atomic_load(&n_all);

	for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
		struct every *e = atomic_load(&all[i]);

		if (!e)
			continue;
		close_batch(e);
		fah_sites_reset(&e->tree);
		e->next = e->end = 0;
		e->chunk = NULL;
		e->writing = false;
		if (e != mine)
			atomic_store(&e->used, false);
	}
	atomic_store(&n_numbers, 0);
	atomic_store(&over, false);
	atomic_fetch_add(&fah_sites_epoch, 1);
	fah_shadow_forget_numbers();
}
