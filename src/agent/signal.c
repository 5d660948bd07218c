/*
 * signal.c - our handler on SIGURG, and the program's own SIGURG handler behind it.
 *
 * sigaction() and its relatives for that one signal are answered from a copy, so the program sees
 * and gets what it would without us: its handler runs with its own flags and mask, and interrupts
 * what it would interrupt. Everything else passes through. No lock: sigaction() may be called in a
 * handler, and a handler may come while another thread is inside it.
 */
#include "agent/agent.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <ucontext.h>

#define RESTORER 0x04000000 /* the kernel's flag for sa_restorer, which libc adds by itself */
#define MASK_BIT (1ull << (FAH_SIGNAL - 1))
#define N_SLOTS 64u

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);
typedef void (*handler_fn)(int);
typedef handler_fn (*signal_fn)(int, handler_fn);
typedef int (*interrupt_fn)(int, int);

/* What the kernel knows of an action. */
struct action {
	uintptr_t handler, restorer;
	uint64_t mask;
	int flags;
};

/*
 * Actions are written to a slot that nobody reads and then made current in one store. `current` is
 * (number of the change) * N_SLOTS + slot: a reader that finds it unchanged after its copy has a
 * whole one.
 */
static struct slot {
	_Atomic bool used;
	_Atomic uintptr_t handler, restorer;
	_Atomic uint64_t mask;
	_Atomic int flags;
} slots[N_SLOTS];
static _Atomic uint64_t current;
static _Atomic bool installed;
static _Atomic bool interrupts;	   /* siginterrupt(SIGURG, 1): what signal() sets then */
static _Atomic uint32_t ignoring;  /* threads that make a child which is to ignore SIGURG */
static _Atomic uintptr_t restorer; /* libc's own; 0: not shown by this libc */

static sigaction_fn real_sigaction(void)
{
	return (sigaction_fn)(uintptr_t)fah_real("sigaction");
}

static bool has_handler(const struct action *a)
{
	return a->handler != (uintptr_t)SIG_DFL && a->handler != (uintptr_t)SIG_IGN;
}

/* The program's action; returns `current` as it was. */
static uint64_t read_action(struct action *ret)
{
	uint64_t before = atomic_load(&current), after;

	for (;; before = after) {
		const struct slot *s = &slots[before % N_SLOTS];

		ret->handler = atomic_load(&s->handler);
		ret->restorer = atomic_load(&s->restorer);
		ret->mask = atomic_load(&s->mask);
		ret->flags = atomic_load(&s->flags);
		after = atomic_load(&current);
		if (after == before)
			return before;
	}
}

/* Makes a current if `from` still is. False: it is not, or no slot is free. */
static bool replace_action(uint64_t from, const struct action *a)
{
	for (uint32_t i = 0; i < N_SLOTS; i++) {
		struct slot *s = &slots[i];
		bool expected = false;

		if (!atomic_compare_exchange_strong(&s->used, &expected, true))
			continue;
		atomic_store(&s->handler, a->handler);
		atomic_store(&s->restorer, a->restorer);
		atomic_store(&s->mask, a->mask);
		atomic_store(&s->flags, a->flags);
		if (atomic_compare_exchange_strong(&current, &from,
						   (from / N_SLOTS + 1) * N_SLOTS + i)) {
			atomic_store(&slots[from % N_SLOTS].used, false);
			return true;
		}
		atomic_store(&s->used, false);
		return false;
	}
	return false;
}

static void to_action(struct action *ret, const struct sigaction *act)
{
	ret->handler = (uintptr_t)act->sa_handler;
	ret->flags = act->sa_flags | (atomic_load(&restorer) ? RESTORER : 0);
	ret->restorer = atomic_load(&restorer);
	memcpy(&ret->mask, &act->sa_mask, 8);
	ret->mask &= ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)); /* as the kernel does */
}

/* Only as much of the mask as the kernel has: libc leaves the rest as it was, too. */
static void from_action(struct sigaction *ret, const struct action *a)
{
	ret->sa_handler = (handler_fn)a->handler;
	ret->sa_flags = a->flags;
	ret->sa_restorer = (void (*)(void))a->restorer;
	memcpy(&ret->sa_mask, &a->mask, 8);
}

/* System calls that SA_RESTART starts again and its absence ends with EINTR. */
static bool may_be_interrupted(const greg_t *regs)
{
	switch (regs[REG_RAX]) {
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_open:
	case SYS_openat:
	case SYS_ioctl:
	case SYS_fcntl:
	case SYS_flock:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmsg:
	case SYS_recvmsg:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_tee:
	case SYS_vmsplice:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
	case SYS_getrandom:
		return true;
	case SYS_futex: /* FUTEX_WAIT, FUTEX_WAIT_BITSET: the others are started again always */
		return (regs[REG_RSI] & 0x7f) == 0 || (regs[REG_RSI] & 0x7f) == 9;
	default:
		return false;
	}
}

/*
 * Our action has SA_RESTART, for the timers' sake; where the program's has not, what this signal
 * interrupted ends with EINTR. The kernel has set pc back to the call. That the call had been
 * begun shows in rcx, where the instruction leaves the address behind it.
 */
static void interrupt_call(ucontext_t *uc)
{
	greg_t *regs = uc->uc_mcontext.gregs;
	uint8_t insn[FAH_ARCH_SYSCALL_INSN_LEN];
	uint64_t pc = (uint64_t)regs[REG_RIP];

	if (!may_be_interrupted(regs) || (uint64_t)regs[REG_RCX] != pc + sizeof(insn) ||
	    fah_load(&fah_mem_self, pc, insn, sizeof(insn)) < 0 || !fah_arch_is_syscall(insn))
		return;
	regs[REG_RIP] += (greg_t)sizeof(insn);
	regs[REG_RAX] = -EINTR;
}

/* A signal that is not ours: as the kernel would have handed it to the program. */
static void chain(int sig, siginfo_t *si, ucontext_t *uc)
{
	struct action a, once;
	uint64_t at, mask;

	do {
		at = read_action(&a);
		once = a;
		once.handler = (uintptr_t)SIG_DFL;
	} while (has_handler(&a) && a.flags & (int)SA_RESETHAND && !replace_action(at, &once));
	if (!has_handler(&a))
		return;
	if (!(a.flags & SA_RESTART))
		interrupt_call(uc);
	memcpy(&mask, &uc->uc_sigmask, 8);
	mask |= a.mask | (a.flags & SA_NODEFER ? 0 : MASK_BIT);
	FAH_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
	if (a.flags & SA_SIGINFO)
		((void (*)(int, siginfo_t *, void *))a.handler)(sig, si, uc);
	else
		((handler_fn)a.handler)(sig);
}

/* An event comes as a descriptor that is ready, the collector's. A program may have SIGURG sent for
 * descriptors of its own: then it has one of that number, which says so. */
static bool is_event(const siginfo_t *si)
{
	return fah_clock_has_events(fah_agent.clock) && si->si_code >= POLL_IN &&
	       si->si_code <= POLL_HUP && FAH_SYS3(SYS_fcntl, si->si_fd, F_GETSIG, 0) != FAH_SIGNAL;
}

static void on_signal(int sig, siginfo_t *si, void *uc)
{
	if (si->si_code == SI_TIMER && si->si_value.sival_ptr == &fah_agent)
		fah_sample_take(uc, false);
	else if (is_event(si))
		fah_sample_take(uc, true);
	else
		chain(sig, si, uc);
}

/* The kernel's action, by the program's: on which stack handlers run is its choice. */
static int set_ours(void)
{
	struct sigaction ours;
	struct action a;
	uint64_t at;
	int err;

	do {
		at = read_action(&a);
		memset(&ours, 0, sizeof(ours));
		ours.sa_sigaction = on_signal;
		/* All signals blocked meanwhile: a handler that jumps away must not leave ours half
		 * done. Without a handler of the program's an alternate stack is used where there
		 * is one: code that has set one up may be short of the other. */
		ours.sa_flags = SA_SIGINFO | SA_RESTART |
				(has_handler(&a) ? a.flags & SA_ONSTACK : SA_ONSTACK);
		sigfillset(&ours.sa_mask);
		err = real_sigaction()(FAH_SIGNAL, &ours, NULL);
	} while (at != atomic_load(&current));
	return err < 0 ? FAH_ERR_SYS : 0;
}

int fah_signal_install(void)
{
	struct sigaction now;
	struct action a;

	if (!real_sigaction() || real_sigaction()(FAH_SIGNAL, NULL, &now) < 0)
		return FAH_ERR_SYS;
	to_action(&a, &now);
	a.restorer = (uintptr_t)now.sa_restorer;
	atomic_store(&slots[atomic_load(&current) % N_SLOTS].used, true);
	while (!replace_action(atomic_load(&current), &a))
		;
	if (set_ours() < 0)
		return FAH_ERR_SYS;
	memset(&now, 0, sizeof(now));
	if (real_sigaction()(FAH_SIGNAL, NULL, &now) == 0 && now.sa_flags & RESTORER)
		atomic_store(&restorer, (uintptr_t)now.sa_restorer);
	atomic_store(&installed, true);
	return 0;
}

void fah_signal_remove(void)
{
	struct sigaction theirs;
	struct action a;

	if (!atomic_exchange(&installed, false))
		return;
	read_action(&a);
	memset(&theirs, 0, sizeof(theirs));
	from_action(&theirs, &a);
	real_sigaction()(FAH_SIGNAL, &theirs, NULL);
}

static bool is_own_process(void)
{
	return atomic_load(&fah_agent.pid) == (uint32_t)FAH_SYS0(SYS_getpid);
}

/*
 * A program that ignores SIGURG hands that on to its children; our handler would become the default
 * in them. So it is ignored in earnest while a child is made, and samples with it. A vfork's child
 * has actions of its own, but our memory is its parent's.
 */
bool fah_signal_ignore_for_child(void)
{
	struct sigaction ignore;
	struct action a;

	if (!atomic_load(&installed))
		return false;
	read_action(&a);
	if (a.handler != (uintptr_t)SIG_IGN)
		return false;
	if (is_own_process())
		atomic_fetch_add(&ignoring, 1);
	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	real_sigaction()(FAH_SIGNAL, &ignore, NULL);
	return true;
}

void fah_signal_back(bool ignored)
{
	if (ignored && (!is_own_process() || atomic_fetch_sub(&ignoring, 1) == 1))
		set_ours();
}

FAH_AGENT_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct action now, next;
	uint64_t at;

	if (sig != FAH_SIGNAL || !atomic_load(&installed) || !is_own_process()) {
		if (!real_sigaction()) {
			errno = ENOSYS;
			return -1;
		}
		return real_sigaction()(sig, act, old);
	}
	if (act)
		to_action(&next, act); /* before *old: they may be the same object */
	do
		at = read_action(&now);
	while (act && !replace_action(at, &next));
	if (old)
		from_action(old, &now);
	if (act && !atomic_load(&ignoring))
		set_ours();
	return 0;
}

static handler_fn set_handler(handler_fn handler, int flags, bool block_itself)
{
	struct sigaction act, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memset(&act, 0, sizeof(act));
	act.sa_handler = handler;
	act.sa_flags = flags;
	if (block_itself)
		sigaddset(&act.sa_mask, FAH_SIGNAL);
	return sigaction(FAH_SIGNAL, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static handler_fn pass_signal(const char *name, int sig, handler_fn handler)
{
	signal_fn real = (signal_fn)(uintptr_t)fah_real(name);

	if (!real) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	return real(sig, handler);
}

FAH_AGENT_EXPORT handler_fn signal(int sig, handler_fn handler)
{
	if (sig != FAH_SIGNAL || !atomic_load(&installed))
		return pass_signal("signal", sig, handler);
	return set_handler(handler, atomic_load(&interrupts) ? 0 : SA_RESTART, true);
}

/* What signal() is in a program built for strict C. */
FAH_AGENT_EXPORT handler_fn __sysv_signal(int sig, handler_fn handler)
{
	if (sig != FAH_SIGNAL || !atomic_load(&installed))
		return pass_signal("__sysv_signal", sig, handler);
	return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

FAH_AGENT_EXPORT int siginterrupt(int sig, int on)
{
	interrupt_fn real = (interrupt_fn)(uintptr_t)fah_real("siginterrupt");
	struct sigaction act;

	if (sig != FAH_SIGNAL || !atomic_load(&installed)) {
		if (real)
			return real(sig, on);
		errno = ENOSYS;
		return -1;
	}
	memset(&act, 0, sizeof(act));
	sigaction(sig, NULL, &act);
	act.sa_flags = on ? act.sa_flags & ~SA_RESTART : act.sa_flags | SA_RESTART;
	atomic_store(&interrupts, on != 0);
	return sigaction(sig, &act, NULL);
}
