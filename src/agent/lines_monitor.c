/*
 * lines_monitor.c - lines by sys.monitoring (CPython 3.12 and later): events of chosen code only,
 * and of frames that an exception ends or enters, which the interpreter tells of all code or none.
 *
 * Functions that are chosen by name or file are met when they start: that is told once of each code
 * object, and of those that are not chosen never again. None is immortal here, and needs no count.
 * An event has the arguments that it has: their number is not looked at.
 */
#include "agent/lines.h"

#include "agent/count_frames.h"
#include "agent/event_writer.h"
#include "agent/monitoring.h"

#include <string.h>

static long tool = -1;
static long local_events, global_events;
static bool global_on;
static fah_object *disable, *t_python, *t_method;
static fah_object *marker; /* line_profiler's own profile(), once it was called */

#define TURNS 1024u /* jumps that are known; of those that share a place the last one is */
static struct turn {
	uint64_t key;
	int32_t line;
} turns[TURNS];

static uint64_t address(const fah_object *o)
{
	return (uint64_t)(uintptr_t)o;
}

/* The top entry, where it is that of the frame that runs; the frame's address in *ret. */
static inline struct fah_lines_frame *top_of(struct fah_lines_thread *t, uint64_t code,
					     uint64_t *ret)
{
	struct fah_lines_frame *f = t->depth ? &t->frames[t->depth - 1] : NULL;

	*ret = fah_frame_current();
	return f && f->frame == *ret && f->of->code == code ? f : NULL;
}

/* The same where it is not: chosen while it ran, or stacks were changed. */
static __attribute__((noinline)) struct fah_lines_frame *
settle(struct fah_lines_thread *t, uint64_t code, uint64_t frame, int64_t now)
{
	struct fah_lines_frame *f = t->lost ? NULL : fah_lines_find(t, frame, code, now);
	struct fah_lined *of = f || t->lost ? NULL : fah_lined_find(code);

	if (of) {
		fah_lines_enter(t, of, frame, now);
		f = t->lost ? NULL : &t->frames[t->depth - 1];
	}
	return f;
}

static fah_object *on_line(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks(), now;
	struct fah_lines_thread *t = fah_lines_mine();
	struct fah_lines_frame *f;
	uint64_t frame;

	(void)self;
	(void)n;
	if (!t)
		return fah_py.none;
	now = ticks - t->spent;
	f = top_of(t, address(args[0]), &frame);
	if (!f)
		f = settle(t, address(args[0]), frame, now);
	if (f)
		fah_lines_hit(f, (int32_t)fah_py_small_int(args[1]), now);
	t->spent += fah_lining.cost.line;
	fah_lines_look(t, ticks);
	return fah_py.none;
}

/* The line of an instruction, by the code's own table. */
static int32_t line_at(uint64_t code, int32_t offset)
{
	const struct fah_mem *mem = &fah_event_reader()->mem;
	const struct fah_py_layout *l = &fah_agent.layout;
	struct fah_py_position at = {0};
	struct fah_py_code c;
	uint64_t data;
	size_t len;

	if (offset < 0 || fah_py_code_read(mem, l, code, &c) < 0 ||
	    fah_py_bytes_span(mem, l, c.linetable, FAH_PY_MAX_TABLE, &data, &len) < 0 ||
	    fah_py_position((enum fah_py_lines)l->lines_kind, (const uint8_t *)(uintptr_t)data, len,
			    c.firstlineno, (uint32_t)offset, &at) < 0)
		return 0;
	return at.line;
}

/*
 * The line to which a jump goes back that stays on it, 0: it is another jump. `for x in y: z` on
 * one line, `while`, comprehensions: the interpreter tells of such a line once, trace functions
 * hear of each turn.
 */
static int32_t turn_of(uint64_t code, uint32_t from, uint32_t to)
{
	uint64_t key = code << 16 ^ from;
	struct turn *known = &turns[(key ^ key >> 20) * 0x9e3779b97f4a7c15ull >> 48 & (TURNS - 1)];
	int32_t line;

	if (known->key == key)
		return known->line;
	line = to > from ? 0 : line_at(code, (int32_t)to);
	if (line <= 0 || line != line_at(code, (int32_t)from))
		return 0; /* and is not told of again */
	*known = (struct turn){key, line};
	return line;
}

static fah_object *on_jump(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks();
	struct fah_lines_thread *t = fah_lines_mine();
	int32_t line =
		turn_of(address(args[0]), fah_py_small_int(args[1]), fah_py_small_int(args[2]));
	struct fah_lines_frame *f;
	uint64_t frame;

	(void)self;
	(void)n;
	if (!line) {
		fah_py.incref(disable);
		return disable;
	}
	f = t ? top_of(t, address(args[0]), &frame) : NULL;
	if (f)
		fah_lines_hit(f, line, ticks - t->spent);
	if (t)
		t->spent += fah_lining.cost.line;
	return fah_py.none;
}

static void begin(struct fah_lines_thread *t, uint64_t code, int64_t now, int32_t offset)
{
	struct fah_lined *of = fah_lined_find(code);
	uint64_t frame;
	int32_t line;

	if (!of)
		return;
	if (top_of(t, code, &frame)) /* its end was not told */
		fah_lines_leave(t, now);
	fah_lines_enter(t, of, frame, now);
	line = offset < 0 || t->lost ? 0 : line_at(code, offset);
	if (line > 0)
		fah_lines_go_on(&t->frames[t->depth - 1], line, now);
}

/* from line_profiler import profile: what that is called with is marked, as under kernprof. */
static void mark_argument(void)
{
	uint64_t at = fah_frame_current() + fah_agent.layout.f_localsplus + 8,
		 o = fah_frame_word(at);

	o &= ~(uint64_t)7; /* marks of 3.14 */
	if (o)
		fah_lines_mark((fah_object *)(uintptr_t)o);
}

/* All code is told, once: is it chosen by name or place? The answer for the interpreter: NULL where
 * it is. */
static __attribute__((noinline)) fah_object *meet(fah_object *code)
{
	bool marks = code == marker;

	if (!marks && fah_lines_is_wanted(code, &marks) && fah_lines_choose(code, false))
		return NULL;
	if (!marks) {
		fah_py.incref(disable);
		return disable;
	}
	if (code != marker)
		fah_py.incref(code);
	marker = code;
	mark_argument();
	return fah_py.none;
}

static fah_object *on_start(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks();
	struct fah_lines_thread *t;
	fah_object *answer;

	(void)self;
	(void)n;
	answer = fah_lined_find(address(args[0])) ? NULL : meet(args[0]);
	if (answer)
		return answer;
	t = fah_lines_mine();
	if (t) {
		begin(t, address(args[0]), ticks - t->spent, -1);
		t->spent += fah_lining.cost.start;
	}
	return fah_py.none;
}

/* A generator or coroutine goes on; also with an exception that is thrown into it. */
static fah_object *on_resume(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks();
	struct fah_lines_thread *t = fah_lines_mine();

	(void)self;
	(void)n;
	if (t) {
		begin(t, address(args[0]), ticks - t->spent, (int32_t)fah_py_small_int(args[1]));
		t->spent += fah_lining.cost.start;
	}
	return fah_py.none;
}

static fah_object *on_end(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks(), now;
	struct fah_lines_thread *t = fah_lines_mine();
	uint64_t frame;

	(void)self;
	(void)n;
	if (!t)
		return fah_py.none;
	now = ticks - t->spent;
	if (top_of(t, address(args[0]), &frame) || t->lost ||
	    fah_lines_find(t, frame, address(args[0]), now))
		fah_lines_leave(t, now);
	t->spent += fah_lining.cost.end;
	return fah_py.none;
}

/* An exception ends a frame, of any code. */
static fah_object *on_unwind(fah_object *self, fah_object *const *args, long n)
{
	if (!fah_lined_find(address(args[0])))
		return fah_py.none;
	return on_end(self, args, n);
}

static fah_object *on_call(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks();
	struct fah_lines_thread *t = fah_lines_mine();
	struct fah_lines_frame *f;
	uint64_t frame;
	bool python;

	(void)self;
	(void)n;
	if (!t)
		return fah_py.none;
	python = fah_py_type(args[2]) == t_python || fah_py_type(args[2]) == t_method;
	f = top_of(t, address(args[0]), &frame);
	if (f && f->line)
		fah_lines_call_begin(f, python ? FAH_LINES_CALL_PYTHON : FAH_LINES_CALL_C,
				     ticks - t->spent);
	t->spent += python ? fah_lining.cost.python_call : fah_lining.cost.call;
	return fah_py.none;
}

static fah_object *on_c_return(fah_object *self, fah_object *const *args, long n)
{
	int64_t ticks = fah_event_ticks();
	struct fah_lines_thread *t = fah_lines_mine();
	struct fah_lines_frame *f;
	uint64_t frame;

	(void)self;
	(void)n;
	if (!t)
		return fah_py.none;
	f = top_of(t, address(args[0]), &frame);
	if (f)
		fah_lines_call_end(f, ticks - t->spent);
	t->spent += fah_lining.cost.c_return;
	return fah_py.none;
}

static const struct {
	const char *name;
	fah_object *(*callback)(fah_object *, fah_object *const *, long);
	bool local, call;
} events[] = {
	{"LINE", on_line, true, false},	       {"JUMP", on_jump, true, false},
	{"PY_START", on_start, true, false},   {"PY_RESUME", on_resume, true, false},
	{"PY_RETURN", on_end, true, false},    {"PY_YIELD", on_end, true, false},
	{"PY_THROW", on_resume, false, false}, {"PY_UNWIND", on_unwind, false, false},
	{"CALL", on_call, true, true},	       {"C_RETURN", on_c_return, false, true},
	{"C_RAISE", on_c_return, false, true},
};

static bool set_local(fah_object *code, long which)
{
	fah_object *monitoring = fah_monitoring(), *done = NULL;
	fah_object *function = monitoring ? fah_py.get_attr(monitoring, "set_local_events") : NULL;
	fah_object *id = fah_py.long_from(tool), *mask = fah_py.long_from(which);

	if (function && id && mask)
		done = fah_py.call_args(function, id, code, mask, NULL);
	if (!done)
		fah_py.err_clear();
	fah_py_drop(function);
	fah_py_drop(id);
	fah_py_drop(mask);
	fah_py_drop(done);
	return done != NULL;
}

bool fah_lines_monitor_listen(fah_object *code, bool wanted)
{
	if (!global_on)
		global_on = fah_monitoring_call("set_events", tool, global_events, NULL);
	return set_local(code, wanted ? local_events : 0);
}

/* An int's value stands where we read it. */
static bool ints_are_known(void)
{
	fah_object *number = fah_py.long_from(123456789);
	bool known = number && fah_py_small_int(number) == 123456789;

	fah_py_drop(number);
	return known;
}

static bool listen(void)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		long event = fah_monitoring_event(events[i].name);

		if (events[i].call && !fah_lining.called)
			continue;
		if (!event || !fah_monitoring_listen_directly(tool, event, events[i].callback))
			return false;
		local_events |= events[i].local ? event : 0;
		global_events |= events[i].local || events[i].call ? 0 : event;
	}
	return true;
}

bool fah_lines_monitor_start(const char **ret_why)
{
	fah_object *monitoring = fah_monitoring();

	*ret_why = "this build of Python is not known";
	if (!monitoring)
		return false;
	t_python = fah_global("PyFunction_Type");
	t_method = fah_global("PyMethod_Type");
	disable = fah_py.get_attr(monitoring, "DISABLE");
	if (!disable || !t_python || !t_method || !ints_are_known())
		return false;
	*ret_why = "no tool id of sys.monitoring is free";
	tool = fah_monitoring_take_tool();
	if (tool < 0)
		return false;
	*ret_why = "sys.monitoring does not tell lines as it should";
	if (!listen() || !fah_lines_measure()) {
		fah_monitoring_leave(tool);
		return false;
	}
	global_events |= FAH_PY_START;
	global_on = fah_monitoring_call("set_events", tool, global_events, NULL);
	return true;
}
