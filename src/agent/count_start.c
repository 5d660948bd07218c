/*
 * count_start.c - asks the interpreter to tell of each function that begins, and measures what that
 * costs. Once, with the GIL, before the program runs.
 */
#include "agent/count.h"
#include "agent/pyapi.h"

#define PY_START 1 /* sys.monitoring.events */
#define TRIES 5
#define PROBE_LEAST_NS 20u
#define PROBE_MOST_NS 300u

static const char program[] = "def probe():\n"
			      "    pass\n"
			      "def run():\n"
			      "    for i in range(1000):\n"
			      "        probe()\n";
#define CALLS 1000

static uint64_t shortest_run(fah_object *run)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begun = fah_now_thread_cpu(), took;
		fah_object *done = fah_py.call_args(run, NULL);

		took = fah_now_thread_cpu() - begun;
		if (done)
			fah_py.decref(done);
		least = took < least ? took : least;
	}
	return least;
}

/* What a call costs that is told: with it, and without. False: it is not told as it should be. */
static bool measure(void)
{
	fah_object *globals = fah_py_run(program, "<fixingahole>"), *run, *probe;
	uint64_t told, without;
	bool good = false;

	if (!globals)
		return false;
	run = fah_py.dict_get_text(globals, "run");
	probe = fah_py.dict_get_text(globals, "probe");
	if (run && probe) {
		fah_counting.measuring = true;
		told = shortest_run(run);
		good = fah_counting.n_told >= TRIES * CALLS;
		fah_counting.measured_off = true;
		shortest_run(run);
		fah_counting.n_told = 0;
		without = shortest_run(run);
		good &= fah_counting.n_told == 0;
		fah_counting.measuring = fah_counting.measured_off = false;
		fah_counting.probe_ns = told > without ? (told - without) / CALLS : 0;
		fah_counting.probe_ns = fah_counting.probe_ns < PROBE_LEAST_NS ? PROBE_LEAST_NS
					: fah_counting.probe_ns > PROBE_MOST_NS
						? PROBE_MOST_NS
						: fah_counting.probe_ns;
	}
	fah_py.err_clear();
	fah_py_drop_globals(globals);
	fah_count_table_clear();
	return good;
}

/* monitoring.NAME(numbers...); a number below 0 ends them. True: it was not refused. */
static bool call(fah_object *monitoring, const char *name, long a, long b, fah_object *last)
{
	fah_object *function = fah_py.get_attr(monitoring, name), *done = NULL;
	fah_object *first = fah_py.long_from(a), *second = b < 0 ? last : fah_py.long_from(b);

	if (function && first)
		done = second ? fah_py.call_args(function, first, second, b < 0 ? NULL : last, NULL)
			      : fah_py.call_args(function, first, NULL);
	if (!done)
		fah_py.err_clear();
	else
		fah_py.decref(done);
	if (function)
		fah_py.decref(function);
	if (first)
		fah_py.decref(first);
	if (second && b >= 0)
		fah_py.decref(second);
	return done != NULL;
}

/* The last of those that no tool has by convention; the program's own tool takes the first. */
static bool take_tool(fah_object *monitoring)
{
	fah_object *name = fah_py.str_from("fixingahole", 11);

	for (fah_counting.tool = 4; name && fah_counting.tool >= 3; fah_counting.tool--)
		if (call(monitoring, "use_tool_id", fah_counting.tool, -1, name))
			break;
	if (name)
		fah_py.decref(name);
	return name && fah_counting.tool >= 3;
}

static bool begin(fah_object *monitoring)
{
	static struct fah_method_def def = {"fixingahole", (void (*)(void))fah_count_call,
					    FAH_METH_FASTCALL, NULL};
	fah_object *function = fah_py.new_function(&def, NULL, NULL);

	if (!function ||
	    !call(monitoring, "register_callback", fah_counting.tool, PY_START, function))
		return false;
	fah_py.untrack(function); /* none of the program's objects */
	fah_py.decref(function);
	return call(monitoring, "set_events", fah_counting.tool, PY_START, NULL);
}

void fah_count_start(void)
{
	fah_object *monitoring;

	if (fah_agent.python_version < 0x030c0000 || !fah_count_scope_read() || !fah_count_setup())
		return;
	monitoring = fah_py.sys_get("monitoring");
	if (!monitoring)
		return;
	fah_counting.disable = fah_py.get_attr(monitoring, "DISABLE");
	fah_counting.restart = fah_py.get_attr(monitoring, "restart_events");
	fah_counting.get_tool = fah_py.get_attr(monitoring, "get_tool");
	if (!fah_counting.disable || !fah_counting.restart || !fah_counting.get_tool ||
	    !take_tool(monitoring)) {
		fah_py.err_clear();
		return;
	}
	if (begin(monitoring) && measure()) {
		atomic_store(&fah_counting.on, true);
		return;
	}
	call(monitoring, "set_events", fah_counting.tool, 0, NULL);
	call(monitoring, "register_callback", fah_counting.tool, PY_START, fah_py.none);
	call(monitoring, "free_tool_id", fah_counting.tool, -1, NULL);
}
