/*
 * log_text.c - see log_text.h.
 *
 * str() of an object of the program's may print, count, lock or take a second. A record that the
 * program itself would not have formatted must not make it do so: only what is certain to be made
 * by C code, down to the last item, is asked for its text; the rest is named by its type.
 */
#include "agent/log_text.h"

#include <string.h>

#define DEPTH 4
#define ITEMS 200u /* of an argument, all in all */

static bool learnt; /* type objects look as expected, and: */
static void *python_str,
	*python_repr; /* what stands in types whose methods are written in Python */

/* A class of the module warnings, which logging imports too; borrowed. */
static fah_object *class_of_warnings(const char *name)
{
	fah_object *type = fah_py_global("warnings", name);

	return type && fah_py_type(type) == fah_py.t_type ? type : NULL;
}

void fah_log_text_setup(void)
{
	fah_object *has_str, *has_repr;

	if (learnt)
		return;
	has_str = class_of_warnings("WarningMessage");
	has_repr = class_of_warnings("catch_warnings");
	if (!has_str || !has_repr)
		return;
	python_str = fah_py_word(has_str, FAH_TYPE_STR);
	python_repr = fah_py_word(has_repr, FAH_TYPE_REPR);
	learnt = python_str != fah_py_word(fah_py.t_object, FAH_TYPE_STR) &&
		 python_repr != fah_py_word(fah_py.t_object, FAH_TYPE_REPR) &&
		 fah_py_word(fah_py.t_int, FAH_TYPE_STR) ==
			 fah_py_word(fah_py.t_object, FAH_TYPE_STR);
}

static bool is_plain(fah_object *o, int depth, uint32_t *items);

static bool is_plain_dict(fah_object *o, int depth, uint32_t *items)
{
	fah_object *key, *value;
	ptrdiff_t at = 0;

	while (fah_py.dict_next(o, &at, &key, &value))
		if (!is_plain(key, depth, items) || !is_plain(value, depth, items))
			return false;
	return true;
}

static bool is_plain_sequence(fah_object *o, bool tuple, int depth, uint32_t *items)
{
	ptrdiff_t n = tuple ? fah_py.tuple_size(o) : fah_py.list_size(o);

	for (ptrdiff_t i = 0; i < n; i++)
		if (!is_plain(tuple ? fah_py.tuple_get(o, i) : fah_py.list_get(o, i), depth, items))
			return false;
	return true;
}

/* Static types of C code that hold no object of the program's. */
static bool is_date(fah_object *o, fah_object *type)
{
	const char *name = fah_py_word(type, FAH_TYPE_NAME);
	fah_object *zone;
	bool naive;

	if ((uintptr_t)fah_py_word(type, FAH_TYPE_FLAGS) & FAH_TYPE_HEAP)
		return false;
	if (!strcmp(name, "datetime.date") || !strcmp(name, "datetime.timedelta"))
		return true;
	if (strcmp(name, "datetime.datetime"))
		return false;
	zone = fah_py.get_attr(o, "tzinfo");
	if (!zone)
		fah_py.err_clear();
	naive = zone == fah_py.none; /* else it is asked for its offset */
	fah_py_drop(zone);
	return naive;
}

/* Its text is made by C code alone, that of all in it too. */
static bool is_plain(fah_object *o, int depth, uint32_t *items)
{
	fah_object *type = fah_py_type(o);
	void *str, *repr;

	if (depth <= 0 || ++*items > ITEMS)
		return false;
	if (o == fah_py.none || type == fah_py.t_str || type == fah_py.t_int ||
	    type == fah_py.t_float || type == fah_py.t_bool || type == fah_py.t_bytes ||
	    type == fah_py.t_complex)
		return true;
	if (type == fah_py.t_tuple || type == fah_py.t_list)
		return is_plain_sequence(o, type == fah_py.t_tuple, depth - 1, items);
	if (type == fah_py.t_dict)
		return is_plain_dict(o, depth - 1, items);
	if (!learnt)
		return false;
	str = fah_py_word(type, FAH_TYPE_STR);
	repr = fah_py_word(type, FAH_TYPE_REPR);
	if (str == python_str || repr == python_repr)
		return false;
	if (str == fah_py_word(fah_py.t_object, FAH_TYPE_STR) &&
	    repr == fah_py_word(fah_py.t_object, FAH_TYPE_REPR))
		return true;
	if (fah_py.is_subtype(type, *fah_py.e_base))
		return is_plain(fah_py_word(o, FAH_EXCEPTION_ARGS), depth - 1, items);
	/* numbers of extensions; not arrays, which hold anything */
	if (fah_py.is_number(o) && !fah_py.is_sequence(o))
		return true;
	return is_date(o, type);
}

/* "<name of the type>", new. */
static fah_object *stand_in(fah_object *o)
{
	const char *name = fah_py_word(fah_py_type(o), FAH_TYPE_NAME);
	size_t n = strlen(name);
	char text[128];

	if (n > sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[0] = '<';
	memcpy(text + 1, name, n);
	text[n + 1] = '>';
	return fah_py.str_from(text, (ptrdiff_t)n + 2);
}

static fah_object *plain_or_stand_in(fah_object *o)
{
	uint32_t items = 0;

	if (!is_plain(o, DEPTH, &items))
		return stand_in(o);
	fah_py.incref(o);
	return o;
}

fah_object *fah_log_str(fah_object *o)
{
	fah_object *plain = plain_or_stand_in(o), *text = NULL;

	if (plain)
		text = fah_py.str(plain);
	fah_py_drop(plain);
	fah_py.err_clear();
	return text;
}

static fah_object *plain_tuple(fah_object *args)
{
	ptrdiff_t n = fah_py.tuple_size(args);
	fah_object *made = fah_py.tuple_new(n);

	for (ptrdiff_t i = 0; made && i < n; i++) {
		fah_object *item = plain_or_stand_in(fah_py.tuple_get(args, i));

		if (!item || fah_py.tuple_set(made, i, item) < 0) {
			fah_py.decref(made);
			return NULL;
		}
	}
	return made;
}

static fah_object *plain_dict(fah_object *args)
{
	fah_object *made = fah_py.dict_new(), *key, *value;
	ptrdiff_t at = 0;

	while (made && fah_py.dict_next(args, &at, &key, &value)) {
		fah_object *item = plain_or_stand_in(value);
		/* a key of another kind may have code of the program's to compare it */
		bool ok = item && (fah_py_type(key) != fah_py.t_str ||
				   fah_py.dict_set(made, key, item) == 0);

		fah_py_drop(item);
		if (!ok) {
			fah_py.decref(made);
			return NULL;
		}
	}
	return made;
}

/* "message (args)", for what does not fit its message. */
static fah_object *side_by_side(fah_object *text, fah_object *args)
{
	fah_object *form = fah_py.str_from("%s %r", 5), *both = fah_py.tuple_new(2), *made = NULL;

	if (form && both) {
		fah_py.incref(text);
		fah_py.incref(args);
		fah_py.tuple_set(both, 0, text);
		fah_py.tuple_set(both, 1, args);
		made = fah_py.format(form, both);
	}
	fah_py_drop(form);
	fah_py_drop(both);
	return made;
}

fah_object *fah_log_message(fah_object *msg, fah_object *args)
{
	fah_object *text = fah_log_str(msg), *plain = NULL, *made = NULL;

	if (!text || !args)
		return text;
	/* one dict stands for its values by name */
	if (fah_py_type(args) == fah_py.t_tuple && fah_py.tuple_size(args) == 1 &&
	    fah_py_type(fah_py.tuple_get(args, 0)) == fah_py.t_dict &&
	    fah_py.dict_size(fah_py.tuple_get(args, 0)) > 0)
		args = fah_py.tuple_get(args, 0);
	if (fah_py_type(args) == fah_py.t_tuple && fah_py.tuple_size(args) > 0)
		plain = plain_tuple(args);
	else if (fah_py_type(args) == fah_py.t_dict)
		plain = plain_dict(args);
	if (plain) {
		made = fah_py.format(text, plain);
		if (!made) {
			fah_py.err_clear();
			made = side_by_side(text, plain);
		}
	}
	fah_py.err_clear();
	fah_py_drop(plain);
	if (!made)
		return text;
	fah_py.decref(text);
	return made;
}

fah_object *fah_log_get(fah_object *d, const char *key, fah_object *type)
{
	fah_object *found = d ? fah_py.dict_get_text(d, key) : NULL;

	return found && fah_py_type(found) == type ? found : NULL;
}
