/*
 * exact_start.c - asks the interpreter to tell of each call; and what may come between: forks,
 * other tools, threads that are new. With the GIL.
 *
 * Whether calls are wanted says a file beside the segments: lines of words, "children" and "raw"
 * among them, and the pid of the collector, whose child the program is.
 */
#include "agent/event_writer.h"
#include "agent/exact.h"
#include "agent/monitoring.h"
#include "core/sys.h"

#include <string.h>

#define SECOND_NS 1000000000u

typedef int (*profile_fn)(fah_object *, const void *, int, fah_object *);

static long all_events;
/* Before 3.12: of the thread's state, where its profile function stands; 0: not found. */
static size_t profile_at;

/* False: nobody asked for it, or not of this process. */
static bool wanted(void)
{
	const char *parent;
	char text[256];
	long pid = 0;

	if (fah_session_file("exact", text, sizeof(text)) <= 0)
		return false;
	fah_exacting.children = strstr(text, "children\n") != NULL;
	fah_exacting.raw = strstr(text, "raw\n") != NULL;
	parent = strstr(text, "parent ");
	for (parent = parent ? parent + 7 : ""; *parent >= '0' && *parent <= '9'; parent++)
		pid = pid * 10 + (*parent - '0');
	return fah_exacting.children || pid == FAH_SYS0(SYS_getppid);
}

static const struct {
	const char *name;
	fah_monitoring_fn *callback;
	bool ancillary; /* comes with CALL */
} events[] = {
	{"PY_START", fah_exact_on_start, false},  {"PY_RESUME", fah_exact_on_resume, false},
	{"PY_THROW", fah_exact_on_resume, false}, {"PY_RETURN", fah_exact_on_return, false},
	{"PY_YIELD", fah_exact_on_return, false}, {"PY_UNWIND", fah_exact_on_return, false},
	{"CALL", fah_exact_on_call, false},	  {"C_RETURN", fah_exact_on_c_return, true},
	{"C_RAISE", fah_exact_on_c_return, true},
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

static bool set_profile(profile_fn function)
{
	void (*set)(profile_fn, fah_object *) =
		(void (*)(profile_fn, fah_object *))(uintptr_t)fah_global("PyEval_SetProfile");

	if (set)
		set(function, NULL);
	return set != NULL;
}

bool fah_exact_listen(bool on)
{
	if (fah_exacting.tool < 0)
		return set_profile(on ? fah_exact_on_profile : NULL);
	return fah_monitoring_call("set_events", fah_exacting.tool, on ? all_events : 0, NULL);
}

void fah_exact_note(const char *text)
{
	struct fah_segment_head *head = fah_segment_head();
	size_t n = strlen(text);

	if (head && !head->reason[0] && n < sizeof(head->reason))
		memcpy(head->reason, text, n + 1);
}

/* A tool of sys.monitoring, with our callbacks; events do not come yet. */
static bool take_tool(void)
{
	long event;

	fah_exacting.tool = fah_monitoring_take_tool();
	if (fah_exacting.tool < 0)
		return false;
	all_events = 0;
	for (size_t i = 0; i < EVENTS; i++) {
		event = fah_monitoring_event(events[i].name);
		if (!event ||
		    !fah_monitoring_listen_directly(fah_exacting.tool, event, events[i].callback)) {
			fah_monitoring_leave(fah_exacting.tool);
			return false;
		}
		if (!events[i].ancillary)
			all_events |= event;
	}
	return true;
}

void fah_exact_move(long number)
{
	if (fah_exacting.tool != number)
		return;
	/* first another one: the one that is wanted would come first again */
	if (!take_tool()) {
		fah_exacting.tool = number;
		fah_exact_note("the program's own tools took all numbers of sys.monitoring: calls "
			       "after that were not told");
		fah_exact_end();
	}
	fah_monitoring_leave(number);
	if (fah_exacting.tool != number)
		fah_exact_listen(true);
}

/* A mark before the function says that there is one: in the state itself, or where that leads to.
 * What it is set to where there is one. */
static uint8_t *mark_of(uint8_t *state)
{
	uint8_t *before = state + profile_at - 8;

	return fah_agent.python_version < 0x030a0000 ? before : *(uint8_t **)(void *)before;
}

static uint8_t mark_set(void)
{
	return fah_agent.python_version < 0x030b0000 ? 1 : 255;
}

/* The thread's state has the function that was just set. */
static void find_profile(void)
{
	uint8_t *state = fah_py.thread ? fah_py.thread() : NULL;

	profile_at = 0;
	for (size_t at = 16; state && at < 512 && !profile_at; at += 8)
		if (*(const uint64_t *)(const void *)(state + at) ==
		    (uint64_t)(uintptr_t)fah_exact_on_profile)
			profile_at = at;
	if (profile_at && *mark_of(state) != mark_set())
		profile_at = 0; /* not as we know it: then other threads are not told of */
}

void fah_exact_other_threads(void)
{
	static uint8_t *(*first)(void *), *(*next)(void *);
	uint8_t *state;

	if (!first) {
		first = (uint8_t *
			 (*)(void *))(uintptr_t)fah_global("PyInterpreterState_ThreadHead");
		next = (uint8_t * (*)(void *))(uintptr_t)fah_global("PyThreadState_Next");
	}
	if (!profile_at || !first || !next || fah_exacting.tool >= 0)
		return;
	for (state = first(fah_py.main_interpreter()); state; state = next(state)) {
		uint64_t *function = (uint64_t *)(void *)(state + profile_at);

		/* not one that has its own, nor one that is being made */
		if (*function)
			continue;
		*function = (uint64_t)(uintptr_t)fah_exact_on_profile;
		*mark_of(state) = mark_set(); /* an int before 3.11: it is 0, and little-endian */
	}
}

bool fah_exact_attend(void)
{
	bool closed = fah_segment_head() && fah_segment_closed();

	if (atomic_load(&fah_exacting.on) && fah_exacting.forked && fah_exacting.children &&
	    !closed) {
		fah_exacting.forked = false;
		atomic_store(&fah_exacting.attention, false);
		fah_exact_start_anew();
		return true;
	}
	/* nobody wants it any more */
	if (atomic_exchange(&fah_exacting.on, false) || fah_exacting.forked) {
		fah_exacting.forked = false;
		fah_exact_listen(false);
		if (fah_exacting.tool >= 0)
			fah_monitoring_leave(fah_exacting.tool);
	}
	return false;
}

void fah_exact_forked(void)
{
	if (!atomic_load(&fah_exacting.on))
		return;
	fah_exacting.forked = true;
	atomic_store(&fah_exacting.attention, true);
}

void fah_exact_start(void)
{
	fah_exacting.tool = -1;
	if (!wanted() || !fah_pyapi_load() || !fah_event_writer_setup())
		return;
	fah_event_clock_start();
	if (fah_agent.python_version >= 0x030c0000 && !take_tool()) {
		fah_exact_note("no number of sys.monitoring was free: no call was told");
		return;
	}
	if (!fah_exact_events_setup()) {
		fah_exact_note("this interpreter does not tell of calls");
		return;
	}
	if (fah_exacting.tool >= 0)
		fah_exact_sites_setup();
	fah_exacting.second = SECOND_NS; /* or so, until it is known better */
	fah_exact_measure();
	fah_exacting.second = (int64_t)(SECOND_NS / fah_event_ns_a_tick());
	atomic_store(&fah_exacting.on, true);
	if (!fah_exact_listen(true))
		atomic_store(&fah_exacting.on, false);
	else if (fah_exacting.tool < 0)
		find_profile();
}
