/*
 * lines_trace.c - lines by the interpreter's trace function (CPython before 3.12), which is told of
 * all code: what is not chosen is left at once. A C function without an object, so sys.gettrace()
 * says None as it does without us.
 *
 * A trace function is one thread's. pthread_create raises a flag, and whoever is told of something
 * next, with the GIL, sets it in all threads that have none. A program that sets its own one keeps
 * it, and what is lost is told; when that is gone, ours comes back with the next audit event.
 */
#include "agent/lines.h"

#include <string.h>

enum { WHAT_CALL = 0, WHAT_LINE = 2, WHAT_RETURN = 3 };

/* PyFrameObject of 3.11 */
#define FRAME_FRAME 24
#define FRAME_LINE_311 40
#define SEEN 16384u /* a power of two */
#define STATE_MAX 512

typedef int (*trace_fn)(fah_object *, void *frame, int what, fah_object *arg);

static void (*set_trace)(trace_fn, fah_object *);
static int (*line_number)(void *frame);
static void *(*this_thread)(void); /* NULL: it has none now; an audit event may come so */
static size_t trace_at;		   /* of the function in a thread's state; 0: not known */
static size_t line_at;		   /* of the line in a frame object */
static bool has_iframe;		   /* 3.11 */
static bool on, setting;	   /* setting: it is us who set it */
static _Atomic bool look;	   /* there may be threads that have none */

/* By name or place: what was found of code objects so far. One at a freed one's place differs in
 * what it holds. */
static struct seen {
	uint64_t code, ident;
	bool wanted;
} * seen;

static int on_trace(fah_object *self, void *frame, int what, fah_object *arg);

static uint64_t word(const void *p, size_t at)
{
	return *(const uint64_t *)(const void *)((const char *)p + at);
}

static const void *inner(const void *frame)
{
	return has_iframe ? (const void *)(uintptr_t)word(frame, FRAME_FRAME) : frame;
}

static bool is_wanted(uint64_t code)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	const void *c = (const void *)(uintptr_t)code;
	uint64_t ident = word(c, l->co_filename) * 3 ^ word(c, l->co_name) * 5 ^
			 word(c, l->co_linetable) * 7 ^ word(c, l->co_firstlineno);
	struct seen *s = &seen[(code >> 4) * 0x9e3779b97f4a7c15ull >> 40 & (SEEN - 1)];

	bool marks;

	if (s->code != code || s->ident != ident)
		*s = (struct seen){code, ident,
				   fah_lines_is_wanted((fah_object *)(uintptr_t)code, &marks)};
	return s->wanted;
}

static struct fah_lined *chosen(uint64_t code)
{
	struct fah_lined *of = fah_lined_find(code);

	if (!of && seen && is_wanted(code) &&
	    fah_lines_choose((fah_object *)(uintptr_t)code, false))
		of = fah_lined_find(code);
	return of;
}

/* A mark before it says that there is one: in the state itself, or where that leads to. */
static uint8_t *mark_of(uint8_t *state)
{
	uint8_t *before = state + trace_at - 16; /* the profile function's stands between */

	return fah_agent.python_version < 0x030a0000 ? before : *(uint8_t **)(void *)before;
}

static uint8_t mark_set(void)
{
	return fah_agent.python_version < 0x030b0000 ? 1 : 255;
}

static void other_threads(void)
{
	static uint8_t *(*first)(void *), *(*next)(void *);

	if (!first) {
		first = (uint8_t *
			 (*)(void *))(uintptr_t)fah_global("PyInterpreterState_ThreadHead");
		next = (uint8_t * (*)(void *))(uintptr_t)fah_global("PyThreadState_Next");
	}
	if (!trace_at || !first || !next)
		return;
	for (uint8_t *state = first(fah_py.main_interpreter()); state; state = next(state)) {
		uint64_t *function = (uint64_t *)(void *)(state + trace_at);

		if (*function)
			continue;
		*function = (uint64_t)(uintptr_t)on_trace;
		*mark_of(state) = mark_set();
	}
}

/* A frame begins, or goes on. */
static void begin(struct fah_lines_thread *t, struct fah_lined *of, void *frame, uint64_t id,
		  int64_t now)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	int32_t line = 0, first = *(const int32_t *)(uintptr_t)(of->code + l->co_firstlineno);

	if (t->depth && t->frames[t->depth - 1].frame == id) /* its end was not told */
		fah_lines_leave(t, now);
	fah_lines_enter(t, of, id, now);
	if (has_iframe || *(const int32_t *)(const void *)((const char *)frame + l->f_instr) >= 0)
		line = line_number(frame);
	if (line > 0 && line != first && !t->lost) /* a generator that begins stands there too */
		fah_lines_go_on(&t->frames[t->depth - 1], line, now);
}

/* Of code that is not chosen: it may be called by a line that is. */
static void other(struct fah_lines_thread *t, uint64_t id, int what, int64_t now)
{
	struct fah_lines_frame *top = t->depth ? &t->frames[t->depth - 1] : NULL;

	if (!top || !fah_lining.called)
		return;
	if (what == WHAT_CALL && top->line && !top->call &&
	    word((const void *)(uintptr_t)id, fah_agent.layout.f_previous) == top->frame) {
		fah_lines_call_begin(top, FAH_LINES_CALL_PYTHON, now);
		top->callee = id;
	} else if (what == WHAT_RETURN && top->call == FAH_LINES_CALL_PYTHON && top->callee == id) {
		fah_lines_call_end(top, now);
	}
}

static int on_trace(fah_object *self, void *frame, int what, fah_object *arg)
{
	int64_t ticks = fah_event_ticks(), now;
	struct fah_lines_thread *t = fah_lines_mine();
	const struct fah_py_layout *l = &fah_agent.layout;
	struct fah_lines_frame *f;
	struct fah_lined *of;
	uint64_t id, code;

	(void)self;
	(void)arg;
	if (!t || (what != WHAT_CALL && what != WHAT_LINE && what != WHAT_RETURN))
		return 0;
	if (atomic_load_explicit(&look, memory_order_relaxed) && atomic_exchange(&look, false))
		other_threads();
	now = ticks - t->spent;
	id = (uint64_t)(uintptr_t)inner(frame);
	f = t->depth ? &t->frames[t->depth - 1] : NULL;
	if (f && f->frame == id && what != WHAT_CALL && !t->lost) {
		if (what == WHAT_LINE)
			fah_lines_hit(
				f, *(const int32_t *)(const void *)((const char *)frame + line_at),
				now);
		else
			fah_lines_leave(t, now);
		t->spent += what == WHAT_LINE ? fah_lining.cost.line : fah_lining.cost.end;
		fah_lines_look(t, ticks);
		return 0;
	}
	code = word((const void *)(uintptr_t)id, l->f_code);
	of = what == WHAT_CALL ? chosen(code) : fah_lined_find(code);
	if (!of) {
		other(t, id, what, now);
		t->spent += what == WHAT_LINE ? fah_lining.cost.other : fah_lining.cost.python_call;
		return 0;
	}
	if (what == WHAT_CALL) {
		begin(t, of, frame, id, now);
		t->spent += fah_lining.cost.start;
		return 0;
	}
	/* chosen while it ran, or stacks were changed */
	f = t->lost ? NULL : fah_lines_find(t, id, code, now);
	if (what == WHAT_RETURN && (f || t->lost))
		fah_lines_leave(t, now);
	if (what == WHAT_LINE && !f && !t->lost) {
		fah_lines_enter(t, of, id, now);
		f = &t->frames[t->depth - 1];
	}
	if (what == WHAT_LINE && f && !t->lost)
		fah_lines_hit(f, *(const int32_t *)(const void *)((const char *)frame + line_at),
			      now);
	t->spent += fah_lining.cost.line;
	return 0;
}

/* The thread's state has the function that was just set. */
static void find_trace(void)
{
	uint8_t *state = fah_py.thread ? fah_py.thread() : NULL;

	for (size_t at = 24; state && at < STATE_MAX && !trace_at; at += 8)
		if (word(state, at) == (uint64_t)(uintptr_t)on_trace)
			trace_at = at;
	if (trace_at && *mark_of(state) != mark_set())
		trace_at = 0; /* not as we know it: then other threads are not told of */
}

void fah_lines_trace_set(bool wanted)
{
	if (wanted == on)
		return;
	on = wanted;
	setting = true;
	set_trace(wanted ? on_trace : NULL, NULL);
	setting = false;
	if (wanted && !trace_at)
		find_trace();
	atomic_store(&look, wanted);
}

void fah_lines_new_thread(void)
{
	atomic_store_explicit(&look, true, memory_order_relaxed);
}

/* In this thread the program has taken its own one away again. */
static bool is_free(void)
{
	const uint8_t *state = trace_at && this_thread ? this_thread() : NULL;

	return state && !word(state, trace_at) && fah_py.interpreter() == fah_py.main_interpreter();
}

void fah_lines_event(const char *event)
{
	if (!on || setting)
		return;
	if (strcmp(event, "sys.settrace") != 0) {
		/* any other is as good a moment as the next, but for those of the interpreter's end
		 */
		if (atomic_load(&fah_lining.replaced) && strncmp(event, "cpython.", 8) != 0 &&
		    is_free()) {
			on = false;
			fah_lines_trace_set(true);
		}
		return;
	}
	if (!atomic_exchange(&fah_lining.replaced, true))
		fah_lines_note("the program set a trace function of its own (sys.settrace, a "
			       "debugger or coverage): what ran under it was not told");
}

bool fah_lines_trace_start(const char **ret_why)
{
	set_trace = (void (*)(trace_fn, fah_object *))(uintptr_t)fah_global("PyEval_SetTrace");
	line_number = (int (*)(void *))(uintptr_t)fah_global("PyFrame_GetLineNumber");
	this_thread = (void *(*)(void))(uintptr_t)fah_global("_PyThreadState_UncheckedGet");
	has_iframe = fah_agent.layout.frames_kind != FAH_PY_FRAMES_OBJECT;
	line_at = has_iframe ? FRAME_LINE_311 : fah_agent.layout.f_instr + 4;
	*ret_why = "this build of Python is not known";
	if (!set_trace || !line_number || !fah_lines_measure())
		return false;
	if (fah_lines_scope_any()) {
		*ret_why = "no memory for the agent's tables";
		seen = fah_pages(SEEN * sizeof(*seen));
		if (!seen)
			return false;
		fah_lines_trace_set(true);
	}
	return true;
}
