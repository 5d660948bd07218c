/*
 * inside.c - see inside.h.
 *
 * Nobody is to notice: no signal comes to this thread meanwhile, no trace or profile function sees
 * it, the text imports nothing, and of its namespace nothing is left.
 */
#include "agent/inside.h"

#include "agent/agent.h"
#include "agent/hooks.h"
#include "agent/python_quiet.h"
#include "core/sys.h"
#include "generated/logs_logging_py.h"
#include "generated/logs_py.h"
#include "generated/logs_warnings_py.h"
#include "generated/plots_py.h"

#include <string.h>

#define TEXT_NAME "<fixingahole>"
#define IMPORTS_NAME "<frozen " /* how the files of the import's own code begin */
#define SIGNAL(n) (1ull << ((n)-1))
#define FAULTS \
	(SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGFPE) | SIGNAL(SIGILL) | SIGNAL(SIGTRAP) | \
	 SIGNAL(SIGSYS) | SIGNAL(SIGABRT))

static bool set(fah_object *dict, const char *key, fah_object *value)
{
	bool ok = value && fah_py.dict_set_text(dict, key, value) == 0;

	fah_py_drop(value);
	return ok;
}

/* compiled(text, filename): the built-in compile() makes the types of syntax trees first. */
static fah_object *compiled(fah_object *self, fah_object *const *args, ptrdiff_t n)
{
	const char *text = n == 2 ? fah_py.str_as(args[0], NULL) : NULL;

	(void)self;
	return text ? fah_py.compile_as(text, args[1], FAH_PY_FILE_INPUT, NULL, -1) : NULL;
}

static fah_object *compiled_function(void)
{
	static struct fah_method_def def = {"compiled", (void (*)(void))(uintptr_t)compiled,
					    FAH_METH_FASTCALL, NULL};

	return fah_py.new_function(&def, NULL, NULL);
}

static fah_object *again(fah_object *o)
{
	fah_py.incref(o);
	return o;
}

static fah_object *namespace_for(bool plots, const char *name, fah_object *module, fah_object *code)
{
	fah_object *globals = fah_py.dict_new();

	if (globals && set(globals, "__builtins__", again(fah_py.builtins())) &&
	    set(globals, "name", fah_py.str_from(name, (ptrdiff_t)strlen(name))) &&
	    set(globals, "module", again(module)) &&
	    set(globals, "code", again(code ? code : fah_py.none)) &&
	    set(globals, "level", fah_py.long_from((long)fah_agent.log_level)) &&
	    set(globals, "changes", fah_py.list_new(0)) &&
	    set(globals, "compiled", compiled_function()) &&
	    (plots || set(globals, "hook", fah_log_hook())))
		return globals;
	fah_py_drop(globals);
	return NULL;
}

static bool is_code_of_ours(fah_object *trace)
{
	fah_object *frame = fah_py.get_attr(trace, "tb_frame");
	fah_object *code = frame ? fah_py.get_attr(frame, "f_code") : NULL;
	fah_object *file = code ? fah_py.get_attr(code, "co_filename") : NULL;
	const char *path = file ? fah_py.str_as(file, NULL) : NULL;
	bool ours = path && (!strcmp(path, TEXT_NAME) ||
			     !strncmp(path, IMPORTS_NAME, strlen(IMPORTS_NAME)));

	fah_py.err_clear();
	fah_py_drop(file);
	fah_py_drop(code);
	fah_py_drop(frame);
	return ours;
}

/* The part of a traceback that is not of our text, and of the import that it uses; new, or NULL:
 * there is none. Takes trace. */
static fah_object *part_of_program(fah_object *trace)
{
	fah_object *next;

	while (trace && trace != fah_py.none && is_code_of_ours(trace)) {
		next = fah_py.get_attr(trace, "tb_next");
		fah_py.decref(trace);
		trace = next;
	}
	if (trace != fah_py.none)
		return trace;
	fah_py.decref(trace);
	return NULL;
}

/* The text itself raises what is of a type of Python's, and an Exception. */
static bool is_like_ours(const fah_object *value)
{
	fah_object *type = fah_py_type(value);

	return !((uintptr_t)fah_py_word(type, FAH_TYPE_FLAGS) & FAH_TYPE_HEAP) &&
	       fah_py.is_subtype(type, *fah_py.e_exception);
}

/* 0: what was raised is noted. -1: it is set again, for the program. */
static int say_failed(const char *name)
{
	fah_object *type = NULL, *value = NULL, *trace = NULL, *text;
	const char *why;

	fah_py.err_fetch(&type, &value, &trace);
	if (!type)
		return 0;
	fah_py.err_normalize(&type, &value, &trace);
	trace = part_of_program(trace);
	if (!value || trace || !is_like_ours(value)) {
		fah_log_note(name, "it was interrupted");
		fah_py.err_restore(type, value, trace);
		return -1;
	}
	text = fah_py.str(value);
	why = text ? fah_py.str_as(text, NULL) : NULL;
	fah_log_note(name, why ? why : "no memory");
	fah_py.err_clear();
	fah_py_drop(text);
	fah_py_drop(type);
	fah_py_drop(value);
	return 0;
}

/* Its functions have it for their globals: broken up, to go at once. */
static void dissolve(fah_object *globals)
{
	fah_object *key, *value;
	ptrdiff_t at = 0;

	while (fah_py.dict_next(globals, &at, &key, &value))
		fah_py.dict_set(globals, key, fah_py.none); /* an old key: nothing moves */
	fah_py.decref(globals);
}

/* (code object, place, constant) each. 0, or -1 with an exception set. */
static int apply(fah_object *changes)
{
	ptrdiff_t n =
		changes && fah_py_type(changes) == fah_py.t_list ? fah_py.list_size(changes) : 0;

	for (ptrdiff_t i = 0; i < n; i++) {
		fah_object *change = fah_py.list_get(changes, i);
		fah_object *consts = fah_py.get_attr(fah_py.tuple_get(change, 0), "co_consts");

		if (!consts)
			return -1;
		/* the code object's alone: else this refuses, and nothing is changed */
		fah_py.decref(consts);
		if (fah_py.tuple_set(consts, fah_py.long_as(fah_py.tuple_get(change, 1)),
				     again(fah_py.tuple_get(change, 2))) < 0)
			return -1;
	}
	return 0;
}

/* What sys.gettrace() or the like returns is something. */
static bool is_set(const char *getter)
{
	fah_object *function = fah_py.sys_get(getter), *found = NULL;
	bool yes;

	if (!function || fah_py_type(function) != fah_py.t_function)
		return true; /* the program put its own there: it cannot be known */
	found = fah_py.call(function, NULL);
	fah_py.err_clear();
	yes = found != fah_py.none;
	fah_py_drop(found);
	return yes;
}

/* One text after the other, which may use its names. 0, or -1 with an exception set. */
static int run_texts(const char *const *texts, fah_object *globals)
{
	fah_object *code, *result = NULL;

	for (; *texts; texts++) {
		code = fah_py.compile(*texts, TEXT_NAME, FAH_PY_FILE_INPUT);
		result = code ? fah_py.eval(code, globals, globals) : NULL;
		fah_py_drop(code);
		if (!result)
			return -1;
		fah_py.decref(result);
	}
	return 0;
}

static int run_unseen(const char *const *texts, fah_object *globals)
{
	uint64_t all = ~FAULTS, old = 0;
	void *thread = fah_py_can_hide() ? fah_py.thread() : NULL;
	int err;

	FAH_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));
	if (thread)
		fah_py.enter_tracing(thread);
	err = run_texts(texts, globals);
	if (thread)
		fah_py.leave_tracing(thread);
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return err;
}

int fah_inside_run(bool plots, const char *name, fah_object *module, fah_object *code)
{
	static const char *const for_plots[] = {fah_plots_py, NULL};
	static const char *const for_logging[] = {fah_logs_logging_py, fah_logs_py, NULL};
	static const char *const for_warnings[] = {fah_logs_warnings_py, fah_logs_py, NULL};
	const char *const *texts = plots		      ? for_plots
				   : !strcmp(name, "logging") ? for_logging
							      : for_warnings;
	fah_object *globals;
	unsigned char *overflow;
	int err = 0;
	bool quiet;

	if (!fah_py_can_hide() && (is_set("gettrace") || is_set("getprofile"))) {
		fah_log_note(name, "it was imported under a trace or profile function");
		return 0;
	}
	overflow = fah_py_overflow_before();
	quiet = fah_quiet_begin();
	globals = namespace_for(plots, name, module, code);
	if (!globals || run_unseen(texts, globals) < 0 ||
	    apply(fah_py.dict_get_text(globals, "changes")) < 0)
		err = say_failed(name);
	if (globals)
		dissolve(globals);
	if (quiet)
		fah_quiet_end();
	fah_py_overflow_after(overflow);
	return err;
}
