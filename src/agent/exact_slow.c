/*
 * exact_slow.c - before 3.12 the interpreter takes longer for each instruction while it tells of
 * calls, most of all 3.11, which then uses none of its specialised ones. Nobody counts
 * instructions; but samples say how long a thread was in the evaluation loop, and of that the part
 * is taken off that a loop of ours took longer (exact_measure.c). It goes the way of what telling
 * costs: off the call that runs, its callers and the thread.
 */
#include "agent/exact.h"

static uint64_t eval_start, eval_end;
static double part; /* of the time there */
static double ticks_a_ns;

void fah_exact_slow_start(double slower)
{
	ticks_a_ns = 1 / fah_event_ns_a_tick();
	part = fah_exacting.raw ||
			       !fah_symbol_range("_PyEval_EvalFrameDefault", &eval_start, &eval_end)
		       ? 0
		       : slower;
}

void fah_exact_tick(uint64_t pc, uint64_t cpu_ns, uint64_t own_ns)
{
	struct fah_exact_thread *t = fah_exact_mine;
	double ns = (double)own_ns;

	if (!t || fah_exacting.raw || !atomic_load_explicit(&fah_exacting.on, memory_order_relaxed))
		return;
	if (pc - eval_start < eval_end - eval_start)
		ns += part * (double)cpu_ns;
	atomic_fetch_add_explicit(&t->slowed, (int64_t)(ns * ticks_a_ns), memory_order_relaxed);
}
