/*
 * words.c - the numbers of a capture in words.
 */
#include "capture/words.h"

#include "core/segment.h"

#include <stddef.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *pick(const char *const *words, size_t n, uint32_t i)
{
	return i < n && words[i] ? words[i] : "unknown";
}

const char *fah_drop_words(uint32_t reason)
{
	static const char *const words[] = {
		[FAH_DROP_FAULT] = "a pointer of the stack led nowhere",
		[FAH_DROP_FRAME] = "a frame that could not be proved",
		[FAH_DROP_CODE] = "a code object that could not be proved",
		[FAH_DROP_LOOP] = "a stack without end",
		[FAH_DROP_MOVED] = "the thread ran on while its stack was read",
		[FAH_DROP_NO_ROOM] = "no room: the disk was full or the collector late",
		[FAH_DROP_NESTED] = "the clock came again while a sample was taken",
		[FAH_DROP_NO_STATE] = "the thread's Python state was not found",
	};
	_Static_assert(COUNT(words) == FAH_DROP_COUNT, "a drop without words");

	return pick(words, COUNT(words), reason);
}

const char *fah_clock_words(uint32_t clock)
{
	static const char *const words[] = {
		[FAH_CLOCK_THREAD_CPU] = "each thread's CPU time, bound to the kernel's tick",
		[FAH_CLOCK_TEST] = "monotonic timers, for tests only",
		[FAH_CLOCK_PERF] = "each thread's CPU time, by perf's task-clock",
		[FAH_CLOCK_BOTH] = "each thread's CPU time, by perf's task-clock; in the kernel by "
				   "its tick",
	};

	return pick(words, COUNT(words), clock);
}

const char *fah_status_words(uint32_t status)
{
	static const char *const words[] = {
		[FAH_AGENT_STARTING] = "ended before Python was ready",
		[FAH_AGENT_RUNNING] = "killed, or replaced by another program",
		[FAH_AGENT_REFUSED] = "not recorded",
		[FAH_AGENT_ENDED] = "ended in an orderly way",
		[FAH_AGENT_STOPPED] = "recorded in part",
		[FAH_AGENT_WENT_ON] = "running when the recording ended",
	};

	return pick(words, COUNT(words), status);
}

const char *fah_where_words(uint32_t flags)
{
	static const char *const words[] = {
		[FAH_IN_PYTHON] = "python",
		[FAH_IN_NATIVE] = "native",
		[FAH_IN_SYSTEM] = "system",
	};

	return pick(words, COUNT(words), flags & FAH_IN_MASK);
}

const char *fah_memory_words(uint32_t kind)
{
	static const char *const words[] = {
		[FAH_MEMORY_PYTHON] = "python",
		[FAH_MEMORY_NATIVE] = "native",
		[FAH_MEMORY_MAPPED] = "mapped",
	};
	_Static_assert(COUNT(words) == FAH_MEMORY_COUNT, "a kind without words");

	return pick(words, COUNT(words), kind);
}

const char *fah_wait_words(uint32_t reason)
{
	static const char *const words[] = {
		[FAH_WAIT_UNKNOWN] = "unknown",	  [FAH_WAIT_GIL] = "GIL",
		[FAH_WAIT_LOCK] = "lock",	  [FAH_WAIT_SLEEP] = "sleep",
		[FAH_WAIT_DISK] = "disk",	  [FAH_WAIT_SOCKET] = "socket",
		[FAH_WAIT_PIPE] = "pipe",	  [FAH_WAIT_CHILD] = "child process",
		[FAH_WAIT_TERMINAL] = "terminal",
	};
	_Static_assert(COUNT(words) == FAH_WAIT_COUNT, "a reason without words");

	return pick(words, COUNT(words), reason);
}

const char *fah_native_stop_words(uint32_t stop)
{
	/* in the order of enum fah_unwind_stop, which this folder may not see */
	static const char *const words[] = {
		"whole",
		"too long",
		"in unknown code",
		"code without a rule",
		"a register not known",
		"a rule that leads astray",
		"unreadable",
	};

	return pick(words, COUNT(words), stop);
}

const char *fah_stopped_words(const char *stopped_by)
{
	if (!strcmp(stopped_by, "duration"))
		return "--duration";
	return !strcmp(stopped_by, "interrupt") ? "an interrupt" : "something unknown";
}

const char *fah_stopped_then(const char *kill)
{
	return kill ? "was ended then, by --kill" : "went on";
}
