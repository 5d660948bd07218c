/*
 * exact_table.c - the tables of threads: who calls whom. Off the hot path; with the GIL, but for
 * the end of a thread.
 *
 * Functions and calls stay where they are: stacks point to them. A thread that ends leaves its
 * table to the next. All of them together take no more than FAH_EXACT_BYTES; beyond that what is
 * new counts as "<others>".
 */
#include "agent/event_writer.h"
#include "agent/exact.h"
#include "core/sys.h"

#include <string.h>

#define FAH_EXACT_BYTES (52u << 20) /* with all else of ours 64 MB */
#define THREADS_MAX 8192u
#define FRAMES_FIRST 512u
#define SLOTS_FIRST 1024u
#define CALLED_BLOCK 512u
#define OTHERS "<others: no room to tell them apart>"

_Thread_local __attribute__((tls_model("initial-exec"))) struct fah_exact_thread *fah_exact_mine;

static struct fah_exact_thread *_Atomic threads[THREADS_MAX];
static _Atomic uint32_t n_threads;

/* NULL: it would be too much. must: a stack that grows, which no number of calls can fill. */
static void *room(size_t size, bool must)
{
	void *p;

	if (!must && atomic_load(&fah_exacting.bytes) + size > FAH_EXACT_BYTES)
		return NULL;
	p = fah_pages(size);
	if (p)
		atomic_fetch_add(&fah_exacting.bytes, size);
	return p;
}

/* The same where it outlives the process. Not while costs are measured: those calls are ours. */
static void *kept_room(enum fah_kept kind, size_t size, bool must)
{
	void *p;

	if (fah_exacting.measuring)
		return room(size, must);
	if (!must && atomic_load(&fah_exacting.bytes) + size > FAH_EXACT_BYTES)
		return NULL;
	p = fah_kept_room(kind, size);
	if (!p)
		return room(size, must);
	atomic_fetch_add(&fah_exacting.bytes, size);
	return p;
}

static void give_back(void *p, size_t size)
{
	FAH_SYS2(SYS_munmap, p, size);
	atomic_fetch_sub(&fah_exacting.bytes, size);
}

struct fah_exact_thread *fah_exact_thread_at(uint32_t i)
{
	return i < atomic_load(&n_threads) ? atomic_load(&threads[i]) : NULL;
}

static void empty(struct fah_exact_thread *t)
{
	t->root = (struct fah_exact_call){.callee = t->nobody, .version = 1};
	t->top = t->frames;
	*t->top = (struct fah_exact_frame){.call = &t->root};
}

static struct fah_exact_thread *make(void)
{
	struct fah_exact_thread *t = room(sizeof(*t), true);

	if (!t)
		return NULL;
	t->frames = room(FRAMES_FIRST * sizeof(*t->frames), true);
	t->slots = room(SLOTS_FIRST * sizeof(*t->slots), true);
	t->called_slots = room(SLOTS_FIRST * sizeof(*t->called_slots), true);
	t->called = kept_room(FAH_KEPT_CALLED, CALLED_BLOCK * sizeof(*t->called), true);
	if (!t->frames || !t->slots || !t->called_slots || !t->called)
		return NULL; /* no memory at all: the program ends soon */
	t->nobody = t->called++;
	t->others = t->called++;
	t->called_left = CALLED_BLOCK - 2;
	t->end = t->frames + FRAMES_FIRST;
	t->mask = t->called_mask = SLOTS_FIRST - 1;
	return t;
}

/* One that a thread has left. */
static struct fah_exact_thread *left_over(void)
{
	for (uint32_t i = 0; i < atomic_load(&n_threads); i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong(&threads[i]->used, &none, 1))
			return threads[i];
	}
	return NULL;
}

struct fah_exact_thread *fah_exact_thread_new(void)
{
	struct fah_exact_thread *t = left_over();

	if (!t && atomic_load(&n_threads) < THREADS_MAX) {
		t = make();
		if (!t)
			return NULL;
		atomic_store(&t->used, 1);
		atomic_store(&threads[atomic_load(&n_threads)],
			     t); /* with the GIL: one at a time */
		atomic_fetch_add(&n_threads, 1);
	}
	if (!t)
		return NULL;
	empty(t);
	t->taken = 0;
	t->told = false;
	t->due = fah_exacting.measuring ? INT64_MAX : 0;
	t->write_due = fah_event_ticks() + fah_exacting.second;
	fah_exact_mine = t;
	return t;
}

void fah_exact_thread_end(void)
{
	struct fah_exact_thread *t = fah_exact_mine;

	if (!t || fah_exacting.forked || !atomic_load(&fah_exacting.on))
		return;
	fah_exact_end_open(t);
	fah_exact_mine = NULL;
	atomic_store(&t->used, 0); /* what is new is written by others: here we lack the GIL */
}

bool fah_exact_deeper(struct fah_exact_thread *t)
{
	size_t n = (size_t)(t->end - t->frames);
	struct fah_exact_frame *more = room(2 * n * sizeof(*more), true);

	if (!more)
		return false;
	memcpy(more, t->frames, n * sizeof(*more));
	t->top = more + (t->top - t->frames);
	give_back(t->frames, n * sizeof(*more));
	t->frames = more;
	t->end = more + 2 * n;
	return true;
}

/* The table of slots, twice as large, where it is half full. False: no room for one more. */
static bool widen_calls(struct fah_exact_thread *t)
{
	uint64_t n = t->mask + 1;
	struct fah_exact_call **more;

	if (t->n_calls < n / 2)
		return true;
	more = room(2 * n * sizeof(*more), false);
	if (!more)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		struct fah_exact_call *c = t->slots[i];
		uint64_t k = c ? fah_exact_slot(c->caller, c->key, c->version) : 0;

		if (!c)
			continue;
		while (more[k & (2 * n - 1)])
			k++;
		more[k & (2 * n - 1)] = c;
	}
	give_back(t->slots, n * sizeof(*more));
	t->slots = more;
	t->mask = 2 * n - 1;
	return true;
}

static bool widen_called(struct fah_exact_thread *t)
{
	uint64_t n = t->called_mask + 1;
	struct fah_exact_called **more;

	if (t->n_called < n / 2)
		return true;
	more = room(2 * n * sizeof(*more), false);
	if (!more)
		return false;
	for (struct fah_exact_called *f = t->all; f; f = f->next) {
		uint64_t k = fah_exact_slot(NULL, f->key, f->version);

		while (more[k & (2 * n - 1)])
			k++;
		more[k & (2 * n - 1)] = f;
	}
	give_back(t->called_slots, n * sizeof(*more));
	t->called_slots = more;
	t->called_mask = 2 * n - 1;
	return true;
}

/* In the segment, and what is special about it. False: it cannot be told now. */
static bool tell(struct fah_exact_called *f, fah_object *of)
{
	struct fah_thread_state *w = fah_event_writer();
	const char *name;

	if (!w)
		return false;
	if (!f->key)
		f->id = fah_codes_other(w, "~", OTHERS);
	else if (f->version)
		f->id = fah_event_code_id(w, f->key, f->version);
	else
		f->id = fah_exact_c_id(w, f->key, of);
	fah_event_writer_end();
	if (!f->version && f->key) {
		name = *(const char *const *)(uintptr_t)f->key; /* PyMethodDef.ml_name */
		f->starts_threads = !strncmp(name, "start_", 6);
		f->takes_tool = !strcmp(name, "use_tool_id");
		f->replaces_us = fah_exacting.tool < 0 &&
				 (!strcmp(name, "setprofile") || !strcmp(name, "enable"));
	}
	/* before 3.12 nothing tells another code object at this place from it: it stays */
	if (f->id && f->version == 1u << 31 && !fah_exacting.measuring)
		fah_py.incref((fah_object *)(uintptr_t)f->key);
	return f->id != 0;
}

static struct fah_exact_called *others(struct fah_exact_thread *t)
{
	if (!t->others->id) {
		t->others->key = 0;
		t->others->cost = fah_exact_cost_of_c(0);
		if (!tell(t->others, NULL))
			return NULL;
		t->others->next = t->all;
		t->all = t->others;
	}
	return t->others;
}

static struct fah_exact_called *called(struct fah_exact_thread *t, uint64_t key, uint32_t version,
				       fah_object *of)
{
	struct fah_exact_called *f;
	uint64_t i;

	if (!widen_called(t))
		return others(t);
	for (i = fah_exact_slot(NULL, key, version) & t->called_mask; (f = t->called_slots[i]);
	     i = (i + 1) & t->called_mask)
		if (f->key == key && f->version == version)
			return f;
	if (!t->called_left) {
		t->called = kept_room(FAH_KEPT_CALLED, CALLED_BLOCK * sizeof(*t->called), false);
		if (!t->called)
			return others(t);
		t->called_left = CALLED_BLOCK;
	}
	f = t->called;
	*f = (struct fah_exact_called){.key = key, .version = version};
	f->cost = fah_exact_cost_of_c(version ? 0 : key);
	if (!fah_exacting.measuring && !tell(f, of))
		return NULL;
	t->called++;
	t->called_left--;
	t->n_called++;
	f->next = t->all;
	t->all = f;
	t->called_slots[i] = f;
	return f;
}

static struct fah_exact_call *in_slots(const struct fah_exact_thread *t,
				       const struct fah_exact_called *caller, uint64_t key,
				       uint32_t version, uint64_t *ret_at)
{
	uint64_t i = fah_exact_slot(caller, key, version) & t->mask;

	while (t->slots[i] && (t->slots[i]->key != key || t->slots[i]->caller != caller ||
			       t->slots[i]->version != version))
		i = (i + 1) & t->mask;
	*ret_at = i;
	return t->slots[i];
}

struct fah_exact_call *fah_exact_call_new(struct fah_exact_thread *t,
					  struct fah_exact_called *caller, uint64_t key,
					  uint32_t version, fah_object *of)
{
	struct fah_exact_called *callee = called(t, key, version, of);
	struct fah_exact_call *c;
	uint64_t at;

	if (!callee)
		return NULL;
	if (!widen_calls(t))
		callee = others(t);
	if (callee == t->others)
		key = version = 0;
	if (!callee)
		return NULL;
	c = in_slots(t, caller, key, version, &at);
	if (c)
		return c;
	if (!t->calls_left) {
		struct fah_exact_block *b = kept_room(FAH_KEPT_CALLS, sizeof(*b), false);

		if (!b)
			return NULL;
		b->next = t->blocks;
		t->blocks = b;
		t->calls = b->calls;
		t->calls_left = FAH_EXACT_BLOCK;
	}
	c = t->calls++;
	t->calls_left--;
	t->blocks->n++;
	*c = (struct fah_exact_call){
		.key = key, .version = version, .caller = caller, .callee = callee};
	t->slots[at] = c;
	t->n_calls++;
	return c;
}

/* What ran in the parent runs here too; functions of C's are known by their names alone. */
void fah_exact_start_anew(void)
{
	const struct fah_exact_thread *old = fah_exact_mine;
	struct fah_exact_thread *t;

	atomic_store(&n_threads, 0);
	atomic_store(&fah_exacting.bytes, 0); /* the parent's are shared, and not touched again */
	fah_exact_mine = NULL;
	t = fah_exact_thread_new();
	for (const struct fah_exact_frame *f = old && t ? old->frames + 1 : NULL;
	     f && f <= old->top; f++) {
		struct fah_exact_call *c = NULL;

		if (t->top + 1 < t->end || fah_exact_deeper(t))
			c = fah_exact_call_new(t, t->top->call->callee, f->key, f->call->version,
					       NULL);
		if (c)
			fah_exact_push(t, c, f->key);
	}
}

void fah_exact_clear(struct fah_exact_thread *t)
{
	for (struct fah_exact_block *b = t->blocks; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++) {
			struct fah_exact_call *c = &b->calls[i];

			c->calls = c->recursive = 0;
			c->self = c->total = 0;
		}
	for (struct fah_exact_called *f = t->all; f; f = f->next) {
		f->recursive = 0;
		f->total = 0;
		f->changed = false;
	}
}
