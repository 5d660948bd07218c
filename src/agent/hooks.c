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
#include "agent/inside.h"

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

static bool begun;   /* all is set up */
static bool audited; /* the program has audit hooks, which see each file and text that is read */

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

/* 0, or -1 with an exception of the program's set. */
static int change(struct watch *w, fah_object *module, fah_object *code)
{
	int err = 0;

	w->state = DONE; /* first: the text itself is code that is run */
	fah_py.incref(module);
	if (audited)
		fah_log_note(w->module, "the program has an audit hook, which would see it done");
	else
		err = fah_inside_run(w->plots != 0, w->module, module, code);
	fah_py.decref(module);
	return err;
}

/* Those that were imported before. 0, or -1 with an exception of the program's set. */
static int look(void)
{
	int err = 0;

	for (size_t i = 0; i < WATCHES && err == 0; i++) {
		struct watch *w = &watches[i];
		bool busy = false;
		fah_object *module = w->state == WANTED ? module_of(w, &busy) : NULL;

		/* one of another type may be imported by being looked at */
		if (module && !busy && fah_py_type(module) == fah_py.t_module)
			err = change(w, module, NULL);
	}
	return err;
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

static int on_exec(fah_object *args)
{
	fah_object *code = fah_py.tuple_get(args, 0), *module;
	struct watch *w = code ? watch_of(code) : NULL;
	bool busy = false;

	fah_py.err_clear();
	module = w ? module_of(w, &busy) : NULL;
	if (!module || !busy)
		return 0; /* a file of that name, for something else */
	if (change(w, module, code) < 0)
		return -1;
	if (w->plots != FAH_PLOTS_SEABORN)
		return 0;
	want_matplotlib_too();
	return look();
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
	return fah_py.interpreter() == fah_py.main_interpreter() && !fah_py.err_occurred() &&
	       !fah_sandbox_is_on();
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
	if (ready() && look() < 0) {
		if (fah_py.err_matches(*fah_py.e_interrupt))
			fah_py.set_interrupt(); /* the program will get it */
		fah_py.err_clear();
	}
	begun = any_left();
	return begun;
}

int fah_hooks_event(const char *event, void *args)
{
	int err = 0;

	if (!strcmp(event, "sys.addaudithook"))
		audited = true;
	/* the interpreter frees the entries next; ours was made before there were its allocators of
	 * debugging, which would call that corrupt memory */
	if (!strcmp(event, "cpython._PySys_ClearAuditHooks"))
		fah_python_unwatch();
	if (begun && !strcmp(event, "exec") && ready()) {
		err = on_exec(args);
		if (!any_left())
			fah_python_unwatch();
	}
	return err;
}
