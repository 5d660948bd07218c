/*
 * hooks.c - see hooks.h. Runs a text of ours in the program when a module is imported.
 *
 * The audit event "exec" comes with a module's code object before that code is run, from whoever
 * imports it and by whatever way. The text makes other code for some of its functions, and that
 * is put among the code's constants, so the module is made with it. No finder, no import
 * of ours, no wrapper, nothing that a program could trip over. (The event "import" comes too early,
 * and since 3.15 from inside the import: one from there would run a module twice.)
 */
#include "agent/hooks.h"

#include "agent/agent.h"
#include "generated/logs_py.h"
#include "generated/plots_py.h"

#include <string.h>

enum { WARNING = 30 };
enum watch_state { OFF, WANTED, DONE };

static struct watch {
	const char *module, *file; /* how the file's path ends */
	uint32_t plots;		   /* enum fah_plots; 0: it is for logs */
	enum watch_state state;
} watches[] = {
	{"logging", "/logging/__init__.py", 0, OFF},
	{"warnings", "/warnings.py", 0, OFF},
	{"matplotlib.pyplot", "/matplotlib/pyplot.py", FAH_PLOTS_MATPLOTLIB, OFF},
	{"matplotlib.figure", "/matplotlib/figure.py", FAH_PLOTS_MATPLOTLIB, OFF},
	{"plotly.io._renderers", "/plotly/io/_renderers.py", FAH_PLOTS_PLOTLY, OFF},
	{"plotly.basedatatypes", "/plotly/basedatatypes.py", FAH_PLOTS_PLOTLY, OFF},
	{"seaborn", "/seaborn/__init__.py", FAH_PLOTS_SEABORN, OFF},
	{"seaborn._core.plot", "/seaborn/_core/plot.py", FAH_PLOTS_SEABORN, OFF},
	{"bokeh.io.showing", "/bokeh/io/showing.py", FAH_PLOTS_BOKEH, OFF},
};
#define WATCHES (sizeof(watches) / sizeof(watches[0]))

static bool begun; /* all is set up */

static bool set(fah_object *dict, const char *key, fah_object *value)
{
	bool ok = value && fah_py.dict_set_text(dict, key, value) == 0;

	fah_py_drop(value);
	return ok;
}

static fah_object *again(fah_object *o)
{
	fah_py.incref(o);
	return o;
}

static fah_object *namespace_for(const struct watch *w, fah_object *module, fah_object *code)
{
	fah_object *globals = fah_py.dict_new();

	if (globals && set(globals, "__builtins__", again(fah_py.builtins())) &&
	    set(globals, "name", fah_py.str_from(w->module, (ptrdiff_t)strlen(w->module))) &&
	    set(globals, "module", again(module)) &&
	    set(globals, "code", again(code ? code : fah_py.none)) &&
	    set(globals, "level", fah_py.long_from((long)fah_agent.log_level)) &&
	    set(globals, "changes", fah_py.list_new(0)) &&
	    (w->plots || set(globals, "hook", fah_log_hook())))
		return globals;
	fah_py_drop(globals);
	return NULL;
}

/* What a text of ours raised: it changed nothing. */
static void say_failed(const struct watch *w)
{
	bool interrupt = fah_py.err_matches(*fah_py.e_interrupt) != 0;
	fah_object *type = NULL, *value = NULL, *trace = NULL, *text = NULL;
	const char *why;

	fah_py.err_fetch(&type, &value, &trace);
	fah_py.err_normalize(&type, &value, &trace);
	/* a signal's handler may have raised one of the program's own */
	if (value && !((uintptr_t)fah_py_word(fah_py_type(value), FAH_TYPE_FLAGS) & FAH_TYPE_HEAP))
		text = fah_py.str(value);
	why = text ? fah_py.str_as(text, NULL) : NULL;
	fah_log_note(w->module, why ? why : "it was interrupted");
	fah_py.err_clear();
	fah_py_drop(text);
	fah_py_drop(type);
	fah_py_drop(value);
	fah_py_drop(trace);
	if (interrupt)
		fah_py.set_interrupt(); /* it was meant for the program */
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

/* Compiled once, and kept: borrowed. NULL with an exception set. */
static fah_object *text_for(const struct watch *w)
{
	static fah_object *logs, *plots;
	fah_object **text = w->plots ? &plots : &logs;

	if (!*text)
		*text = fah_py.compile(w->plots ? fah_plots_py : fah_logs_py, "<fixingahole>",
				       FAH_PY_FILE_INPUT);
	return *text;
}

/* code: the module's, about to be run; NULL: it was. */
static void run_text(struct watch *w, fah_object *module, fah_object *code)
{
	fah_object *text = text_for(w);
	fah_object *globals = text ? namespace_for(w, module, code) : NULL, *result = NULL;
	void *thread = fah_py.thread && fah_py.enter_tracing && fah_py.leave_tracing
			       ? fah_py.thread()
			       : NULL;

	/* a debugger of the program's is not to see it (before 3.11 it does) */
	if (thread)
		fah_py.enter_tracing(thread);
	if (globals)
		result = fah_py.eval(text, globals, globals);
	if (thread)
		fah_py.leave_tracing(thread);
	if (!result || apply(fah_py.dict_get_text(globals, "changes")) < 0)
		say_failed(w);
	fah_py_drop(result);
	if (globals)
		dissolve(globals);
}

/* The module of that name as it stands in sys.modules; borrowed, NULL: none. *ret_busy: its code
 * is being run, or about to be. */
static fah_object *module_of(const struct watch *w, bool *ret_busy)
{
	fah_object *module = fah_py_module(w->module), *spec, *busy;

	if (!module)
		return NULL;
	spec = fah_py.dict_get_text(fah_py.module_dict(module), "__spec__");
	busy = spec ? fah_py.get_attr(spec, "_initializing") : NULL;
	if (!busy)
		fah_py.err_clear();
	*ret_busy = busy && fah_py.is_true(busy) > 0;
	fah_py_drop(busy);
	return module;
}

/* seaborn's figures are shown by matplotlib. */
static void want_matplotlib_too(void)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (watches[i].plots == FAH_PLOTS_MATPLOTLIB && watches[i].state == OFF)
			watches[i].state = WANTED;
}

static void change(struct watch *w, fah_object *module, fah_object *code)
{
	w->state = DONE; /* first: the text itself is code that is run */
	fah_py.incref(module);
	run_text(w, module, code);
	fah_py.decref(module);
}

/* Those that were imported before. */
static void look(void)
{
	for (size_t i = 0; i < WATCHES; i++) {
		struct watch *w = &watches[i];
		bool busy = false;
		fah_object *module = w->state == WANTED ? module_of(w, &busy) : NULL;

		if (module && !busy)
			change(w, module, NULL);
	}
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m ? !strcmp(text + n - m, end) : n + 1 == m && !strcmp(text, end + 1);
}

static struct watch *watch_of(fah_object *code)
{
	fah_object *file =
		fah_py_type(code) == fah_py.t_code ? fah_py.get_attr(code, "co_filename") : NULL;
	struct watch *found = NULL;
	ptrdiff_t n = 0;
	const char *path = file ? fah_py.str_as(file, &n) : NULL;

	for (size_t i = 0; path && i < WATCHES && !found; i++)
		if (watches[i].state == WANTED && ends_with(path, (size_t)n, watches[i].file))
			found = &watches[i];
	fah_py.err_clear();
	fah_py_drop(file);
	return found;
}

static void on_exec(fah_object *args)
{
	fah_object *code = fah_py.tuple_get(args, 0), *module;
	struct watch *w = code ? watch_of(code) : NULL;
	bool busy = false;

	fah_py.err_clear();
	module = w ? module_of(w, &busy) : NULL;
	if (!module || !busy)
		return; /* a file of that name, for something else */
	change(w, module, code);
	if (w->plots == FAH_PLOTS_SEABORN) {
		want_matplotlib_too();
		look();
	}
}

static bool any_left(void)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (watches[i].state == WANTED)
			return true;
	return false;
}

static bool ready(void)
{
	return fah_py.interpreter() == fah_py.main_interpreter() && !fah_py.err_occurred();
}

static bool is_wanted(const struct watch *w, bool recording)
{
	if (w->plots)
		return fah_agent.plots & w->plots;
	return recording && fah_agent.log_level &&
	       (strcmp(w->file, "/warnings.py") || fah_agent.log_level <= WARNING);
}

bool fah_hooks_start(bool recording)
{
	for (size_t i = 0; i < WATCHES; i++) {
		if (is_wanted(&watches[i], recording))
			watches[i].state = WANTED;
		/* from 3.14 on its functions are made there */
		if (!strcmp(watches[i].module, "warnings") &&
		    fah_agent.python_version >= 0x030e0000) {
			watches[i].module = "_py_warnings";
			watches[i].file = "/_py_warnings.py";
		}
	}
	if (!any_left() || !fah_pyapi_load())
		return false;
	if (ready())
		look();
	begun = any_left();
	return begun;
}

int fah_hooks_event(const char *event, void *args)
{
	if (!begun)
		return 0;
	if (!strcmp(event, "exec") && ready()) {
		on_exec(args);
		if (!any_left())
			fah_python_unwatch();
	}
	return 0;
}
