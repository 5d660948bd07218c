/*
 * heap_sample.c - counts all blocks, and records some, with their stack.
 *
 * Each byte that is asked for has the same chance to be picked, one in `interval` on average, and a
 * block is recorded where one of its bytes is (a Poisson process: the distance to the next is drawn
 * anew each time). So nothing in step with the program is missed, a block of s bytes stands for
 * s / (1 - exp(-s / interval)), and sums of those are right on average whatever the sizes are.
 */
#include "agent/gil.h"
#include "agent/heap.h"
#include "agent/heap_every.h"
#include "agent/heap_here.h"
#include "agent/heap_sites.h"
#include "agent/heap_stack.h"
#include "agent/heap_sums.h"
#include "agent/stack.h"
#include "core/varint.h"

#include <string.h>

#define TICK_NS 5000000u
#define COPY_INTERVAL 4194304u
#define SETTINGS_MAX 64
#define NUMBERS_MAX (8 * FAH_VARINT_MAX)

FAH_HEAP_TLS struct fah_heap_thread fah_heap_thread;
_Atomic bool fah_heap_on;

static uint64_t interval; /* or FAH_HEAP_EVERY, FAH_HEAP_EVERY_MALLOC */
static bool every;	  /* and asked for: heap_every.c does it */
static _Atomic bool recording;
static int64_t before;		   /* held when recording began */
static int (*is_finalizing)(void); /* the interpreter; NULL: not known */
static bool paused_on, paused_recording;
static _Atomic uint64_t n_blocks, n_lost, n_copied, told_ns;

/* ln of m / 2^53, m from 1 to 2^53 - 1: the series of atanh, right to one in a million. */
static double ln_of(uint64_t m)
{
	int bits = 63 - __builtin_clzll(m);
	double f = (double)m / (double)(1ull << bits), z = (f - 1) / (f + 1), s = z * z;

	return 2 * z * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s / 9)))) +
	       (bits - 53) * 0.69314718055994531;
}

static int64_t draw(uint64_t mean)
{
	uint64_t m = fah_random() >> 11;

	return (int64_t)(-ln_of(m ? m : 1) * (double)mean);
}

void fah_heap_lost(uint64_t n)
{
	atomic_fetch_add(&n_lost, n);
}

bool fah_heap_is_ending(void)
{
	return is_finalizing && is_finalizing();
}

struct picked {
	void *block;
	uint64_t bytes;
	uint32_t kind;
	bool written;
};

/* Where the thread is, and room for a record with that; NULL: none. */
static uint8_t *look(struct fah_thread_state *t, uint32_t *ret_flags)
{
	fah_heap_stack(t, ret_flags);
	return fah_record_begin(t, NUMBERS_MAX + fah_stack_size(t));
}

/* By fah_heap_here. */
static void write_copy(struct fah_thread_state *t, void *arg)
{
	struct picked *a = arg;
	uint32_t flags;
	uint8_t *p = look(t, &flags);

	if (!p)
		return;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, a->bytes);
	p = fah_put_varint(p, COPY_INTERVAL);
	p = fah_put_varint(p, flags);
	p = fah_stack_put(t, p);
	fah_record_commit(t, FAH_SEG_COPY, p);
	a->written = true;
}

/* Likewise. */
static void write_alloc(struct fah_thread_state *t, void *arg)
{
	struct picked *a = arg;
	uint64_t number;
	uint32_t flags;
	uint8_t *p = look(t, &flags);

	if (!p)
		return;
	number = atomic_fetch_add(&n_blocks, 1) + 1;
	if (!fah_heap_table_put(a->block, number))
		return;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, number);
	p = fah_put_varint(p, a->kind);
	p = fah_put_varint(p, a->bytes);
	p = fah_heap_sums_put(p);
	p = fah_put_varint(p, flags);
	p = fah_stack_put(t, p);
	fah_record_commit(t, FAH_SEG_ALLOC, p);
	a->written = true;
}

static bool written(struct picked *a, void (*write)(struct fah_thread_state *, void *))
{
	fah_heap_here(write, a);
	if (!a->written)
		fah_heap_lost(1);
	return a->written;
}

static void record(void *block, uint64_t bytes, uint32_t kind, uint16_t *entry)
{
	struct picked a = {.block = block, .bytes = bytes, .kind = kind};

	if (written(&a, write_alloc) && entry)
		*entry |= FAH_SHADOW_RECORDED;
}

/* What the thread copied since it was drawn. */
static void join_copied(struct fah_heap_thread *h)
{
	atomic_fetch_add(&n_copied, h->copy_due - (uint64_t)h->copy_left);
	h->copy_due = (uint64_t)h->copy_left;
}

static void draw_copy(struct fah_heap_thread *h)
{
	h->copy_left = draw(COPY_INTERVAL);
	h->copy_due = (uint64_t)h->copy_left;
}

__attribute__((noinline)) void fah_heap_copied(size_t bytes)
{
	struct fah_heap_thread *h = &fah_heap_thread;
	struct picked a = {.bytes = bytes};

	if (!atomic_load_explicit(&recording, memory_order_relaxed)) {
		h->copy_left = 0;
		h->copy_due = 0;
		h->copy_begun = false;
		return;
	}
	if (!h->copy_begun) {
		h->copy_begun = true;
		draw_copy(h);
		h->copy_left -= (int64_t)bytes;
		if (h->copy_left >= 0)
			return;
	}
	join_copied(h);
	draw_copy(h);
	written(&a, write_copy);
}

static __attribute__((noinline)) void picked(struct fah_heap_thread *h, void *block, uint64_t bytes,
					     uint32_t kind, uint16_t *entry)
{
	if (!atomic_load_explicit(&recording, memory_order_relaxed)) {
		h->left = 0;
		return;
	}
	if (every) {
		h->left = -1;
		fah_every_take(block, bytes, kind, entry);
		return;
	}
	if (!h->begun) {
		h->begun = true;
		h->left = draw(interval) - (int64_t)bytes;
		if (h->left >= 0)
			return;
	}
	h->left = draw(interval);
	record(block, bytes, kind, entry);
}

void fah_heap_take(void *block, size_t bytes, uint32_t kind)
{
	struct fah_heap_thread *h = &fah_heap_thread;
	uint16_t *entry = fah_shadow_make(block);

	if (!entry)
		return;
	if (__builtin_expect(*entry, 0)) /* given back by a way that we do not see */
		fah_heap_give(block, kind);
	fah_shadow_set(entry, bytes);
	fah_heap_sums_add(h, kind, (int64_t)bytes);
	h->left -= (int64_t)bytes;
	if (__builtin_expect(h->left < 0, 0))
		picked(h, block, bytes, kind, entry);
}

void fah_heap_took(void *block, size_t bytes, uint16_t *entry)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	if (h->delta[0] > FAH_HEAP_BATCH)
		fah_heap_sums_join(h);
	if (h->left < 0)
		picked(h, block, bytes, FAH_MEMORY_PYTHON, entry);
}

void fah_heap_join(void)
{
	fah_heap_sums_join(&fah_heap_thread);
}

/* Of a block of that number; 0: recorded before a fork, or never. */
static __attribute__((noinline)) void write_free(uint64_t number)
{
	struct fah_thread_state *t;
	uint64_t mask;
	uint8_t *p;

	if (!number)
		return;
	t = fah_heap_write_begin(&mask);
	p = t ? fah_record_begin(t, NUMBERS_MAX) : NULL;
	if (p) {
		p = fah_record_put_time(t, p);
		p = fah_put_varint(p, number);
		p = fah_heap_sums_put(p);
		p = fah_put_varint(p, fah_heap_is_ending());
		fah_record_commit(t, FAH_SEG_FREE, p);
	} else {
		atomic_fetch_add(&n_lost, 1);
	}
	if (t)
		fah_heap_write_end(t, &mask);
}

struct fah_heap_moved fah_heap_move(void *block)
{
	uint16_t *entry = (uintptr_t)block % FAH_SHADOW_GRANULE ? NULL : fah_shadow_find(block);
	struct fah_heap_moved was = {.known = entry && *entry};

	if (every && entry) {
		uint32_t *number = fah_shadow_number(entry, block);

		was.number = *number;
		*number = 0;
		if (__builtin_expect(!was.known && was.number, 0)) /* code of before us */
			atomic_fetch_add(&fah_sites_epoch, 1);
	}
	if (!was.known)
		return was;
	was.bytes = fah_shadow_bytes(entry);
	was.recorded = *entry & FAH_SHADOW_RECORDED;
	fah_shadow_clear(entry);
	return was;
}

static void gone(struct fah_heap_moved was, void *block, uint32_t kind)
{
	if (!was.known)
		return;
	fah_heap_sums_add(&fah_heap_thread, kind, -(int64_t)was.bytes);
	if (every) {
		if (atomic_load_explicit(&recording, memory_order_relaxed))
			fah_every_give(was.number, was.bytes);
	} else if (__builtin_expect(was.recorded, 0)) {
		write_free(fah_heap_table_take(block));
	}
}

void fah_heap_give(void *block, uint32_t kind)
{
	gone(fah_heap_move(block), block, kind);
}

void fah_heap_moved_to(struct fah_heap_moved was, void *from, void *block, size_t bytes,
		       uint32_t kind)
{
	gone(was, from, kind);
	if (block)
		fah_heap_take(block, bytes, kind);
}

void fah_heap_not_moved(struct fah_heap_moved was, void *block)
{
	uint16_t *entry = was.known ? fah_shadow_find(block) : NULL;

	if (!entry)
		return;
	fah_shadow_set(entry, was.bytes);
	if (was.recorded)
		*entry |= FAH_SHADOW_RECORDED;
	if (every)
		*fah_shadow_number(entry, block) = was.number;
}

void fah_heap_mapped(void *at, uint64_t bytes)
{
	struct fah_heap_thread *h = &fah_heap_thread;

	fah_heap_sums_add(h, FAH_MEMORY_MAPPED, (int64_t)bytes);
	h->left -= (int64_t)bytes;
	if (h->left < 0)
		picked(h, at, bytes, FAH_MEMORY_MAPPED, NULL);
}

void fah_heap_unmapped(uint64_t bytes, uint64_t number)
{
	fah_heap_sums_add(&fah_heap_thread, FAH_MEMORY_MAPPED, -(int64_t)bytes);
	if (every && atomic_load_explicit(&recording, memory_order_relaxed))
		fah_every_unmapped(bytes, (uint32_t)number);
	else
		write_free(number);
}

static void write_heap(struct fah_thread_state *t)
{
	uint8_t *p = fah_record_begin(t, NUMBERS_MAX);
	int64_t python, all, own[2] = {fah_heap_thread.delta[0], fah_heap_thread.delta[1]};

	if (!p)
		return;
	all = fah_heap_held(&python) + own[0] + own[1];
	python += own[0];
	python = python > 0 ? python : 0;
	all = all > python ? all : python;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, interval);
	p = fah_put_varint(p, before > 0 ? (uint64_t)before : 0);
	p = fah_put_varint(p, (uint64_t)python);
	p = fah_put_varint(p, (uint64_t)(all - python));
	p = fah_put_varint(p, (uint64_t)fah_heap_most(all));
	p = fah_put_varint(p, atomic_load(&n_lost));
	p = fah_put_varint(p, atomic_load(&n_copied) + fah_heap_thread.copy_due -
				      (uint64_t)fah_heap_thread.copy_left);
	fah_record_commit(t, FAH_SEG_HEAP, p);
}

void fah_heap_tick(struct fah_thread_state *t)
{
	uint64_t now, last;

	if (!atomic_load_explicit(&recording, memory_order_relaxed))
		return;
	if (every)
		fah_every_tick(t);
	now = fah_now_mono();
	last = atomic_load(&told_ns);
	if (now - last >= TICK_NS && atomic_compare_exchange_strong(&told_ns, &last, now))
		write_heap(t);
}

/* "interval <bytes>". False: memory was not asked for. */
static bool read_settings(void)
{
	static const char word[] = "interval ";
	char text[SETTINGS_MAX];
	uint64_t v = 0;

	if (fah_session_file("heap", text, sizeof(text)) < (long)sizeof(word) ||
	    strncmp(text, word, sizeof(word) - 1))
		return false;
	for (const char *s = text + sizeof(word) - 1; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (uint64_t)(*s - '0');
	interval = v;
	return true;
}

void fah_heap_load(void)
{
	every = fah_shadow_has_numbers = read_settings() && fah_heap_is_every(interval);
	atomic_store(&fah_heap_on, true);
}

static void begin_anew(void)
{
	before = fah_heap_sums_begin();
	fah_heap_thread.copy_due = (uint64_t)fah_heap_thread.copy_left;
	atomic_store(&n_copied, 0);
	atomic_store(&n_blocks, 0);
	atomic_store(&n_lost, 0);
}

static void write_state(void)
{
	uint64_t mask;
	struct fah_thread_state *t = fah_heap_write_begin(&mask);

	if (!t)
		return;
	fah_heap_sums_join(&fah_heap_thread);
	write_heap(t);
	fah_heap_write_end(t, &mask);
}

void fah_heap_start(void)
{
	if (!read_settings()) {
		atomic_store(&fah_heap_on, false);
		return;
	}
	fah_gil_setup();
	*(void **)&is_finalizing = fah_global("Py_IsFinalizing");
	if (!is_finalizing) /* up to 3.12 */
		*(void **)&is_finalizing = fah_global("_Py_IsFinalizing");
	fah_heap_watch_python(interval != FAH_HEAP_EVERY_MALLOC);
	begin_anew();
	atomic_store(&recording, true);
	write_state();
}

void fah_heap_thread_end(void)
{
	join_copied(&fah_heap_thread);
	fah_heap_sums_join(&fah_heap_thread);
	if (every && atomic_load(&recording))
		fah_every_thread_end();
}

void fah_heap_forked(void)
{
	if (!atomic_load(&recording))
		return;
	fah_heap_table_forget();
	if (every)
		fah_every_forked();
	begin_anew(); /* what it has of its parent's is what it began with */
	fah_heap_maps_forked();
}

void fah_heap_end(void)
{
	fah_heap_pause();
	paused_on = paused_recording = false;
}

void fah_heap_flush(void)
{
	if (every && atomic_load(&recording))
		fah_every_flush();
}

void fah_heap_end_all(void)
{
	if (every)
		fah_every_end_all();
}

void fah_heap_pause(void)
{
	paused_on = atomic_load(&fah_heap_on);
	paused_recording = atomic_load(&recording);
	if (paused_recording && every)
		fah_every_flush();
	if (paused_recording)
		write_state();
	atomic_store(&recording, false);
	atomic_store(&fah_heap_on, false);
}

void fah_heap_resume(void)
{
	atomic_store(&fah_heap_on, paused_on);
	atomic_store(&recording, paused_recording);
}
