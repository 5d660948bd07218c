/* outside.c - see outside.h. All bytes are untrusted, and may change while they are read. */
#include "collect/outside.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "collect/codes.h"
#include "core/err.h"
#include "core/varint.h"
#include "cpython/cpython.h"
#include "cpython/layout.h"
#include "cpython/walk.h"
#include "target/memory.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STATES 4096		/* thread states looked at; threads beyond have no stack */
#define ASK_AGAIN_NS 100000000u /* threads without Python are asked for no more often */

struct known {
	uint32_t tid;
	uint64_t pthread_id;
};

struct fah_outside {
	struct fah_mem mem;
	struct fah_py_layout layout;
	uint32_t tid_offset;
	struct fah_codes codes; /* ids of our own */
	struct fah_map ids;	/* (code, ident) -> id */
	uint32_t next_id;
	struct fah_py_thread *list; /* MAX_STATES of both, when the first was looked for */
	struct known *known;
	size_t n_known;
	/* of the last walk */
	uint32_t n_fresh, frame_ids[FAH_PY_MAX_FRAMES];
	struct fah_key fresh[FAH_PY_MAX_FRAMES];
	struct fah_py_walk walk;
};

const struct fah_mem *fah_outside_mem(const struct fah_outside *o)
{
	return &o->mem;
}

struct fah_outside *fah_outside_new(const struct fah_segment_head *head)
{
	struct fah_outside *o;
	uint64_t probe;

	if (!head->runtime || !head->tid_offset || head->tid_offset > 4096)
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->mem = fah_target_mem(head->pid);
	o->tid_offset = head->tid_offset;
	o->next_id = 1;
	fah_codes_init(&o->codes, head->lines_kind, NULL);
	if (fah_load(&o->mem, head->runtime, &probe, sizeof(probe)) < 0 ||
	    fah_py_layout_init(&o->layout, &o->mem, head->python_version, head->runtime) < 0) {
		fah_outside_free(o);
		return NULL;
	}
	return o;
}

void fah_outside_free(struct fah_outside *o)
{
	if (!o)
		return;
	fah_codes_release(&o->codes);
	fah_map_release(&o->ids);
	free(o->list);
	free(o->known);
	free(o);
}

/* The kernel's ids of the states' threads: they stand in the C library's own record of a thread. */
static void read_tids(const struct fah_outside *o, struct known *k, size_t n)
{
	struct fah_piece pieces[FAH_PIECES_MAX];

	for (size_t i = 0; i < n; i++) { /* one that cannot be read has just ended */
		int m = 0;

		for (; m < FAH_PIECES_MAX && i + (size_t)m < n; m++)
			pieces[m] =
				(struct fah_piece){&k[i + (size_t)m].tid,
						   k[i + (size_t)m].pthread_id + o->tid_offset, 4};
		i += (size_t)o->mem.read(&o->mem, pieces, m);
	}
}

static void list_states(struct fah_outside *o)
{
	struct known *k;

	o->n_known = 0;
	if (!o->list)
		o->list = calloc(MAX_STATES, sizeof(*o->list));
	if (!o->known)
		o->known = calloc(MAX_STATES, sizeof(*o->known));
	if (!o->list || !o->known)
		return;
	o->n_known =
		fah_py_list_threads(&o->mem, &o->layout, o->layout.runtime, o->list, MAX_STATES);
	k = o->known;
	for (size_t i = 0; i < o->n_known; i++)
		k[i] = (struct known){0, o->list[i].pthread_id};
	read_tids(o, k, o->n_known);
}

/* From the last list; a thread that is gone may have left its place to another. */
static bool find_known(const struct fah_outside *o, uint32_t tid, struct fah_outside_thread *t)
{
	uint32_t now;

	for (size_t i = 0; i < o->n_known; i++)
		if (o->known[i].tid == tid && o->known[i].pthread_id &&
		    fah_load(&o->mem, o->known[i].pthread_id + o->tid_offset, &now, 4) == 0 &&
		    now == tid) {
			t->pthread_id = o->known[i].pthread_id;
			return true;
		}
	return false;
}

/* Which of the interpreter's threads is the kernel's tid: holds as long as the thread lives. */
static int find_pthread(struct fah_outside *o, uint32_t tid, struct fah_outside_thread *t,
			uint64_t now_ns)
{
	if (find_known(o, tid, t))
		return 0;
	if (t->asked_ns && now_ns - t->asked_ns < ASK_AGAIN_NS)
		return FAH_ERR_DOUBT;
	t->asked_ns = now_ns;
	list_states(o);
	return find_known(o, tid, t) ? 0 : FAH_ERR_DOUBT;
}

static int find_state(struct fah_outside *o, uint32_t tid, const struct fah_call *call,
		      struct fah_outside_thread *t, uint64_t now_ns)
{
	struct fah_py_who who = {.pc = call->pc, .sp = call->sp};

	if (!t->pthread_id && find_pthread(o, tid, t, now_ns) < 0)
		return FAH_ERR_DOUBT;
	/* a thread's own structure stands at the end of its stack; nothing is above the first's */
	who.pthread_id = t->pthread_id;
	who.stack_end = t->pthread_id > call->sp ? t->pthread_id : UINT64_MAX;
	return fah_py_running(&o->mem, &o->layout, o->layout.runtime, &who, &t->tstate) == 0 &&
			       t->tstate
		       ? 0
		       : FAH_ERR_DOUBT;
}

static bool describe_lines(struct fah_outside *o, uint32_t id, const struct fah_py_described *d)
{
	_cleanup_(fah_freep) uint8_t *buf = malloc(d->n_lines + 3 * FAH_VARINT_MAX);
	uint8_t *p = buf;

	if (!buf)
		return false;
	p = fah_put_varint(p, id);
	p = fah_put_varint(p, 0);
	p = fah_put_varint(p, d->n_lines);
	if (d->n_lines && fah_load(&o->mem, d->lines, p, d->n_lines) < 0)
		return false;
	fah_codes_record(&o->codes, FAH_SEG_CODE_LINES, buf, (size_t)(p - buf) + d->n_lines);
	return true;
}

/* As an agent would describe it, so that names and lines come the same way. */
static bool describe(struct fah_outside *o, uint32_t id, uint64_t code)
{
	uint8_t buf[FAH_PY_TEXT_ROOM + 80];
	char text[FAH_PY_TEXT_ROOM];
	struct fah_py_described d;

	if (fah_py_describe(&o->mem, &o->layout, code, text, &d) < 0)
		return false;
	fah_codes_record(&o->codes, FAH_SEG_CODE, buf,
			 (size_t)(fah_py_code_put(buf, id, &d, text) - buf));
	return describe_lines(o, id, &d);
}

/* 0: it cannot be described. */
static uint32_t code_id(struct fah_outside *o, const struct fah_py_frame *f)
{
	struct fah_key key = {f->code, f->ident};
	uint32_t *id = fah_map_put(&o->ids, key, NULL);

	if (!id)
		return 0;
	if (!*id) {
		if (!describe(o, o->next_id, f->code))
			return 0;
		*id = o->next_id++;
		o->fresh[o->n_fresh++] = key;
	}
	return *id;
}

int fah_outside_walk(struct fah_outside *o, uint32_t tid, const struct fah_call *call,
		     struct fah_outside_thread *t, uint64_t now_ns)
{
	int err = find_state(o, tid, call, t, now_ns);

	o->n_fresh = 0;
	o->walk.n_frames = 0;
	if (err == 0)
		err = fah_py_walk_thread(&o->walk, &o->mem, &o->layout, t->tstate);
	if (err < 0) {
		o->walk.n_frames = 0;
		return err;
	}
	for (uint32_t i = 0; i < o->walk.n_frames; i++) {
		o->frame_ids[i] = code_id(o, &o->walk.frames[i]);
		if (!o->frame_ids[i]) {
			fah_outside_reject(o);
			return FAH_ERR_DOUBT;
		}
	}
	return 0;
}

int fah_outside_is_gil(const struct fah_outside *o, const struct fah_outside_thread *t,
		       uint64_t futex)
{
	uint64_t start, end;

	if (fah_py_gil_span(&o->mem, &o->layout, t->tstate, &start, &end) < 0)
		return FAH_ERR_FAULT;
	return futex >= start && futex < end;
}

uint32_t fah_outside_accept(struct fah_outside *o, struct fah_writer *w)
{
	uint32_t node = 0, function, line;

	for (uint32_t i = o->walk.n_frames; i-- > 0;) {
		uint32_t instr = o->walk.frames[i].instr;

		if (!fah_codes_resolve(&o->codes, w, o->frame_ids[i],
				       instr == FAH_PY_NOT_STARTED ? 0 : instr + 1, &function,
				       &line))
			return 0;
		node = fah_writer_node(w, node, function, line);
	}
	return node;
}

void fah_outside_reject(struct fah_outside *o)
{
	while (o->n_fresh) {
		uint32_t *id = fah_map_get(&o->ids, o->fresh[--o->n_fresh]);

		if (id)
			*id = 0; /* described anew when it is met again */
	}
	o->walk.n_frames = 0;
}
