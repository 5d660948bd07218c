/*
 * count_start.c - asks the interpreter to tell of each function that begins, and measures what that
 * costs. Once, with the GIL, before the program runs.
 */
#include "agent/count.h"
#include "agent/monitoring.h"

#define TRIES 5
#define PROBE_LEAST_NS 20
#define PROBE_MOST_NS 300

static const char program[] = "def probe():\n"
			      "    pass\n"
			      "def run():\n"
			      "    for i in range(500):\n"
			      "        probe()\n";
#define CALLS 500

static int64_t time_of(fah_object *run)
{
	uint64_t begun = fah_now_thread_cpu();

	fah_py_drop(fah_py.call_args(run, NULL));
	return (int64_t)(fah_now_thread_cpu() - begun);
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * With calls told and without, in turns: what it adds. False: they are not told as they should be.
 * The least of each is taken: what a call is thought to cost beyond the truth is taken off the time
 * of the windows, and of short functions little is left of that, so that estimates would be many
 * times too high. On the other side they cannot be wrong by more than telling costs.
 */
static bool measure_run(fah_object *run)
{
	int64_t told = INT64_MAX, untold = INT64_MAX, probe;

	fah_counting.checking = true;
	time_of(run);
	fah_counting.checking = false;
	for (int i = 0; i < TRIES; i++) {
		fah_counting.measured_off = false;
		fah_py_drop(fah_py.call_args(fah_counting.restart, NULL));
		time_of(run); /* instructions are made anew */
		fah_counting.n_told = 0;
		told = lesser(told, time_of(run));
		if (fah_counting.n_told < CALLS)
			return false;
		fah_counting.measured_off = true;
		time_of(run);
		fah_counting.n_told = 0;
		untold = lesser(untold, time_of(run));
		if (fah_counting.n_told)
			return false;
	}
	probe = (told - untold) / CALLS;
	fah_counting.probe_ns = probe < PROBE_LEAST_NS	? PROBE_LEAST_NS
				: probe > PROBE_MOST_NS ? PROBE_MOST_NS
							: (uint64_t)probe;
	return true;
}

/* What a call costs that is told. */
static bool measure(void)
{
	fah_object *globals = fah_py_run(program, "<fixingahole>"), *run;
	bool good = false;

	if (!globals)
		return false;
	run = fah_py.dict_get_text(globals, "run");
	fah_counting.measuring = true;
	if (run)
		good = measure_run(run);
	fah_counting.measuring = fah_counting.measured_off = false;
	fah_counting.n_told = 0;
	fah_py.err_clear();
	fah_py_drop_globals(globals);
	fah_count_table_clear();
	return good;
}

static bool begin(void)
{
	return fah_monitoring_listen(fah_counting.tool, FAH_PY_START, fah_count_call) &&
	       fah_monitoring_call("set_events", fah_counting.tool, FAH_PY_START, NULL);
}

void fah_count_start(void)
{
	fah_object *monitoring;

	if (fah_agent.python_version < 0x030c0000 || !fah_count_scope_read() || !fah_count_setup())
		return;
	monitoring = fah_monitoring();
	if (!monitoring || fah_monitoring_may_hang())
		return;
	fah_counting.disable = fah_py.get_attr(monitoring, "DISABLE");
	fah_counting.restart = fah_py.get_attr(monitoring, "restart_events");
	fah_counting.tool = -1;
	if (fah_counting.disable && fah_counting.restart)
		fah_counting.tool = fah_monitoring_take_tool();
	if (fah_counting.tool < 0) {
		fah_py.err_clear();
		return;
	}
	if (begin() && measure())
		atomic_store(&fah_counting.on, true);
	else
		fah_monitoring_leave(fah_counting.tool);
}
