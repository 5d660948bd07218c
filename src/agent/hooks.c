/*
 * hooks.c - see hooks.h. Runs a text of ours in the program when a module is imported.
 *
 * The audit event "exec" comes with a module's code object before that code is run, from whoever
 * imports it and by whatever way. The text makes other code for some of its functions, and that
 * is put among the code's constants, so the module is made with it. No finder, no import
 * of ours, no wrapper, nothing that a program could trip over. (The event "import" comes too early,
 * and since 3.15 from inside the import: one from there would run a module twice.) The audit hook
 * is there from the moment at which the module's file is opened; python_quiet.c says what it would
 * change if it were always there.
 */
#include "agent/hooks.h"

#include "agent/agent.h"
#include "agent/inside.h"

#include <string.h>

enum { WARNING = 30 };
enum watch_state { OFF, WANTED, DONE };
/* A file that was opened should come to be run before so many audit events, else it was opened for
 * something else: 3.8 and 3.9 have one for each of its functions, and for each line that a trace
 * function sees. Another file that is opened counts for many. */
#define EVENTS_OF_AN_IMPORT 4096
#define EVENTS_OF_ANOTHER (EVENTS_OF_AN_IMPORT / 32)

static struct watch {
	const char *module, *file; /* how the file's path ends */
	uint32_t plots;		   /* enum fah_plots; 0: it is for logs */
	_Atomic enum watch_state state;
	_Atomic bool opened; /* its code may be run soon */
} watches[] = {
	{"logging", "/logging/__init__.py", 0, OFF, false},
	{"warnings", "/warnings.py", 0, OFF, false},
	{"matplotlib.pyplot", "/matplotlib/pyplot.py", FAH_PLOTS_MATPLOTLIB, OFF, false},
	{"matplotlib.figure", "/matplotlib/figure.py", FAH_PLOTS_MATPLOTLIB, OFF, false},
	{"plotly.io._renderers", "/plotly/io/_renderers.py", FAH_PLOTS_PLOTLY, OFF, false},
	{"plotly.basedatatypes", "/plotly/basedatatypes.py", FAH_PLOTS_PLOTLY, OFF, false},
	{"seaborn", "/seaborn/__init__.py", FAH_PLOTS_SEABORN, OFF, false},
	{"seaborn._core.plot", "/seaborn/_core/plot.py", FAH_PLOTS_SEABORN, OFF, false},
	{"bokeh.io.showing", "/bokeh/io/showing.py", FAH_PLOTS_BOKEH, OFF, false},
};
#define WATCHES (sizeof(watches) / sizeof(watches[0]))

static _Atomic bool begun;	 /* all is set up */
static _Atomic bool when_opened; /* the audit hook is there only between open and exec */
static _Atomic int events_left;
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
	if (audited || fah_python_is_audited() > 0)
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

static bool any_left(bool opened)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (watches[i].state == WANTED && (!opened || watches[i].opened))
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

/* Where the standard library is read from files, so are these. Not where it is frozen or in a zip.
 */
static bool comes_from_files(void)
{
	fah_object *module = fah_py_module("encodings"), *loader, *type;
	const char *name = "";

	loader = module ? fah_py.dict_get_text(fah_py.module_dict(module), "__loader__") : NULL;
	type = loader ? fah_py_type(loader) : NULL;
	if (type)
		name = fah_py_word(type, FAH_TYPE_NAME);
	return !strcmp(name, "SourceFileLoader") || !strcmp(name, "SourcelessFileLoader");
}

/* Length of the path without what an import adds to a module's name: .py, .cpython-38.pyc. */
static size_t stem_of(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot;

	dot = strchr(name, '.');
	*ret_name = name;
	return dot ? (size_t)(dot - path) : strlen(path);
}

/* Whether one that was read for this one: the file itself, or what it was compiled to. */
static bool is_read_for(const char *path, const char *file)
{
	static const char cache[] = "__pycache__/";
	const char *name, *file_name;
	size_t n = stem_of(path, &name), m = stem_of(file, &file_name), folder;

	/* the name, then the folders it is in */
	if (n - (size_t)(name - path) != m - (size_t)(file_name - file) ||
	    memcmp(name, file_name, m - (size_t)(file_name - file)))
		return false;
	n = (size_t)(name - path);
	m = (size_t)(file_name - file);
	folder = sizeof(cache) - 1;
	if (n >= folder && !memcmp(path + n - folder, cache, folder))
		n -= folder;
	return n >= m ? !memcmp(path + n - m, file, m) : n + 1 == m && !memcmp(path, file + 1, n);
}

void fah_hooks_opened(const char *path)
{
	bool found = false;

	if (!atomic_load_explicit(&when_opened, memory_order_relaxed))
		return;
	for (size_t i = 0; i < WATCHES; i++) {
		if (watches[i].state != WANTED || !is_read_for(path, watches[i].file))
			continue;
		watches[i].opened = found = true;
	}
	if (!found)
		return;
	events_left = EVENTS_OF_AN_IMPORT;
	fah_python_watch_again();
}

void fah_hooks_stop(void)
{
	begun = when_opened = false;
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
	if (!any_left(false) || !fah_pyapi_load())
		return false;
	if (ready() && look() < 0) {
		if (fah_py.err_matches(*fah_py.e_interrupt))
			fah_py.set_interrupt(); /* the program will get it */
		fah_py.err_clear();
	}
	begun = any_left(false);
	when_opened = begun && fah_python_can_watch_again() && fah_python_is_audited() >= 0 &&
		      comes_from_files();
	return begun && !when_opened;
}

/* The hook was there for an import: it has come, or does not. */
static void rest(const char *event)
{
	int n = !strcmp(event, "open") || !strcmp(event, "import") ? EVENTS_OF_ANOTHER : 1;

	if (atomic_fetch_sub(&events_left, n) <= n)
		for (size_t i = 0; i < WATCHES; i++)
			watches[i].opened = false;
	if (any_left(true))
		return;
	fah_python_unwatch();
	if (any_left(true)) /* another thread opened one meanwhile */
		fah_python_watch_again();
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
		if (!any_left(false))
			fah_python_unwatch();
	}
	if (when_opened)
		rest(event);
	return err;
}
