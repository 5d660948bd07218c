/* monitoring.c - see monitoring.h. */
#include "agent/monitoring.h"

#include <string.h>

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
	long tool = name ? 4 : -1;

	while (tool >= 3 && !fah_monitoring_call("use_tool_id", tool, -1, name))
		tool--;
	fah_py_drop(name);
	return tool >= 3 ? tool : -1;
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

bool fah_monitoring_listen(long tool, long event,
			   fah_object *(*callback)(fah_object *, fah_object *const *, long))
{
	/* a function holds its definition for good */
	static struct fah_method_def defs[CALLBACKS_MAX];
	struct fah_method_def *def = defs;
	fah_object *function;
	bool done;

	while (def < defs + CALLBACKS_MAX && def->name && def->function != (void (*)(void))callback)
		def++;
	if (def == defs + CALLBACKS_MAX)
		return false;
	*def = (struct fah_method_def){"fixingahole", (void (*)(void))callback, FAH_METH_FASTCALL,
				       NULL};
	function = fah_py.new_function(def, NULL, NULL);
	if (!function) {
		fah_py.err_clear();
		return false;
	}
	done = fah_monitoring_call("register_callback", tool, event, function);
	fah_py.untrack(function); /* none of the program's objects */
	fah_py.decref(function);
	return done;
}

void fah_monitoring_leave(long tool)
{
	fah_monitoring_call("set_events", tool, 0, NULL);
	for (long i = 0; i < EVENTS_MAX; i++)
		fah_monitoring_call("register_callback", tool, 1l << i, fah_py.none);
	fah_monitoring_call("free_tool_id", tool, -1, NULL);
}
