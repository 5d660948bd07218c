/*
 * exact.c - a call begins, a call ends: what the interpreter tells, on the hot path.
 *
 * The clock is read last where a call begins and first where it ends, and what telling costs
 * (exact_measure.c) is taken off as it goes: so the time of a caller, of all its callers and of the
 * thread is without it. Nothing here calls Python, and no exception is touched.
 *
 * What is told need not fit: recording began in the middle, a library switches stacks (greenlet),
 * another tool hides events. So an end is believed only of a call that runs; what was called by it
 * ends with it.
 */
#include "agent/exact.h"

#include "agent/count_frames.h"
#include "agent/pace.h"

#include <string.h>

#define SEARCH 4096 /* frames in which the call that ends is looked for */

/* Objects of C's functions, the same since 3.8. */
#define FUNCTION_DEF 16 /* PyCFunctionObject.m_ml */
#define FUNCTION_SELF 24
#define DESCRIPTOR_DEF 40 /* PyMethodDescrObject.d_method */
#define RESUMED 0x2a0	  /* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define FRAME_INNER 24	  /* PyFrameObject.f_frame of 3.11 */

/* What a profile function is told. */
enum { WHAT_CALL = 0, WHAT_RETURN = 3, WHAT_C_CALL = 4, WHAT_C_EXCEPTION = 5, WHAT_C_RETURN = 6 };

struct fah_exacting fah_exacting;

static fah_object *t_python, *t_descriptor, *t_method, *missing;

bool fah_exact_events_setup(void)
{
	t_python = fah_global("PyFunction_Type");
	t_descriptor = fah_global("PyMethodDescr_Type");
	t_method = fah_global("PyCMethod_Type"); /* not in 3.8 */
	if (fah_exacting.tool >= 0) {
		fah_object *monitoring = fah_py.sys_get("monitoring");

		missing = monitoring ? fah_py.get_attr(monitoring, "MISSING") : NULL;
		if (!missing)
			fah_py.err_clear();
	}
	return t_python && t_descriptor && (fah_exacting.tool < 0 || missing);
}

static inline struct fah_exact_call *find(const struct fah_exact_thread *t,
					  const struct fah_exact_called *caller, uint64_t key,
					  uint32_t version)
{
	struct fah_exact_call *c;

	for (uint64_t i = fah_exact_slot(caller, key, version) & t->mask; (c = t->slots[i]);
	     i = (i + 1) & t->mask)
		if (c->key == key && c->caller == caller && c->version == version)
			return c;
	return NULL;
}

/* New ones, more room: none of it is the program's time. */
static __attribute__((noinline)) struct fah_exact_call *slowly(struct fah_exact_thread *t,
							       struct fah_exact_called *caller,
							       uint64_t key, uint32_t version,
							       fah_object *of)
{
	int64_t begun = fah_event_ticks();
	struct fah_exact_call *c =
		t->top + 1 == t->end && !fah_exact_deeper(t) ? NULL : find(t, caller, key, version);

	if (!c && t->top + 1 < t->end)
		c = fah_exact_call_new(t, caller, key, version, of);
	t->taken += fah_event_ticks() - begun;
	return c;
}

/* What telling took, with cost, and what else is not the program's. */
static inline void take_off(struct fah_exact_thread *t, int64_t cost)
{
	t->taken += cost;
	if (__builtin_expect(atomic_load_explicit(&t->slowed, memory_order_relaxed) != 0, 0))
		t->taken += atomic_exchange_explicit(&t->slowed, 0, memory_order_relaxed);
}

static inline void push(struct fah_exact_thread *t, struct fah_exact_call *c, uint64_t key,
			int64_t cost)
{
	t->top++;
	t->top->call = c;
	t->top->key = key;
	t->top->below = 0;
	c->level++;
	c->callee->level++;
	take_off(t, cost);
	t->top->begun = fah_event_ticks() - t->taken;
}

void fah_exact_push(struct fah_exact_thread *t, struct fah_exact_call *c, uint64_t key)
{
	push(t, c, key, 0);
}

/* cost: of a function of C's the function itself knows it, and there is none here. */
static inline void enter(struct fah_exact_thread *t, uint64_t key, uint32_t version, fah_object *of,
			 const struct fah_exact_cost *cost)
{
	struct fah_exact_called *caller = t->top->call->callee;
	struct fah_exact_call *c = caller->last;

	if (!c || c->key != key || c->version != version)
		c = find(t, caller, key, version);
	if (__builtin_expect(!c || t->top + 1 == t->end, 0)) {
		c = slowly(t, caller, key, version, of);
		if (!c)
			return; /* its end will not be believed */
	}
	caller->last = c;
	push(t, c, key, (cost ? cost : c->callee->cost)->to_caller);
}

static inline void leave(struct fah_exact_thread *t, int64_t now)
{
	struct fah_exact_frame *f = t->top--;
	struct fah_exact_call *c = f->call;
	struct fah_exact_called *callee = c->callee;
	int64_t total = now - f->begun;

	t->top->below += total;
	c->calls++;
	c->self += total - f->below;
	if (--c->level == 0)
		c->total += total;
	else
		c->recursive++;
	callee->changed = true;
	if (--callee->level == 0)
		callee->total += total;
	else
		callee->recursive++;
}

/* None of it is the program's time. */
static __attribute__((noinline)) void do_what_is_due(struct fah_exact_thread *t)
{
	int64_t begun = fah_event_ticks(), now;

	fah_exact_pace();
	if (begun > t->write_due) {
		if (fah_exacting.tool < 0)
			fah_exact_other_threads();
		fah_exact_write(t);
		fah_exact_write_left();
		t->write_due = fah_event_ticks() + fah_exacting.second;
	}
	now = fah_event_ticks();
	t->taken += now - begun;
	t->due = now + fah_exacting.second / FAH_PACE_LOOKS_A_SECOND;
}

/* The newest call is another one. True: this one runs, and those above it have ended. */
static __attribute__((noinline)) bool unwind_to(struct fah_exact_thread *t, uint64_t key,
						int64_t now)
{
	const struct fah_exact_frame *f = t->top;

	for (int i = 0; i < SEARCH && f > t->frames && f->key != key; i++)
		f--;
	if (f == t->frames || f->key != key)
		return false;
	while (t->top > f)
		leave(t, now);
	return true;
}

static inline void end(struct fah_exact_thread *t, uint64_t key, int64_t cost)
{
	int64_t seen = fah_event_ticks(), now;

	take_off(t, cost);
	now = seen - t->taken;
	if (__builtin_expect(t->top->key != key || t->top == t->frames, 0) &&
	    !unwind_to(t, key, now))
		return;
	leave(t, now);
	if (__builtin_expect(seen > t->due, 0))
		do_what_is_due(t);
}

void fah_exact_end_open(struct fah_exact_thread *t)
{
	int64_t now;

	take_off(t, 0);
	now = fah_event_ticks() - t->taken;
	while (t->top > t->frames)
		leave(t, now);
}

/* This thread's; NULL: nothing is to be done. */
static inline struct fah_exact_thread *mine(void)
{
	if (__builtin_expect(atomic_load_explicit(&fah_exacting.attention, memory_order_relaxed),
			     0) &&
	    !fah_exact_attend())
		return NULL;
	return __builtin_expect(fah_exact_mine != NULL, 1) ? fah_exact_mine
							   : fah_exact_thread_new();
}

/* The PyMethodDef of a function of C's, by which all objects of it are one; 0: it is none. */
static inline uint64_t def_of(const fah_object *function, const fah_object *first)
{
	const fah_object *type = fah_py_type(function);

	if (type == fah_py.t_function || type == t_method)
		return (uint64_t)(uintptr_t)fah_py_word(function, FUNCTION_DEF);
	if (type == t_descriptor && first != missing)
		return (uint64_t)(uintptr_t)fah_py_word(function, DESCRIPTOR_DEF);
	return 0;
}

static inline const struct fah_exact_cost *cost_of_start(struct fah_exact_thread *t)
{
	bool told = t->told;

	t->told = false;
	if (!t->top->call->version && t->top != t->frames)
		return &fah_exacting.costs.from_c;
	return told ? &fah_exacting.costs.call : &fah_exacting.costs.quiet;
}

static inline void start(fah_object *const *args, bool resumed)
{
	struct fah_exact_thread *t = mine();
	uint64_t code = (uint64_t)(uintptr_t)args[0];

	if (t)
		enter(t, code, fah_code_version(code) | 1u << 31, NULL,
		      resumed ? &fah_exacting.costs.resume : cost_of_start(t));
}

fah_object *fah_exact_on_start(fah_object *self, fah_object *const *args, long n)
{
	(void)self;
	(void)n;
	start(args, false);
	return fah_py.none; /* which is immortal since 3.12 */
}

fah_object *fah_exact_on_resume(fah_object *self, fah_object *const *args, long n)
{
	(void)self;
	(void)n;
	start(args, true);
	return fah_py.none;
}

fah_object *fah_exact_on_return(fah_object *self, fah_object *const *args, long n)
{
	struct fah_exact_thread *t = mine();

	(void)self;
	(void)n;
	if (t)
		end(t, (uint64_t)(uintptr_t)args[0], fah_exacting.costs.call.to_callee);
	return fah_py.none;
}

/* Of what is told and is no call of either kind. */
static inline int64_t cost_of_other(const fah_object *called)
{
	return called == fah_py.t_str	 ? fah_exacting.costs.str
	       : called == fah_py.t_type ? fah_exacting.costs.type
					 : fah_exacting.costs.unknown;
}

/* The program asks for the number that we have. */
static __attribute__((noinline)) void see_use_tool(const fah_object *first)
{
	if (first && first != missing && fah_py_type(first) == fah_py.t_int) {
		long wanted = fah_py.long_as((fah_object *)(uintptr_t)first);

		fah_py.err_clear();
		if (wanted == fah_exacting.tool)
			fah_exact_move(wanted);
	}
	fah_exact_sites_stop();
}

fah_object *fah_exact_on_call(fah_object *self, fah_object *const *args, long n)
{
	struct fah_exact_thread *t;
	uint64_t def;

	(void)self;
	/* args: code, offset, what is called, its first argument */
	t = mine();
	if (!t || (n & INT16_MAX) < 4)
		return fah_py.none;
	if (fah_py_type(args[2]) == t_python) {
		t->told = true;
		return fah_exact_site(t, args);
	}
	t->told = false;
	def = def_of(args[2], args[3]);
	if (!def) {
		t->taken += cost_of_other(args[2]);
		return fah_py.none;
	}
	enter(t, def, 0, args[2], NULL);
	if (__builtin_expect(t->top->call->callee->takes_tool, 0) && t->top->key == def)
		see_use_tool(args[3]);
	return fah_py.none;
}

fah_object *fah_exact_on_c_return(fah_object *self, fah_object *const *args, long n)
{
	struct fah_exact_thread *t = mine();
	uint64_t def = (n & INT16_MAX) < 4 ? 0 : def_of(args[2], args[3]);

	(void)self;
	if (!t)
		return fah_py.none;
	if (def)
		end(t, def, t->top->call->callee->cost->to_callee);
	else if ((n & INT16_MAX) >= 4)
		t->taken += cost_of_other(args[2]);
	return fah_py.none;
}

/* Before 3.12; without the C API, which has no function for it in 3.8. */
static inline uint64_t code_of(const void *frame)
{
	const struct fah_py_layout *l = &fah_agent.layout;
	uint64_t at = (uint64_t)(uintptr_t)frame;

	return l->frames_kind == FAH_PY_FRAMES_OBJECT
		       ? fah_frame_word(at + l->f_code)
		       : fah_frame_code(fah_frame_word(at + FRAME_INNER));
}

/* Generators and coroutines: they begin when they are resumed for the first time. */
static inline bool is_resumed(uint64_t code)
{
	return *(const uint32_t *)(uintptr_t)(code + fah_agent.layout.co_flags) & RESUMED;
}

/* The program sets a profile function of its own; enable() of other types is something else. */
static __attribute__((noinline)) void see_replaced(const fah_object *function)
{
	const char *name = *(const char *const *)fah_py_word(function, FUNCTION_DEF);
	const fah_object *self = fah_py_word(function, FUNCTION_SELF);

	if (!strcmp(name, "setprofile") ||
	    (self && strstr(fah_py_word(fah_py_type(self), FAH_TYPE_NAME), "Profile")))
		fah_exact_note("the program set a profile function of its own (sys.setprofile, "
			       "cProfile): calls after that were not told");
}

int fah_exact_on_profile(fah_object *self, const void *frame, int what, fah_object *arg)
{
	struct fah_exact_thread *t = mine();
	uint64_t code;
	bool starts;

	(void)self;
	if (!t)
		return 0;
	switch (what) {
	case WHAT_CALL:
		code = code_of(frame);
		enter(t, code, 1u << 31, NULL,
		      is_resumed(code) ? &fah_exacting.costs.resume : cost_of_start(t));
		break;
	case WHAT_RETURN:
		end(t, code_of(frame), fah_exacting.costs.call.to_callee);
		break;
	case WHAT_C_CALL:
		if (arg && def_of(arg, NULL))
			enter(t, def_of(arg, NULL), 0, arg, NULL);
		if (t->top->call->callee->replaces_us)
			see_replaced(arg);
		break;
	case WHAT_C_RETURN:
	case WHAT_C_EXCEPTION:
		if (!arg || !def_of(arg, NULL))
			break;
		starts = t->top->call->callee->starts_threads;
		end(t, def_of(arg, NULL), t->top->call->callee->cost->to_callee);
		if (starts)
			fah_exact_other_threads();
		break;
	}
	return 0;
}
