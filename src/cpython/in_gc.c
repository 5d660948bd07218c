/*
 * in_gc.c - is the garbage collector at work in this very moment, called from the innermost frame?
 *
 * `collecting` is the interpreter's: it also stands while a finaliser runs Python code inside the
 * collector, and while another thread runs because that finaliser gave the GIL up. So the C stack
 * decides: going outwards from where the thread is, does a return into the collector come first or
 * one into the evaluation loop (whose place is known from 3.11 on, see walk->c_entry)? The first is
 * the collector's own time; the second is Python code, whoever called it. Runs in the agent's
 * signal handler; the C stack is looked at only while a collection is under way.
 */
#include "core/err.h"
#include "cpython/layout.h"

#define SCAN_BYTES (64u << 10)
#define SCAN_WORDS 128

static bool inside(const struct fah_py_span *span, uint64_t pc)
{
	return pc - span->start < span->end - span->start;
}

/* 1: in the collector, -1: in the evaluation loop, 0: elsewhere. */
static int place(const struct fah_py_gc_code *code, uint64_t pc)
{
	if (inside(&code->eval, pc))
		return -1;
	for (uint32_t i = 0; i < code->n_collect && i < FAH_PY_GC_SPANS; i++)
		if (inside(&code->collect[i], pc))
			return 1;
	return 0;
}

bool fah_py_in_gc(const struct fah_mem *mem, const struct fah_py_layout *layout, uint64_t tstate,
		  const struct fah_py_who *who, const struct fah_py_gc_code *code)
{
	uint64_t words[SCAN_WORDS], at = (who->sp + 7) & ~(uint64_t)7, end = at + SCAN_BYTES;
	bool collecting = false;
	int found;
	size_t n;

	if (code->n_collect == 0 || fah_py_gc_collecting(mem, layout, tstate, &collecting) < 0 ||
	    !collecting)
		return false;
	found = place(code, who->pc);
	if (found != 0)
		return found > 0;
	if (end > who->stack_end)
		end = who->stack_end;
	for (; at + 8 <= end; at += n * 8) {
		n = (end - at) / 8 < SCAN_WORDS ? (size_t)((end - at) / 8) : SCAN_WORDS;
		while (n > 0 && fah_load(mem, at, words, n * 8) < 0)
			n /= 2; /* the stack's end is not known to the byte */
		if (n == 0)
			return false;
		for (size_t i = 0; i < n; i++) {
			found = place(code, words[i]);
			if (found != 0)
				return found > 0;
		}
	}
	return false;
}
