/*
 * count_edges.c - who called the function that begins now; and calls that are met for the first
 * time, which get a place in the table and a name in the segment. With the GIL only.
 */
#include "agent/count.h"
#include "agent/count_frames.h"
#include "agent/event_writer.h"
#include "core/sys.h"
#include "core/time.h"
#include "core/varint.h"

#include <string.h>

#define NO_EVENTS 0x2000000u  /* co_flags: the interpreter's own code around __init__ */
#define NEW_FREE_NS 12000000u /* calls that are new may take so much, ... */
#define NEW_SHARE 200u	      /* ... and of the CPU one part of so many */
#define UP_MAX 64	      /* frames to the caller that is wanted */

uint64_t fah_count_work(void)
{
	uint64_t all = fah_now_process_cpu(), ours = fah_counting.n_told * fah_counting.probe_ns;

	return all > ours ? all - ours : 0;
}

bool fah_count_setup(void)
{
	fah_loops_setup();
	return fah_event_writer_setup() && fah_count_table_setup() == 0;
}

void fah_count_write_state(struct fah_thread_state *t, uint32_t id, bool counted)
{
	uint8_t *p = fah_record_begin(t, 4 * FAH_VARINT_MAX);

	if (!p)
		return;
	p = fah_record_put_time(t, p);
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, counted);
	p = fah_put_varint(p, fah_count_work());
	fah_record_commit(t, FAH_SEG_COUNTING, p);
}

void fah_count_tell_unknown(struct fah_thread_state *t)
{
	if (atomic_exchange(&fah_counting.untold, false))
		fah_count_write_state(t, 0, false);
}

static bool is_inside(struct fah_thread_state *t, uint64_t code)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	struct fah_py_code c;
	int n;

	if (*(const uint32_t *)(uintptr_t)(code + l->co_flags) & NO_EVENTS)
		return false;
	if (fah_counting.measuring)
		return true;
	if (fah_py_code_read(&t->mem, l, code, &c) < 0)
		return false;
	n = fah_py_read_str(&t->mem, l, c.filename, (char *)t->text, sizeof(t->text) - 1);
	if (n < 0)
		return false;
	t->text[n] = 0;
	return fah_count_scope_has((const char *)t->text);
}

static struct fah_counted *meet(struct fah_thread_state *t, uint64_t code)
{
	bool is_new;
	struct fah_counted *c = fah_counted_get(code, fah_code_version(code), &is_new);

	if (c && is_new)
		c->inside = is_inside(t, code);
	return c;
}

void fah_edge_list(const struct fah_counted *callee, struct fah_edge *e)
{
	struct fah_counted *from = e->from ? fah_counted_at(e->from - 1) : NULL;

	if (!from || from == callee)
		return;
	e->next_out = from->first_out;
	from->first_out = fah_edge_index(e) + 1;
}

/* A call that is new. NULL: it is not counted. */
static struct fah_edge *new_edge(struct fah_thread_state *t, uint64_t code, uint64_t frame)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	struct fah_counted *callee = meet(t, code), *caller = NULL;
	uint64_t caller_code = frame ? fah_frame_code(frame) : 0, instr;
	struct fah_edge *e;

	if (!callee || !callee->inside)
		return NULL;
	if (!callee->id) {
		callee->id = fah_event_code_id(t, code, callee->version);
		if (!callee->id)
			return NULL;
		fah_count_tell_unknown(t);
		fah_counting.met_new = true;
		if (!fah_counting.measuring)
			fah_count_write_state(t, callee->id, true);
	}
	if (frame) {
		caller = meet(t, caller_code);
		if (!caller)
			return NULL;
		if (caller->inside && !caller->id)
			caller->id = fah_event_code_id(t, caller_code, caller->version);
	}
	e = fah_edge_add(callee, frame ? fah_frame_word(frame + l->f_instr) : 0,
			 caller ? caller->version : 0);
	if (!e)
		return NULL;
	e->inside = !caller || (caller->inside && caller->id);
	e->caller = caller ? caller->id : 0;
	e->from = caller && e->inside ? fah_counted_index(caller) + 1 : 0;
	if (callee->often)
		fah_edge_list(callee, e);
	/* had it been there before that, it would have been met */
	if (callee->often && e->from)
		e->missed = (uint32_t)(caller->at_on - caller->before_on);
	if (caller) {
		instr = e->at - (caller_code + l->co_code);
		e->instr = instr < UINT32_MAX ? (uint32_t)instr + 1 : 0;
	}
	return e;
}

/* The same, as a record where it must be one; programs that make code without end get no more. */
static struct fah_edge *new_edge_written(uint64_t code, uint64_t frame)
{
	const struct fah_counted *callee;
	struct fah_thread_state *t;
	struct fah_edge *e = NULL;
	uint64_t begun;

	/* libraries have more functions than any program: they take no room, and none of its share
	 */
	callee = fah_counted_find(code, fah_code_version(code));
	if (callee ? !callee->inside : !is_inside(fah_event_reader(), code))
		return NULL;
	if (fah_counting.new_ns > NEW_FREE_NS + fah_counting.cpu_ns / NEW_SHARE)
		return NULL;
	t = fah_event_writer();
	if (!t)
		return NULL;
	begun = fah_now_thread_cpu(); /* not the time: on a busy machine that is anything */
	e = new_edge(t, code, frame);
	fah_counting.new_ns += fah_now_thread_cpu() - begun;
	fah_event_writer_end();
	return e;
}

struct fah_edge *fah_edge_of_call(uint64_t code)
{
	uint32_t version = fah_code_version(code);
	uint64_t frame = fah_frame_current();
	struct fah_edge *e = NULL;

	if (fah_frame_code(frame) != code)
		return NULL;
	for (int i = 0; i < UP_MAX; i++) {
		frame = fah_frame_outer(frame);
		e = fah_edge_find(code, version,
				  frame ? fah_frame_word(frame + fah_agent.layout.f_instr) : 0,
				  frame ? fah_code_version(fah_frame_code(frame)) : 0);
		if (!e)
			e = new_edge_written(code, frame);
		if (!e || e->inside)
			break;
	}
	return e;
}
