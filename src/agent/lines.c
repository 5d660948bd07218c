/*
 * lines.c - which line runs, in which frame, and since when. With the GIL, in callbacks.
 *
 * Each thread has a stack of the frames of chosen code that run in it. A line's time is from its
 * event to the next one of the same frame, with all that it called; but where a function runs again
 * below itself, time is counted once, for the lines of its newest frame. So the lines of a function
 * add up to the time in which it ran.
 *
 * What is told need not fit: functions are chosen while they run, and greenlets change stacks. So
 * frames are known by their address, and what lies above the one that is told of has ended.
 */
#include "agent/lines.h"

#include "agent/count_frames.h"

#include <string.h>

#define THREADS_MAX 4096u
#define AGENT_TLS _Thread_local __attribute__((tls_model("initial-exec")))

struct fah_lining fah_lining;

static AGENT_TLS struct fah_lines_thread *mine;
static struct fah_lines_thread *_Atomic threads[THREADS_MAX];
static _Atomic uint32_t n_threads;

struct fah_lines_thread *fah_lines_thread_at(uint32_t i)
{
	return i < atomic_load(&n_threads) ? atomic_load(&threads[i]) : NULL;
}

static struct fah_lines_thread *new_thread(void)
{
	uint32_t n = atomic_load(&n_threads);
	struct fah_lines_thread *t;

	for (uint32_t i = 0; i < n; i++) {
		bool expected = false;

		t = atomic_load(&threads[i]);
		if (atomic_compare_exchange_strong(&t->used, &expected, true))
			return t;
	}
	if (n == THREADS_MAX)
		return NULL;
	t = fah_pages(sizeof(*t));
	if (!t)
		return NULL;
	atomic_store(&t->used, true);
	atomic_store(&threads[n], t);
	atomic_store(&n_threads, n + 1);
	return t;
}

struct fah_lines_thread *fah_lines_mine(void)
{
	if (!mine)
		mine = new_thread();
	return mine;
}

struct fah_lines_thread *fah_lines_mine_or_none(void)
{
	return mine;
}

void fah_lines_thread_end(void)
{
	struct fah_lines_thread *t = mine;

	if (!t)
		return;
	mine = NULL;
	/* without the GIL, but nobody else looks at its stack */
	while (t->depth) {
		struct fah_lines_frame *f = &t->frames[--t->depth];

		t->active[fah_lined_index(f->of)] = 0;
	}
	t->lost = 0;
	atomic_store(&t->used, false);
}

/* Only the thread that forked is there, and goes on in the middle of its lines. */
void fah_lines_threads_forked(void)
{
	int64_t now = mine ? fah_event_ticks() - mine->spent : 0;
	struct fah_lines_thread *t;

	for (uint32_t i = 0; (t = fah_lines_thread_at(i)); i++) {
		if (t == mine)
			continue;
		t->depth = t->lost = 0;
		memset(t->active, 0, sizeof(t->active));
		atomic_store(&t->used, false);
	}
	for (uint32_t i = 0; mine && i < mine->depth; i++)
		mine->frames[i].since = mine->frames[i].call_since = now;
}

static struct fah_line *line_of(const struct fah_lines_frame *f)
{
	return f->line ? &f->of->lines[f->line - 1] : NULL;
}

static void charge(struct fah_lines_frame *f, int64_t now)
{
	struct fah_line *l = line_of(f);

	if (!l)
		return;
	l->ticks += now - f->since;
	if (f->call)
		l->called += now - f->call_since;
	f->since = f->call_since = now;
}

void fah_lines_call_begin(struct fah_lines_frame *f, enum fah_lines_call call, int64_t now)
{
	fah_lines_call_end(f, now);
	f->call = (uint8_t)call;
	f->call_since = now;
}

void fah_lines_call_end(struct fah_lines_frame *f, int64_t now)
{
	struct fah_line *l = f->call ? line_of(f) : NULL;

	if (l)
		l->called += now - f->call_since;
	f->call = FAH_LINES_NO_CALL;
}

void fah_lines_close(struct fah_lines_frame *f, int64_t now)
{
	charge(f, now);
	f->call = FAH_LINES_NO_CALL;
	f->line = 0;
}

void fah_lines_go_on(struct fah_lines_frame *f, int32_t line, int64_t now)
{
	uint32_t at = (uint32_t)line - (uint32_t)f->of->base;

	f->line = at < atomic_load_explicit(&f->of->n_lines, memory_order_relaxed)
			  ? at + 1
			  : fah_lined_room(f->of, line);
	f->since = now;
}

void fah_lines_hit(struct fah_lines_frame *f, int32_t line, int64_t now)
{
	struct fah_lined *of = f->of;
	struct fah_line *l = line_of(f);
	uint32_t at = (uint32_t)line - (uint32_t)of->base;

	if (l) {
		l->ticks += now - f->since;
		if (f->call)
			l->called += now - f->call_since;
	}
	f->call = FAH_LINES_NO_CALL;
	f->line = at < atomic_load_explicit(&of->n_lines, memory_order_relaxed)
			  ? at + 1
			  : fah_lined_room(of, line);
	f->since = now;
	if (f->line)
		of->lines[f->line - 1].hits++;
	atomic_store_explicit(&of->changed, true, memory_order_relaxed);
}

void fah_lines_enter(struct fah_lines_thread *t, struct fah_lined *of, uint64_t frame, int64_t now)
{
	uint32_t index = fah_lined_index(of);
	struct fah_lines_frame *f, *below;

	if (t->depth == FAH_LINES_DEPTH) {
		t->lost++;
		atomic_fetch_add_explicit(&fah_lining.lost_frames, 1, memory_order_relaxed);
		return;
	}
	f = &t->frames[t->depth];
	below = t->depth ? f - 1 : NULL;
	*f = (struct fah_lines_frame){.of = of, .frame = frame, .outer = t->active[index]};
	if (below && !below->call)
		fah_lines_call_begin(below, FAH_LINES_CALL_CHOSEN, now);
	f->ends_call =
		below &&
		(below->call == FAH_LINES_CALL_CHOSEN ||
		 (below->call == FAH_LINES_CALL_PYTHON && fah_frame_outer(frame) == below->frame));
	/* from here on time is this one's; fah_lines_leave sets the other one's clock again */
	if (f->outer)
		charge(&t->frames[f->outer - 1], now);
	t->active[index] = ++t->depth;
}

void fah_lines_leave(struct fah_lines_thread *t, int64_t now)
{
	struct fah_lines_frame *f, *outer;

	if (t->lost) {
		t->lost--;
		return;
	}
	if (!t->depth)
		return;
	f = &t->frames[--t->depth];
	charge(f, now);
	atomic_store_explicit(&f->of->changed, true, memory_order_relaxed);
	t->active[fah_lined_index(f->of)] = f->outer;
	if (f->outer) {
		outer = &t->frames[f->outer - 1];
		outer->since = outer->call_since = now;
	}
	if (f->ends_call && t->depth)
		fah_lines_call_end(f - 1, now);
}

struct fah_lines_frame *fah_lines_find(struct fah_lines_thread *t, uint64_t frame, uint64_t code,
				       int64_t now)
{
	uint32_t i = t->depth;

	while (i && (t->frames[i - 1].frame != frame || t->frames[i - 1].of->code != code))
		i--;
	if (!i)
		return NULL;
	t->lost = 0;
	while (t->depth > i)
		fah_lines_leave(t, now);
	return &t->frames[i - 1];
}
