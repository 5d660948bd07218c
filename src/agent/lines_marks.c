/*
 * lines_marks.c - the builtin profile(): what it is given is returned as it came, and the functions
 * in it are chosen. With the GIL, called by the program.
 *
 * Functions are looked for where Python's own wrappers keep them: methods, class and static
 * methods, properties, partials, functions with __wrapped__, classes. An object's own attributes
 * are asked for by name, so what a class of the program's does then is the program's.
 */
#include "agent/lines.h"

#include <string.h>

#define METH_O 8
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

static fah_object *profile(fah_object *self, fah_object *o)
{
	(void)self;
	if (atomic_load(&fah_lining.on))
		mark(o, 0);
	fah_py.incref(o);
	return o;
}

bool fah_lines_marks_install(void)
{
	static struct fah_method_def def = {
		"profile", (void (*)(void))profile, METH_O,
		"profile(function) -> function\n\nfixingahole lines: its lines are timed."};
	fah_object *function, *builtins = fah_py.builtins();
	bool done;

	t_python = fah_global("PyFunction_Type");
	t_method = fah_global("PyMethod_Type");
	function = t_python && t_method ? fah_py.new_function(&def, NULL, NULL) : NULL;
	done = function && fah_py.dict_set_text(builtins, "profile", function) == 0;
	fah_py.err_clear();
	fah_py_drop(function);
	return done;
}
