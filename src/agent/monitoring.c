/* monitoring.c - see monitoring.h. */
#include "agent/monitoring.h"

#include "agent/agent.h"

#include <string.h>

#define TOOLS 6
#define EVENTS_MAX 20
#define CALLBACKS_MAX 32

fah_object *fah_monitoring(void)
{
	return fah_py.sys_get("monitoring");
}

bool fah_monitoring_call(const char *name, long a, long b, fah_object *last)
{
	fah_object *monitoring = fah_monitoring(), *done = NULL;
	fah_object *function = monitoring ? fah_py.get_attr(monitoring, name) : NULL;
	fah_object *first = fah_py.long_from(a), *second = b < 0 ? last : fah_py.long_from(b);

	if (function && first)
		done = second ? fah_py.call_args(function, first, second, b < 0 ? NULL : last, NULL)
			      : fah_py.call_args(function, first, NULL);
	if (!done)
		fah_py.err_clear();
	fah_py_drop(done);
	fah_py_drop(function);
	fah_py_drop(first);
	if (b >= 0)
		fah_py_drop(second);
	return done != NULL;
}

long fah_monitoring_take_tool(void)
{
	fah_object *name = fah_py.str_from("fixingahole", 11);
	static const long tools[] = {5, 4, 3};
	long tool = -1;

	for (int i = 0; name && i < 3 && tool < 0; i++)
		if (fah_monitoring_call("use_tool_id", tools[i], -1, name))
			tool = tools[i];
	fah_py_drop(name);
	return tool;
}

bool fah_monitoring_others(long tool)
{
	static fah_object *get_tool;
	bool found = false;

	if (!get_tool)
		get_tool = fah_py.get_attr(fah_monitoring(), "get_tool");
	for (long i = 0; get_tool && i < TOOLS && !found; i++) {
		fah_object *number = i == tool ? NULL : fah_py.long_from(i), *name;

		if (!number)
			continue;
		name = fah_py.call_args(get_tool, number, NULL);
		found = name != fah_py.none;
		fah_py_drop(name);
		fah_py_drop(number);
	}
	fah_py.err_clear();
	return found || !get_tool;
}

long fah_monitoring_event(const char *name)
{
	fah_object *monitoring = fah_monitoring();
	fah_object *events = monitoring ? fah_py.get_attr(monitoring, "events") : NULL;
	fah_object *event = events ? fah_py.get_attr(events, name) : NULL;
	long value = event ? fah_py.long_as(event) : 0;

	fah_py.err_clear();
	fah_py_drop(event);
	fah_py_drop(events);
	return value > 0 ? value : 0;
}

/* Takes the function. */
static bool give(long tool, long event, fah_object *function)
{
	bool done;

	if (!function) {
		fah_py.err_clear();
		return false;
	}
	done = fah_monitoring_call("register_callback", tool, event, function);
	fah_py.decref(function);
	return done;
}

bool fah_monitoring_listen(long tool, long event, fah_monitoring_fn *callback)
{
	/* a function holds its definition for good */
	static struct fah_method_def defs[CALLBACKS_MAX];
	struct fah_method_def *def = defs;
	fah_object *function;

	while (def < defs + CALLBACKS_MAX && def->name && def->function != (void (*)(void))callback)
		def++;
	if (def == defs + CALLBACKS_MAX)
		return false;
	*def = (struct fah_method_def){"fixingahole", (void (*)(void))callback, FAH_METH_FASTCALL,
				       NULL};
	function = fah_py.new_function(def, NULL, NULL);
	if (function)
		fah_py.untrack(function); /* none of the program's objects */
	return give(tool, event, function);
}

/* PyMemberDef, stable ABI */
struct member {
	const char *name;
	int type;
	ptrdiff_t offset;
	int flags;
	const char *doc;
};
#define MEMBER_SSIZE 19 /* Py_T_PYSSIZET */
#define MEMBER_READONLY 1
#define SLOT_CALL 50 /* Py_tp_call */
#define SLOT_MEMBERS 72
#define HAS_VECTORCALL (1u << 11)
#define HAS_VERSION (1u << 18) /* Py_TPFLAGS_DEFAULT */
#define CALLBACK_AT 16	       /* behind the object's head */

static fah_object *direct_type(void)
{
	static struct member members[] = {
		{"__vectorcalloffset__", MEMBER_SSIZE, CALLBACK_AT, MEMBER_READONLY, NULL}, {0}};
	static struct fah_type_slot slots[] = {{SLOT_CALL, NULL}, {SLOT_MEMBERS, members}, {0}};
	static struct fah_type_spec spec = {"fixingahole.callback", CALLBACK_AT + 8, 0,
					    HAS_VECTORCALL | HAS_VERSION, slots};
	static fah_object *type;

	slots[0].function = fah_global("PyVectorcall_Call");
	if (!type && slots[0].function)
		type = fah_py.type_from(&spec);
	return type;
}

bool fah_monitoring_listen_directly(long tool, long event, fah_monitoring_fn *callback)
{
	fah_object *type = direct_type(), *o = type ? fah_py.call(type, NULL) : NULL;

	if (!o)
		return fah_monitoring_listen(tool, event, callback);
	*(fah_monitoring_fn **)(void *)((char *)o + CALLBACK_AT) = callback;
	return give(tool, event, o);
}

bool fah_monitoring_may_hang(void)
{
	fah_object *jit, *asked, *said = NULL;
	bool on;

	if (fah_agent.python_version >> 16 != 0x030e)
		return false;
	jit = fah_py.sys_get("_jit");
	asked = jit ? fah_py.get_attr(jit, "is_enabled") : NULL;
	if (asked)
		said = fah_py.call(asked, NULL);
	fah_py.err_clear();
	on = said && fah_py.long_as(said) != 0;
	fah_py_drop(said);
	fah_py_drop(asked);
	return on;
}

void fah_monitoring_leave(long tool)
{
	fah_monitoring_call("set_events", tool, 0, NULL);
	for (long i = 0; i < EVENTS_MAX; i++)
		fah_monitoring_call("register_callback", tool, 1l << i, fah_py.none);
	fah_monitoring_call("free_tool_id", tool, -1, NULL);
}
