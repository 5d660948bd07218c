/*
 * sample.c - one sample: whose stack, where the CPU was, and into the chunk. Runs in the signal
 * handler.
 *
 * All signals are blocked meanwhile. Every load of the program's memory goes through the kernel
 * (core/load.h); what cannot be proved is dropped and counted, with the CPU time it stood for.
 */
#include "agent/count.h"
#include "agent/exact.h"
#include "agent/heap.h"
#include "agent/lines.h"
#include "agent/stack.h"
#include "core/arch.h"
#include "core/sys.h"
#include "core/varint.h"

#include <string.h>
#include <ucontext.h>

#define DROP_MAX (4 * FAH_VARINT_MAX)

/* What a sample was taken by. Two clocks: see timers.c. */
struct came {
	enum {
		BY_EVENT, /* perf's clock, or that of the tests */
		BY_TICK,
		BY_USER_EVENT,	/* of two: outside of the kernel */
		BY_KERNEL_TICK, /* of two: inside */
		BY_NEITHER,	/* of two: the clock that does not count where the thread was */
	} by;
	struct fah_ticks ticks; /* BY_TICK */
	uint64_t kernel_ns;	/* BY_KERNEL_TICK: what it stands for */
	uint64_t cpu_ns;	/* of its thread; the sample may account for less */
};

static void count_drop(enum fah_drop reason)
{
	struct fah_segment_head *head = fah_segment_head();

	if (head)
		atomic_fetch_add_explicit(&head->drops[reason], 1, memory_order_relaxed);
}

static uint8_t *put_times(struct fah_thread_state *t, uint8_t *p, uint64_t mono, uint64_t cpu)
{
	p = fah_put_varint(p, mono - t->chunk_time_ns);
	return fah_put_varint(p, cpu > t->last_cpu_ns ? cpu - t->last_cpu_ns : 0);
}

static void times_written(struct fah_thread_state *t, uint64_t mono, uint64_t cpu)
{
	t->chunk_time_ns = mono;
	t->last_cpu_ns = cpu;
}

static void write_drop(struct fah_thread_state *t, uint64_t mono, uint64_t cpu,
		       enum fah_drop reason)
{
	uint8_t *p = reason == FAH_DROP_NO_ROOM ? NULL : fah_record_begin(t, DROP_MAX);

	count_drop(p ? reason : FAH_DROP_NO_ROOM);
	if (!p) {
		return; /* its CPU time goes to the next record of this thread */
	}
	p = put_times(t, p, mono, cpu);
	p = fah_put_varint(p, reason);
	times_written(t, mono, cpu);
	fah_record_commit(t, FAH_SEG_DROP, p);
}

void fah_sample_thread_end(struct fah_thread_state *t, uint64_t cpu)
{
	uint64_t mono = fah_now_mono();
	uint8_t *p;

	if (fah_segment_closed() || atomic_load(&t->busy))
		return;
	/* not in a handler: a signal of the timer may still come in between */
	atomic_store(&t->busy, true);
	p = fah_record_begin(t, DROP_MAX);
	if (p) {
		p = put_times(t, p, mono, cpu);
		p = fah_put_varint(p, cpu);
		times_written(t, mono, cpu);
		fah_record_commit(t, FAH_SEG_THREAD_END, p);
	}
	atomic_store(&t->busy, false);
}

/* The interrupted instruction follows a system call, or is one that is made again: the signal came
 * while the kernel was at work. */
static bool in_kernel(struct fah_thread_state *t, uint64_t pc, enum fah_code_owner owner)
{
	uint8_t insn[2 * FAH_ARCH_SYSCALL_INSN_LEN];
	const uint8_t *at = insn;

	/* code that stays mapped, and never starts with this very byte; it may end with it */
	if (owner != FAH_CODE_OTHER && pc % 4096 != 4095)
		at = (const uint8_t *)(uintptr_t)pc - FAH_ARCH_SYSCALL_INSN_LEN;
	else if (fah_load(&t->ahead.mem, pc - FAH_ARCH_SYSCALL_INSN_LEN, insn, sizeof(insn)) < 0)
		return false;
	return fah_arch_is_syscall(at) || fah_arch_is_syscall(at + FAH_ARCH_SYSCALL_INSN_LEN);
}

static uint32_t where(struct fah_thread_state *t, uint64_t pc, struct fah_usage *use,
		      uint64_t cpu_ns)
{
	enum fah_code_owner owner = fah_modules_owner(pc);
	uint32_t part;

	if (use->by_sum && in_kernel(t, pc, owner))
		fah_usage_all_system(t, cpu_ns, use);
	part = use->system_ns ? FAH_SAMPLE_SYSTEM_PART : 0;
	if (use->known ? part && use->system_ns == cpu_ns : in_kernel(t, pc, owner))
		return FAH_IN_SYSTEM;
	/* made by the interpreter of Python code, whatever instruction its frame was left at */
	if (t->walk.n_frames && fah_py_in_jit(&t->walk, pc))
		return FAH_IN_PYTHON | part;
	if (!t->walk.n_frames || t->walk.leaf_call || owner == FAH_CODE_OTHER)
		return FAH_IN_NATIVE | part;
	return FAH_IN_PYTHON | part;
}

static void write_sample(struct fah_thread_state *t, uint64_t mono, uint64_t cpu,
			 uint64_t system_ns, uint32_t flags)
{
	uint8_t *p = fah_record_begin(t, fah_stack_size(t) + 5 * FAH_VARINT_MAX);

	if (!p) {
		write_drop(t, mono, cpu, FAH_DROP_NO_ROOM);
		return;
	}
	p = put_times(t, p, mono, cpu);
	p = fah_put_varint(p, flags);
	if (flags & FAH_SAMPLE_SYSTEM_PART)
		p = fah_put_varint(p, system_ns);
	p = fah_stack_put(t, p);
	times_written(t, mono, cpu);
	fah_record_commit(t, FAH_SEG_SAMPLE, p);
}

/* The kernel's part of a sample's CPU, where its clock says more than the sum that it adds to. */
static void by_clock(struct fah_thread_state *t, const struct came *came, uint64_t cpu_ns,
		     struct fah_usage *use)
{
	if (came->by == BY_EVENT)
		return;
	use->by_sum = false;
	t->owed_system_ns = 0;
	use->system_ns = 0;
	if (came->by == BY_KERNEL_TICK)
		use->system_ns = cpu_ns;
	if (came->by == BY_TICK && came->ticks.all_ns)
		use->system_ns = (uint64_t)((double)cpu_ns * (double)came->ticks.system_ns /
					    (double)came->ticks.all_ns);
}

/*
 * When the thread had used the CPU that the sample accounts for: its time is that of the CPU, or
 * what it wanted of a core would go to whichever sample was the next. *ret_late: no, for a record
 * of another kind stands in the chunk already, and times there do not go back.
 */
static uint64_t reached(struct fah_thread_state *t, uint64_t upto, bool *ret_late)
{
	uint64_t then = fah_when_used(&t->when, upto);

	if (then < t->time_ns)
		then = t->time_ns;
	t->time_ns = then;
	*ret_late = then < t->chunk_time_ns;
	return *ret_late ? t->chunk_time_ns : then;
}

static void take(struct fah_thread_state *t, const ucontext_t *uc, uint64_t mono, uint64_t cpu,
		 const struct came *came)
{
	uint64_t regs[FAH_STACK_REGISTERS];
	struct fah_py_who who = fah_stack_who(t, uc, regs);
	struct fah_segment_head *head;
	enum fah_drop drop;
	uint64_t since = cpu > t->last_cpu_ns ? cpu - t->last_cpu_ns : 0;
	struct fah_usage use;
	uint64_t own;
	uint32_t flags;
	bool late;

	fah_ahead_begin(&t->ahead);
	fah_usage_since(t, since, &use);
	if (use.known)
		by_clock(t, came, since, &use);
	fah_when_add(&t->when, mono, came->cpu_ns, use.blocked);
	t->real_cpu_ns = came->cpu_ns;
	mono = reached(t, cpu, &late);
	/* up to the time that it is given: one that was late claimed seconds of waiting in between
	 */
	flags = fah_when_ran_on(&t->when, t->last_cpu_ns, late ? came->cpu_ns : cpu)
			? FAH_SAMPLE_RAN_ON
			: 0;
	if (!fah_stack_look(t, &who, &flags, &drop)) {
		write_drop(t, mono, cpu, drop);
		return;
	}
	flags |= where(t, who.pc, &use, since);
	/* What the handler took belongs to its own sample: left to the next one, a function with
	 * deep stacks gives some of it away each time it ends. */
	own = fah_now_thread_cpu() - came->cpu_ns;
	write_sample(t, mono + own, cpu + own, use.system_ns, flags);
	head = fah_segment_head();
	atomic_fetch_add_explicit(&head->samples, 1, memory_order_relaxed);
	if (t->walk.recovered)
		atomic_fetch_add_explicit(&head->recovered, 1, memory_order_relaxed);
}

static struct came by_which(struct fah_thread_state *t, struct fah_timer *timer, bool outer)
{
	bool both = fah_timer_has_both(timer);
	struct came came = {.by = both ? BY_USER_EVENT : BY_EVENT};

	if (outer || fah_agent.clock == FAH_CLOCK_TEST)
		return came;
	fah_usage_tick(t, &came.ticks);
	came.by = !both ? BY_TICK : BY_NEITHER;
	if (both && fah_timer_in_kernel(timer, &came.ticks, &came.kernel_ns))
		came.by = BY_KERNEL_TICK;
	return came;
}

/* What ticks say that the sample stands for; 0: it was not by them. */
static uint64_t stands_for(struct fah_timer *timer, const struct came *came)
{
	return came->by == BY_TICK	    ? fah_timer_of_ticks(timer, came->ticks.all_ns)
	       : came->by == BY_KERNEL_TICK ? came->kernel_ns
					    : 0;
}

static void take_in_turn(struct fah_thread_state *t, const ucontext_t *uc, uint64_t mono,
			 bool outer)
{
	struct fah_timer *timer;
	uint64_t cpu, since, upto, own;
	struct came came;

	/* a fork's child makes its own segment at its first sample */
	if (!fah_segment_head() && fah_segment_start() < 0)
		return; /* no room, or another thread is at it: the CPU goes to the next sample */
	if (atomic_load(&t->busy)) {
		count_drop(FAH_DROP_NESTED);
		return;
	}
	timer = fah_thread_timer();
	cpu = fah_now_thread_cpu();
	came = by_which(t, timer, outer);
	if (came.by == BY_NEITHER) {
		fah_timer_beside(timer, cpu);
		fah_cost_no_sample(fah_now_thread_cpu() - cpu);
		return;
	}
	/* of two clocks, the time since the last of either says nothing of when this was due */
	since = t->real_cpu_ns ? t->real_cpu_ns : t->last_cpu_ns;
	if (came.by == BY_USER_EVENT)
		since = timer->event_ns;
	since = cpu > since ? cpu - since : 0;
	if (came.by != BY_KERNEL_TICK && fah_timer_too_early(timer, since))
		return;
	if (came.by == BY_EVENT || came.by == BY_TICK)
		fah_cost_gap(timer, since);
	fah_native_walk(t, uc);
	upto = fah_timer_account(timer, t->last_cpu_ns, cpu, stands_for(timer, &came));
	came.cpu_ns = cpu;
	take(t, uc, mono, upto, &came);
	fah_count_tick(t);
	fah_lines_tick(t);
	fah_heap_tick(t);
	own = fah_now_thread_cpu() - cpu;
	fah_timer_handled(timer, !outer, own);
	fah_exact_tick((uint64_t)uc->uc_mcontext.gregs[REG_RIP], since, own);
	fah_cost_note(timer, own + (outer ? fah_cost_of_event() : 0));
}

struct turn {
	struct fah_thread_state *t;
	const ucontext_t *uc;
	uint64_t mono;
	bool outer;
};

static void take_turn(void *arg)
{
	const struct turn *turn = arg;

	take_in_turn(turn->t, turn->uc, turn->mono, turn->outer);
}

static void take_on_own_stack(struct turn *turn)
{
	/* no timer: a thread that has all but ended */
	turn->t = turn->outer && !fah_thread_timer() ? NULL : fah_thread_current();
	if (turn->t)
		fah_arch_call_on(turn->t->stack + sizeof(turn->t->stack), take_turn, turn);
	else if (!turn->outer)
		count_drop(FAH_DROP_NO_ROOM);
}

/* Which clock it was. False: one that this thread has no more. */
static bool came_from(struct fah_timer *timer, bool outer)
{
	if (!timer)
		return true;
	if (outer)
		return fah_timer_taken_over(timer);
	fah_timer_came(timer);
	return true;
}

void fah_sample_take(void *ucontext, bool outer)
{
	struct turn turn = {NULL, ucontext, fah_now_mono(), outer};

	/* not active: no system call from here on, the program may have forbidden them */
	if (!fah_writing_begin())
		return;
	/* a child made by a bare clone has our memory but is not ours to record */
	if (atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid)) {
		if (fah_segment_closed()) {
			if (fah_thread_timer())
				fah_timer_off(fah_thread_timer());
		} else if (came_from(fah_thread_timer(), outer)) {
			take_on_own_stack(&turn);
		}
	}
	fah_writing_end();
}
