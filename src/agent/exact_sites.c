/*
 * exact_sites.c - calls of which nobody need be told. Since 3.12; with the GIL.
 *
 * Each call by Python code is told, because a function of C's does not tell of itself; of Python
 * functions, which do, that is half of what telling costs. Where a call names a function of its
 * module, `leaf(x)`, it will call the same the next time: such a place is switched off once it has
 * called a Python function. The module's names are watched, so when that name comes to mean
 * something else all places are switched on again, before the call can be reached: it is in a
 * function that begins, or in a loop, and at both the interpreter looks.
 *
 * Whether a call names its function is read from the code: the instruction that stands where the
 * call's text begins loads a global name, and no other instruction stands there.
 */
#include "agent/event_writer.h"
#include "agent/exact.h"
#include "agent/monitoring.h"

#include <string.h>

#define CODE_MAX 65536u
#define AGAIN_MAX 64 /* a program that gives names new meanings all the time */
#define CACHE 0
#define KEPT 65536u /* places that are known to be kept; a power of two */

enum watch_event { MODIFIED = 1, DELETED, CLONED, CLEARED }; /* PyDict_WatchEvent */

static struct {
	bool on;
	int watcher;
	uint8_t load_global;
	unsigned again; /* so often all places were switched on */
	fah_object *disable, *restart;
	fah_object *(*globals)(void); /* borrowed */
	int (*watch)(int, fah_object *);
	fah_object *t_function;
	uint64_t *kept; /* of KEPT; one that is forgotten is looked at again */
} sites = {.watcher = -1};

void fah_exact_sites_again(void)
{
	fah_object *type, *value, *trace;

	if (!sites.restart)
		return;
	fah_py.err_fetch(&type, &value, &trace);
	fah_py_drop(fah_py.call_args(sites.restart, NULL));
	fah_py.err_clear();
	fah_py.err_restore(type, value, trace);
	if (++sites.again >= AGAIN_MAX)
		sites.on = false;
}

void fah_exact_sites_stop(void)
{
	if (!sites.on)
		return;
	fah_exact_sites_again();
	sites.on = false;
}

/* A name of a Python function comes to mean something else. */
static bool is_other(int event, fah_object *dict, fah_object *key, const fah_object *value)
{
	fah_object *old;

	if (!key || fah_py_type(key) != fah_py.t_str)
		return false; /* no name of code's */
	old = fah_py.dict_get(dict, key);
	return old && fah_py_type(old) == sites.t_function &&
	       !(event == MODIFIED && value && fah_py_type(value) == sites.t_function);
}

/* Called by the interpreter before a dict changes. Of a dict that becomes a copy of another, or
 * empty, there is no key. */
static int on_change(int event, fah_object *dict, fah_object *key, fah_object *value)
{
	if (sites.on &&
	    (event == CLONED || event == CLEARED ||
	     ((event == MODIFIED || event == DELETED) && is_other(event, dict, key, value))))
		fah_exact_sites_again();
	return 0;
}

/* The number of LOAD_GLOBAL: the second instruction of a function that returns one. 0: not found.
 */
static uint8_t find_load_global(void)
{
	fah_object *globals = fah_py_run("def f():\n    return g\n", "<fixingahole>");
	fah_object *f = globals ? fah_py.dict_get_text(globals, "f") : NULL;
	fah_object *code = f ? fah_py.get_attr(f, "__code__") : NULL;
	fah_object *bytes = code ? fah_py.get_attr(code, "co_code") : NULL;
	uint8_t op = 0;

	/* behind RESUME, and its room if it has some */
	for (ptrdiff_t i = 2;
	     bytes && fah_py_type(bytes) == fah_py.t_bytes && !op && i < fah_py.bytes_size(bytes);
	     i += 2)
		op = (uint8_t)fah_py.bytes_as(bytes)[i];
	fah_py.err_clear();
	fah_py_drop(bytes);
	fah_py_drop(code);
	fah_py_drop_globals(globals);
	return op;
}

bool fah_exact_sites_setup(void)
{
	int (*add)(int (*)(int, fah_object *, fah_object *, fah_object *)) =
		(int (*)(int (*)(int, fah_object *, fah_object *, fah_object *)))(
			uintptr_t)fah_global("PyDict_AddWatcher");
	fah_object *monitoring = fah_monitoring();

	sites.watch = (int (*)(int, fah_object *))(uintptr_t)fah_global("PyDict_Watch");
	sites.globals = (fah_object * (*)(void))(uintptr_t)fah_global("PyEval_GetGlobals");
	sites.t_function = fah_global("PyFunction_Type");
	if (!add || !sites.watch || !sites.globals || !sites.t_function || !monitoring ||
	    fah_monitoring_may_hang())
		return false;
	sites.disable = fah_py.get_attr(monitoring, "DISABLE");
	sites.restart = fah_py.get_attr(monitoring, "restart_events");
	sites.load_global = find_load_global();
	sites.kept = fah_pages(KEPT * sizeof(*sites.kept));
	if (sites.kept && sites.disable && sites.restart && sites.load_global)
		sites.watcher = add(on_change);
	fah_py.err_clear();
	sites.on = sites.watcher >= 0;
	return sites.on;
}

struct span {
	struct fah_py_position at;
	uint32_t from, to;
};

/* Where the call stands; false: the code does not say. */
static bool place_of(const struct fah_py_described *d, uint32_t offset, struct span *ret)
{
	struct fah_py_places places =
		FAH_PY_PLACES((const uint8_t *)(uintptr_t)d->lines, d->n_lines, d->firstlineno);

	while (fah_py_places_next(&places, &ret->at) > 0)
		if (offset < places.to)
			return ret->at.line > 0 && ret->at.column >= 0;
	return false;
}

/* The name's instruction at *ret_offset; false: the call's text begins with something else. */
static bool find_name(const struct fah_py_described *d, uint32_t offset, const uint8_t *ops,
		      size_t n_ops, uint32_t *ret_offset)
{
	struct fah_py_places places =
		FAH_PY_PLACES((const uint8_t *)(uintptr_t)d->lines, d->n_lines, d->firstlineno);
	struct span call, name = {.from = UINT32_MAX};
	struct fah_py_position p;

	if (!place_of(d, offset, &call))
		return false;
	while (fah_py_places_next(&places, &p) > 0 && places.from < offset) {
		if (p.line != call.at.line || p.column != call.at.column)
			continue;
		if (p.end_line == call.at.end_line && p.end_column == call.at.end_column)
			continue; /* of the call itself */
		if (name.from != UINT32_MAX &&
		    (p.end_line != name.at.end_line || p.end_column != name.at.end_column))
			return false;
		for (uint64_t i = places.from; i < places.to; i += 2)
			if (i >= n_ops || (ops[i] != CACHE && ops[i] != sites.load_global))
				return false;
		if (ops[places.from] == sites.load_global)
			name = (struct span){p, (uint32_t)places.from, (uint32_t)places.to};
	}
	*ret_offset = name.from;
	return name.from != UINT32_MAX;
}

/* The name that is loaded there means that function, in the module of the code that runs. */
static bool means(fah_object *code, const uint8_t *ops, uint32_t at, const fah_object *function)
{
	fah_object *names = fah_py.get_attr(code, "co_names"), *globals = sites.globals();
	ptrdiff_t i = ops[at + 1] >> 1;
	bool yes = false;

	if (names && globals && fah_py_type(names) == fah_py.t_tuple &&
	    fah_py_type(globals) == fah_py.t_dict && i < fah_py.tuple_size(names) &&
	    fah_py.dict_get(globals, fah_py.tuple_get(names, i)) == function)
		yes = sites.watch(sites.watcher, globals) == 0;
	fah_py.err_clear();
	fah_py_drop(names);
	return yes;
}

static bool is_named(fah_object *code, uint32_t offset, const fah_object *function)
{
	struct fah_thread_state *t = fah_event_reader();
	struct fah_py_described d;
	fah_object *bytes;
	const uint8_t *ops;
	size_t n;
	uint32_t at;
	bool yes = false;

	if (fah_py_describe(&t->mem, &fah_agent.layout, (uint64_t)(uintptr_t)code, (char *)t->text,
			    &d) < 0)
		return false;
	bytes = fah_py.get_attr(code, "co_code"); /* as it was compiled */
	if (bytes && fah_py_type(bytes) == fah_py.t_bytes) {
		n = (size_t)fah_py.bytes_size(bytes);
		ops = (const uint8_t *)fah_py.bytes_as(bytes);
		yes = n <= CODE_MAX && d.n_lines && find_name(&d, offset, ops, n, &at) &&
		      at + 2 <= n && means(code, ops, at, function);
	}
	fah_py.err_clear();
	fah_py_drop(bytes);
	return yes;
}

/* What another tool has switched off would come back to it with ours. */
static bool can_go(fah_object *const *args, uint32_t offset)
{
	return offset < CODE_MAX && !fah_monitoring_others(fah_exacting.tool) &&
	       is_named(args[0], offset, args[2]);
}

fah_object *fah_exact_site(struct fah_exact_thread *t, fah_object *const *args)
{
	uint32_t offset = fah_py_small_int(args[1]);
	uint64_t key = (uint64_t)(uintptr_t)args[0] << 16 ^ offset, *kept;
	int64_t begun;
	bool go;

	if (!sites.on)
		return fah_py.none;
	kept = &sites.kept[(key ^ key >> 20) * 0x9e3779b97f4a7c15ull >> 48 & (KEPT - 1)];
	if (*kept == key)
		return fah_py.none;
	begun = fah_event_ticks();
	go = can_go(args, offset);
	if (!go)
		*kept = key;
	t->taken += fah_event_ticks() - begun;
	if (!go)
		return fah_py.none;
	fah_py.incref(sites.disable);
	return sites.disable;
}
