/*
 * lines_marks.c - the builtin profile(): what it is given is returned as it came, and the functions
 * in it are chosen. With the GIL, called by the program. An object, with the methods of
 * line_profiler's that programs call.
 *
 * Functions are looked for where Python's own wrappers keep them: methods, class and static
 * methods, properties, partials, functions with __wrapped__, classes. An object's own attributes
 * are asked for by name, so what a class of the program's does then is the program's.
 */
#include "agent/lines.h"

#include <string.h>

#define METH_VARARGS 1
#define METH_O 8
#define TYPE_CALL 50 /* Py_tp_call, Py_tp_methods: stable ABI */
#define TYPE_METHODS 64
#define HAS_VERSION (1u << 18) /* Py_TPFLAGS_DEFAULT */
#define DEPTH_MAX 8
#define TYPE_SUBCLASS (1ul << 31) /* tp_flags: a class */

static fah_object *t_python, *t_method;

static void mark(fah_object *o, int depth);

static fah_object *attribute(fah_object *o, const char *name)
{
	fah_object *found = fah_py.get_attr(o, name);

	if (!found)
		fah_py.err_clear();
	return found;
}

static void mark_attribute(fah_object *o, const char *name, int depth)
{
	fah_object *found = attribute(o, name);

	if (found && found != fah_py.none && found != o)
		mark(found, depth + 1);
	fah_py_drop(found);
}

static bool is_class(const fah_object *o)
{
	return (uintptr_t)fah_py_word(fah_py_type(o), FAH_TYPE_FLAGS) & TYPE_SUBCLASS;
}

static bool same_text(fah_object *a, fah_object *b)
{
	return a && b && fah_py_type(a) == fah_py.t_str && fah_py_type(b) == fah_py.t_str &&
	       fah_py.compare(a, b) == 0;
}

/* A function that a class only borrows, or a class that it only names, is not its own. */
static bool is_of(fah_object *member, fah_object *class)
{
	fah_object *theirs = attribute(class, "__module__"), *its = attribute(member, "__module__");
	bool same = !its || same_text(theirs, its);

	fah_py_drop(theirs);
	fah_py_drop(its);
	return same;
}

static bool is_nested(fah_object *inner, fah_object *class)
{
	fah_object *a = attribute(class, "__qualname__"), *b = attribute(inner, "__qualname__");
	ptrdiff_t n = 0, m = 0;
	const char *outer = a && fah_py_type(a) == fah_py.t_str ? fah_py.str_as(a, &n) : NULL;
	const char *name = b && fah_py_type(b) == fah_py.t_str ? fah_py.str_as(b, &m) : NULL;
	bool nested = outer && name && m > n && !memcmp(outer, name, (size_t)n) && name[n] == '.';

	fah_py.err_clear();
	fah_py_drop(a);
	fah_py_drop(b);
	return nested;
}

static void mark_class(fah_object *class, int depth)
{
	fah_object *dict = attribute(class, "__dict__"), *copy = NULL, *key, *value, *method;
	ptrdiff_t at = 0;

	/* a copy: attributes that are asked for may change the class */
	method = dict ? attribute(dict, "copy") : NULL;
	copy = method ? fah_py.call_args(method, NULL) : NULL;
	while (copy && fah_py_type(copy) == fah_py.t_dict &&
	       fah_py.dict_next(copy, &at, &key, &value)) {
		if (is_class(value) ? is_nested(value, class) : is_of(value, class))
			mark(value, depth + 1);
	}
	fah_py.err_clear();
	fah_py_drop(method);
	fah_py_drop(copy);
	fah_py_drop(dict);
}

static void mark_function(fah_object *function, int depth)
{
	fah_object *code = attribute(function, "__code__");

	if (code && fah_py_type(code) == fah_py.t_code)
		fah_lines_choose(code, true);
	fah_py_drop(code);
	mark_attribute(function, "__wrapped__", depth);
}

/* An instance whose class has a __call__ of Python's. */
static void mark_callable(fah_object *o, int depth)
{
	fah_object *call = attribute(fah_py_type(o), "__call__");

	if (call && fah_py_type(call) == t_python)
		mark(call, depth + 1);
	fah_py_drop(call);
}

static bool is_named(const fah_object *type, const char *name)
{
	return !strcmp(fah_py_word(type, FAH_TYPE_NAME), name);
}

static void mark(fah_object *o, int depth)
{
	/* of Python's own types, by the names that they give themselves */
	static const struct {
		const char *type, *attributes[3];
	} wrappers[] = {
		{"classmethod", {"__func__"}},
		{"staticmethod", {"__func__"}},
		{"property", {"fget", "fset", "fdel"}},
		{"functools.partial", {"func"}},
		{"partialmethod", {"func"}},
		{"cached_property", {"func"}},
		{"singledispatchmethod", {"func"}},
		{"functools._lru_cache_wrapper", {"__wrapped__"}},
	};
	fah_object *type = fah_py_type(o);

	if (depth > DEPTH_MAX)
		return;
	if (type == t_python) {
		mark_function(o, depth);
		return;
	}
	if (type == fah_py.t_code) {
		fah_lines_choose(o, true);
		return;
	}
	if (type == t_method) {
		mark_attribute(o, "__func__", depth);
		return;
	}
	if (is_class(o)) {
		mark_class(o, depth);
		return;
	}
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (is_named(type, wrappers[i].type)) {
			for (int k = 0; k < 3 && wrappers[i].attributes[k]; k++)
				mark_attribute(o, wrappers[i].attributes[k], depth);
			return;
		}
	/* anything else that is in front of a function, or is called like one */
	if (depth == 0 || (uintptr_t)fah_py_word(type, FAH_TYPE_FLAGS) & FAH_TYPE_HEAP) {
		mark_attribute(o, "__wrapped__", depth);
		mark_callable(o, depth);
	}
}

void fah_lines_mark(fah_object *o)
{
	if (atomic_load(&fah_lining.on))
		mark(o, 0);
}

static fah_object *none(void)
{
	fah_py.incref(fah_py.none);
	return fah_py.none;
}

/* Also add_function() and the like of line_profiler's, whose users get None. */
static fah_object *add(fah_object *self, fah_object *o)
{
	(void)self;
	fah_lines_mark(o);
	return none();
}

/* A module's own functions and classes. */
static fah_object *add_module(fah_object *self, fah_object *module)
{
	fah_object *name = attribute(module, "__name__"), *key, *value;
	fah_object *dict = fah_py.is_subtype(fah_py_type(module), fah_py.t_module)
				   ? fah_py.module_dict(module)
				   : NULL;
	fah_object *copy = dict ? attribute(dict, "copy") : NULL,
		   *all = copy ? fah_py.call_args(copy, NULL) : NULL;
	ptrdiff_t at = 0;

	while (all && fah_py.dict_next(all, &at, &key, &value)) {
		fah_object *of = is_class(value) || fah_py_type(value) == t_python
					 ? attribute(value, "__module__")
					 : NULL;

		if (same_text(name, of))
			fah_py_drop(add(self, value));
		fah_py_drop(of);
	}
	fah_py.err_clear();
	fah_py_drop(name);
	fah_py_drop(copy);
	fah_py_drop(all);
	return none();
}

/* enable(), __enter__() and the like: what is chosen is told all the time. */
static fah_object *nothing(fah_object *self, fah_object *args)
{
	(void)self;
	(void)args;
	return none();
}

/* profile(function): the same function. */
static fah_object *call(fah_object *self, fah_object *args, fah_object *keywords)
{
	fah_object *o = fah_py.tuple_size(args) == 1 ? fah_py.tuple_get(args, 0) : NULL;

	(void)keywords;
	if (!o) {
		/* Python's own words for it */
		return fah_py.call(fah_py.t_object, args);
	}
	fah_py_drop(add(self, o));
	fah_py.incref(o);
	return o;
}

bool fah_lines_marks_install(void)
{
	static struct fah_method_def methods[] = {
		{"add_function", (void (*)(void))add, METH_O, NULL},
		{"add_callable", (void (*)(void))add, METH_O, NULL},
		{"add_class", (void (*)(void))add, METH_O, NULL},
		{"add_module", (void (*)(void))add_module, METH_O, NULL},
		{"enable", (void (*)(void))nothing, FAH_METH_NOARGS, NULL},
		{"disable", (void (*)(void))nothing, FAH_METH_NOARGS, NULL},
		{"enable_by_count", (void (*)(void))nothing, FAH_METH_NOARGS, NULL},
		{"disable_by_count", (void (*)(void))nothing, FAH_METH_NOARGS, NULL},
		{"__enter__", (void (*)(void))nothing, FAH_METH_NOARGS, NULL},
		{"__exit__", (void (*)(void))nothing, METH_VARARGS, NULL},
		{NULL, NULL, 0, NULL},
	};
	static struct fah_type_slot slots[] = {
		{TYPE_CALL, (void *)(uintptr_t)call},
		{TYPE_METHODS, methods},
		{0, NULL},
	};
	static struct fah_type_spec spec = {"builtins.fixingahole_profile", 16, 0, HAS_VERSION,
					    slots};
	fah_object *type, *made = NULL, *builtins = fah_py.builtins();
	bool done;

	t_python = fah_global("PyFunction_Type");
	t_method = fah_global("PyMethod_Type");
	type = t_python && t_method ? fah_py.type_from(&spec) : NULL;
	made = type ? fah_py.call(type, NULL) : NULL;
	done = made && fah_py.dict_set_text(builtins, "profile", made) == 0;
	fah_py.err_clear();
	fah_py_drop(type);
	fah_py_drop(made);
	return done;
}
