/*
 * exact_write.c - what is new in a thread's table, as records; then it is 0 again. By the thread
 * itself about once a second, for those that ended by another, for all at the end of the process.
 * Of a process that is killed the collector takes the rest from the tables (core/kept.h).
 */
#include "agent/event_writer.h"
#include "agent/exact.h"
#include "core/varint.h"

/* by: 0 all of its calls, 1 those by nobody, else of whom the id + 1. */
static bool put(struct fah_thread_state *w, uint32_t id, uint64_t by, uint64_t calls,
		uint64_t recursive, double self_ns, double total_ns)
{
	uint8_t *p = fah_record_begin(w, 7 * FAH_VARINT_MAX);

	if (!p)
		return false;
	p = fah_record_put_time(w, p);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, by);
	p = fah_put_varint(p, calls);
	p = fah_put_varint(p, recursive);
	p = fah_put_varint(p, fah_zigzag((int64_t)self_ns));
	p = fah_put_varint(p, fah_zigzag((int64_t)total_ns));
	fah_record_commit(w, FAH_SEG_TIMED, p);
	return true;
}

static bool write_calls(struct fah_exact_thread *t, struct fah_thread_state *w, double ns)
{
	for (struct fah_exact_block *b = t->blocks; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++) {
			struct fah_exact_call *c = &b->calls[i];

			if (!c->calls)
				continue;
			if (!put(w, c->callee->id,
				 c->caller == t->nobody ? 1 : c->caller->id + 1ull, c->calls,
				 c->recursive, (double)c->self * ns, (double)c->total * ns))
				return false;
			c->calls = c->recursive = 0;
			c->self = c->total = 0;
		}
	return true;
}

void fah_exact_write(struct fah_exact_thread *t)
{
	struct fah_thread_state *w;
	double ns = fah_event_ns_a_tick();

	if (atomic_exchange(&t->writing, 1))
		return; /* whoever ends the process is at it */
	w = fah_event_writer();
	if (w && write_calls(t, w, ns))
		for (struct fah_exact_called *f = t->all; f; f = f->next) {
			if (!f->changed)
				continue;
			/* calls and their own times are the sums of those by callers */
			if (!put(w, f->id, 0, 0, f->recursive, 0, (double)f->total * ns))
				break;
			f->recursive = 0;
			f->total = 0;
			f->changed = false;
		}
	if (w)
		fah_event_writer_end();
	atomic_store(&t->writing, 0);
}

void fah_exact_write_left(void)
{
	struct fah_exact_thread *t;

	for (uint32_t i = 0; (t = fah_exact_thread_at(i)); i++)
		if (!atomic_load(&t->used))
			fah_exact_write(t);
}

void fah_exact_end(void)
{
	struct fah_exact_thread *t;

	/* a fork's child that was told of nothing has its parent's tables only */
	if (!atomic_load(&fah_exacting.on) || fah_exacting.forked)
		return;
	for (uint32_t i = 0; (t = fah_exact_thread_at(i)); i++) {
		if (atomic_load(&t->used))
			fah_exact_end_open(t);
		fah_exact_write(t);
	}
	atomic_store(&fah_exacting.on, false);
	atomic_store(&fah_exacting.attention, true); /* whoever still runs counts no more */
}
