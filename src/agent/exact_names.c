/*
 * exact_names.c - functions of C's by the names that cProfile gives them. With the GIL; the
 * exception that may be set stays.
 */
#include "agent/exact.h"

#include <string.h>

#define FUNCTION_SELF 24 /* PyCFunctionObject, the same since 3.8 */
#define FUNCTION_MODULE 32
#define NAME_MAX_BYTES 512u

struct text {
	char *p, *end;
};

static void add(struct text *t, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	if (n > (size_t)(t->end - t->p))
		n = (size_t)(t->end - t->p);
	memcpy(t->p, s ? s : "", n);
	t->p += n;
	*t->p = 0;
}

static const char *words(fah_object *o)
{
	const char *s = o && fah_py_type(o) == fah_py.t_str ? fah_py.str_as(o, NULL) : NULL;

	fah_py.err_clear();
	return s;
}

/* "<method 'append' of 'list' objects>": what the type has under that name. */
static bool of_type(struct text *t, fah_object *type, const char *name)
{
	fah_object *(*lookup)(fah_object *, fah_object *) =
		(fah_object *
		 (*)(fah_object *, fah_object *))(uintptr_t)fah_global("_PyType_Lookup");
	fah_object *key = fah_py.str_from(name, (ptrdiff_t)strlen(name));
	fah_object *found = lookup && key ? lookup(type, key) : NULL, *text = NULL;
	const fah_object *descriptor = fah_global("PyMethodDescr_Type");
	const char *s;

	/* of other types repr() may be the program's own code */
	if (found && (fah_py_type(found) == descriptor ||
		      fah_py_type(found) == fah_global("PyClassMethodDescr_Type") ||
		      fah_py_type(found) == fah_py.t_function))
		text = fah_py.repr(found);
	s = words(text);
	if (s)
		add(t, s);
	fah_py.err_clear();
	fah_py_drop(text);
	fah_py_drop(key);
	return s != NULL;
}

static void name_of(struct text *t, const char *name, fah_object *function)
{
	fah_object *self, *type = function ? fah_py_type(function) : NULL;
	const char *module;

	if (type && type == fah_global("PyMethodDescr_Type")) {
		fah_object *owner = fah_py_word(function, 16); /* d_type */

		if (of_type(t, owner, name))
			return;
		function = NULL;
	}
	self = function ? fah_py_word(function, FUNCTION_SELF) : NULL;
	module = function ? words(fah_py_word(function, FUNCTION_MODULE)) : NULL;
	if (self && of_type(t, fah_py_type(self), name))
		return;
	if (self || !function) {
		add(t, "<built-in method ");
	} else {
		add(t, "<");
		if (module && !strcmp(module, "builtins"))
			module = NULL;
	}
	if (module) {
		add(t, module);
		add(t, ".");
	}
	add(t, name);
	add(t, ">");
}

uint32_t fah_exact_c_id(struct fah_thread_state *t, uint64_t method_def, fah_object *function)
{
	const char *name = *(const char *const *)(uintptr_t)method_def;
	fah_object *type, *value, *trace;
	char room[NAME_MAX_BYTES];
	struct text text = {room, room + sizeof(room) - 1};

	fah_py.err_fetch(&type, &value, &trace);
	name_of(&text, name, function);
	fah_py.err_restore(type, value, trace);
	return fah_codes_other(t, "~", room);
}
