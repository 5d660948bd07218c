/*
 * test_truth.c - our unwinding against libgcc's, from the same registers: at every single
 * instruction of ordinary work (so every prologue, epilogue, stub and odd corner of libc that it
 * passes), and at random moments of work with alloca, deep recursion, callbacks, and handlers on
 * other stacks.
 *
 * No difference is allowed. Where a walk of ours ends early, the reason and the place must be one
 * of those listed in may_stop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "own_modules.h"

#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define DEEP 512
#define TRAP_FLAG 0x100

static const struct fah_unwind_modules *mods;
static struct own_names names;
static struct fah_stack main_stack, stepped_stack;

/* What the handlers found; looked at when the signals are over. */
static volatile struct {
	unsigned compared, frames, differences, early[FAH_UNWIND_STOPS], early_elsewhere;
	unsigned deepest, with_signal;
	uint64_t first_ours[DEEP], first_theirs[DEEP];
	unsigned n_ours, n_theirs, stop;
} found;

struct theirs {
	uint64_t pcs[DEEP + 64];
	int n, skip; /* skip: frames of the handler itself are still being passed */
	uint64_t from;
};

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *arg)
{
	struct theirs *t = arg;
	int exact = 0;
	uint64_t pc = _Unwind_GetIPInfo(context, &exact);

	if (t->skip) {
		if (!exact || pc != t->from)
			return _URC_NO_REASON;
		t->skip = 0;
	}
	if (!pc || t->n == DEEP)
		return _URC_END_OF_STACK;
	t->pcs[t->n++] = pc - !exact;
	return _URC_NO_REASON;
}

/* ld.so's resolver keeps the frame's address in rbx while it looks a symbol up, and rbx is not
 * among what our tables follow. Nothing else may end early. */
static bool may_stop(const struct fah_unwind_result *result)
{
	return result->stop == FAH_UNWIND_NO_REG &&
	       strstr(own_name(mods, &names, result->pc), "/ld-") != NULL;
}

static void compare(const ucontext_t *uc, const struct fah_stack *stack)
{
	static __thread struct theirs theirs;
	static __thread uint64_t ours[DEEP];
	static __thread struct fah_unwind_cache cache;
	struct fah_unwind_result result;
	struct fah_regs regs;
	int n, i;

	theirs = (struct theirs){.skip = 1, .from = (uint64_t)uc->uc_mcontext.gregs[REG_RIP]};
	_Unwind_Backtrace(take, &theirs);
	fah_regs_of_context(&regs, uc->uc_mcontext.gregs);
	n = fah_unwind(mods, &cache, &regs, stack, ours, NULL, DEEP, &result);

	found.compared++;
	found.frames += (unsigned)n;
	found.with_signal += result.signal_frames > 0;
	if (n > (int)found.deepest)
		found.deepest = (unsigned)n;
	for (i = 0; i < n && i < theirs.n && ours[i] == theirs.pcs[i]; i++)
		;
	if (i == n && n == theirs.n && (result.stop == FAH_UNWIND_END || n == DEEP))
		return;
	if (i == n && n < theirs.n && may_stop(&result)) {
		found.early[result.stop]++;
		return;
	}
	/* the innermost frames are on the same side of a gap: libgcc ends there too */
	if (i == n && n == theirs.n && may_stop(&result)) {
		found.early[result.stop]++;
		return;
	}
	if (found.differences++)
		return;
	found.stop = result.stop;
	found.n_ours = (unsigned)n;
	found.n_theirs = (unsigned)theirs.n;
	for (i = 0; i < n; i++)
		found.first_ours[i] = ours[i];
	for (i = 0; i < theirs.n; i++)
		found.first_theirs[i] = theirs.pcs[i];
}

static void report(const char *what)
{
	printf("# %s: %u stacks, %u frames, deepest %u, with a handler %u, early NO_REG %u, "
	       "different "
	       "%u\n",
	       what, found.compared, found.frames, found.deepest, found.with_signal,
	       found.early[FAH_UNWIND_NO_REG], found.differences);
	if (!found.differences)
		return;
	printf("# first difference: ours stopped by %u\n", found.stop);
	for (unsigned i = 0; i < found.n_ours || i < found.n_theirs; i++) {
		uint64_t a = i < found.n_ours ? found.first_ours[i] : 0;
		uint64_t b = i < found.n_theirs ? found.first_theirs[i] : 0;
		const struct fah_unwind_module *m = fah_unwind_modules_find(mods, b ? b : a);

		printf("#   %3u %#14" PRIx64 " %#14" PRIx64 " %s %s+%#" PRIx64 "\n", i, a, b,
		       a == b ? " " : "!", m ? names.path[m->id] : "?",
		       m ? (b ? b : a) - m->base : 0);
	}
}

static void begin(void)
{
	memset((void *)&found, 0, sizeof(found));
}

/* ---- the work ---- */

static volatile double sink;

__attribute__((noinline)) static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

__attribute__((noinline)) static double with_alloca(unsigned n)
{
	volatile char *room = alloca(n % 977 + 1);

	room[0] = (char)n;
	room[n % 977] = 1;
	return n ? with_alloca(n - 1) + room[0] : 1;
}

__attribute__((noinline)) static double many_arguments(int a, double b, int c, double d, int e,
						       int f, int g, int h, double i,
						       struct fah_regs by_copy)
{
	return a + b * c - d + e * f - g + h * i + (double)by_copy.r[3] +
	       (a > 0 ? many_arguments(a - 1, b, c, d, e, f, g, h, i, by_copy) : 0);
}

static double (*volatile by_pointer)(unsigned) = with_alloca;

__attribute__((noinline)) static void ordinary_work(unsigned size)
{
	double numbers[64];
	char text[128];
	struct fah_regs regs = {.r = {1, 2, 3}};
	struct timespec t;
	void *block;
	time_t now = 1700000000;
	struct tm tm;

	for (unsigned i = 0; i < size; i++)
		numbers[i % 64] = (double)((i * 7919) % 1009) / 3;
	qsort(numbers, size < 64 ? size : 64, sizeof(numbers[0]), by_value);
	snprintf(text, sizeof(text), "%g %s %d %.17e", numbers[3], "text", 42, numbers[5]);
	sink += strtod(text, NULL);
	block = malloc(size * 37);
	block = realloc(block, size * 101);
	memset(block, 1, size);
	memmove(block, (char *)block + 3, size);
	free(block);
	sink += by_pointer(size % 16);
	sink += many_arguments(3, 1.5, 2, 2.5, 3, 4, 5, 6, 3.5, regs);
	clock_gettime(CLOCK_MONOTONIC, &t);
	sink += pow(numbers[7], 1.7) + sin(numbers[9]) + (double)t.tv_nsec;
	strftime(text, sizeof(text), "%A %H:%M:%S %Z", gmtime_r(&now, &tm));
	sink += (double)strlen(text);
}

/* ---- every instruction ---- */

static volatile sig_atomic_t wanted; /* a trap after every instruction */

static void on_step(int sig, siginfo_t *info, void *context)
{
	long long *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	*flags = wanted ? *flags | TRAP_FLAG : *flags & ~TRAP_FLAG;
	compare(context, &stepped_stack);
}

/* By a signal of our own: no compiler describes what pushf does to the stack. */
static void stepping(bool on)
{
	wanted = on;
	raise(SIGTRAP);
}

static void set_handler(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	sigemptyset(&sa.sa_mask);
	assert_int_equal(sigaction(sig, &sa, NULL), 0);
}

static void test_every_instruction(void **state)
{
	begin();
	stepped_stack = main_stack;
	set_handler(SIGTRAP, on_step, 0);
	stepping(true);
	ordinary_work(40);
	stepping(false);
	signal(SIGTRAP, SIG_DFL);
	report("every instruction");
	assert_int_equal(found.differences, 0);
	assert_true(found.compared > 5000);
	/* the resolver's few hundred are only those of its first calls */
	assert_true(found.early[FAH_UNWIND_NO_REG] < found.compared);
}

/* ---- random moments ---- */

/* As in the agent: the bounds are those of the stack that sp is on. */
static void on_tick(int sig, siginfo_t *info, void *context)
{
	static const struct fah_stack elsewhere = {0, 0, &fah_mem_self};
	uint64_t sp = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];

	compare(context, sp >= main_stack.lo && sp < main_stack.hi ? &main_stack : &elsewhere);
}

/* A handler that works, and is itself interrupted. The kernel ends stepping for it. */
static void on_other(int sig, siginfo_t *info, void *context)
{
	if (wanted)
		raise(SIGTRAP);
	ordinary_work(20);
}

__attribute__((noinline)) static double deep(unsigned n)
{
	if (n == 0) {
		raise(SIGUSR1);
		return 0;
	}
	return deep(n - 1) + 1;
}

static void tick(bool on)
{
	struct itimerval every = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};

	assert_int_equal(setitimer(ITIMER_PROF, &every, NULL), 0);
}

static void work_until(unsigned stacks)
{
	tick(true);
	for (unsigned i = 0; found.compared < stacks && !found.differences; i++) {
		ordinary_work(i % 64 + 8);
		sink += deep(i % 300);
	}
	tick(false);
}

static void test_random_moments(void **state)
{
	begin();
	set_handler(SIGUSR1, on_other, 0);
	set_handler(SIGPROF, on_tick, SA_RESTART);
	work_until(400);
	report("random moments");
	assert_int_equal(found.differences, 0);
	assert_true(found.deepest > 100);
}

/* The interrupted handler runs on an alternate stack: behind its frame the walk comes back. */
static void test_other_stacks(void **state)
{
	static char room[1 << 17];
	stack_t alternate = {.ss_sp = room, .ss_size = sizeof(room)};

	begin();
	assert_int_equal(sigaltstack(&alternate, NULL), 0);
	set_handler(SIGUSR1, on_other, SA_ONSTACK);
	tick(true);
	while (found.with_signal < 100 && !found.differences)
		sink += deep(50);
	tick(false);
	alternate.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&alternate, NULL), 0);
	report("other stacks");
	assert_int_equal(found.differences, 0);
}

/* Every step of a handler, and of what returns from it. */
static void test_every_instruction_of_a_handler(void **state)
{
	begin();
	stepped_stack = main_stack;
	set_handler(SIGUSR1, on_other, 0);
	set_handler(SIGTRAP, on_step, 0);
	stepping(true);
	deep(5);
	stepping(false);
	signal(SIGTRAP, SIG_DFL);
	report("every instruction of a handler");
	assert_int_equal(found.differences, 0);
}

static void *thread(void *arg)
{
	stepped_stack = own_stack((uint64_t)(uintptr_t)__builtin_frame_address(0));
	stepping(true);
	ordinary_work(10);
	stepping(false);
	return NULL;
}

/* The outermost frame of a thread is another than main's. */
static void test_thread(void **state)
{
	pthread_t id;

	begin();
	set_handler(SIGTRAP, on_step, 0);
	assert_int_equal(pthread_create(&id, NULL, thread, NULL), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	signal(SIGTRAP, SIG_DFL);
	report("a thread");
	assert_int_equal(found.differences, 0);
	assert_true(found.compared > 1000);
}

/* The same through loads that trust nothing, as for a stack whose bounds are not known. */
static void test_without_bounds(void **state)
{
	struct fah_stack known = main_stack;

	begin();
	main_stack.lo = main_stack.hi = 0;
	set_handler(SIGUSR1, on_other, 0);
	set_handler(SIGPROF, on_tick, SA_RESTART);
	work_until(100);
	main_stack = known;
	report("without bounds");
	assert_int_equal(found.differences, 0);
}

/* ---- where libgcc can't be the judge ---- */

/*
 * A frame that realigns its stack: what compilers do around wide vectors. gcc's rules for the last
 * two instructions of such a function are wrong, and libgcc dies of them when rbp is no pointer.
 */
__attribute__((noinline, target("avx2"))) static double realigned(unsigned n, const double *from)
{
	typedef double wide __attribute__((vector_size(32)));
	volatile wide v[4] __attribute__((aligned(64)));

	for (unsigned i = 0; i < 4; i++)
		v[i] = (wide){from[i], from[i + 1], from[i + 2], (double)n};
	sink += snprintf((char *)alloca(n + 64), 64, "%g", v[n % 4][1]);
	return v[n % 4][2] + (n ? realigned(n - 1, from) : 0);
}

static uint64_t base_pcs[DEEP];
static int n_base, tail; /* tail: without the test function and what it called */

__attribute__((noinline)) static void realigned_base(const double *numbers)
{
	sink += realigned(3, numbers);
}

static uint64_t base_function;

/* Whatever happens below, the frames from the test function's caller on are the same. */
static void on_step_below(int sig, siginfo_t *info, void *context)
{
	static uint64_t pcs[DEEP];
	ucontext_t *uc = context;
	long long *flags = &uc->uc_mcontext.gregs[REG_EFL];
	struct fah_unwind_result result;
	struct fah_regs regs;
	int n, i, inside = 0;

	*flags = wanted ? *flags | TRAP_FLAG : *flags & ~TRAP_FLAG;
	fah_regs_of_context(&regs, uc->uc_mcontext.gregs);
	n = fah_unwind(mods, NULL, &regs, &main_stack, pcs, NULL, DEEP, &result);
	found.compared++;
	if (!n_base) { /* the first is raised beside the call: raise's own frames are not in it */
		n_base = n;
		memcpy(base_pcs, pcs, sizeof(pcs));
		for (i = 0; i < n && pcs[i] - base_function >= 0x300; i++)
			;
		tail = n - i - 1;
		found.differences += tail < 3;
		return;
	}
	for (i = 0; i < n; i++)
		inside += pcs[i] - (uint64_t)(uintptr_t)realigned < 0x300;
	if (inside > (int)found.deepest)
		found.deepest = (unsigned)inside;
	/* from the end: main's callers, cmocka, the test function */
	for (i = 1; i <= n && i <= tail && pcs[n - i] == base_pcs[n_base - i]; i++)
		;
	if (result.stop != FAH_UNWIND_END || i <= tail)
		found.differences++;
}

static void test_realigned(void **state)
{
	double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	if (!__builtin_cpu_supports("avx2"))
		skip();
	begin();
	n_base = 0;
	base_function = (uint64_t)(uintptr_t)test_realigned;
	set_handler(SIGTRAP, on_step_below, 0);
	raise(SIGTRAP);
	wanted = 1;
	raise(SIGTRAP);
	realigned_base(numbers);
	stepping(false);
	signal(SIGTRAP, SIG_DFL);
	report("realigned frames");
	assert_int_equal(found.differences, 0);
	assert_true(found.deepest >= 4);
}

/*
 * Assembly without unwind information, in the ways of the kernels of numerical libraries: an
 * aligned rsp with the old one in rbx, slots instead of pushes, loops, several returns, rbp as any
 * register. Padded, so that the gap is big enough to be looked at.
 */
__asm__(".text\n.p2align 6\n"
	".type bare_kernel,@function\n.globl bare_kernel\nbare_kernel:\n"
	"subq $0x60,%rsp\nmovq %rbx,(%rsp)\nmovq %rbp,8(%rsp)\nmovq %r12,16(%rsp)\n"
	"movq %rdi,%r12\ncall bare_leaf\nmovq %r12,%rdi\nxorl %ebp,%ebp\ntestl %edi,%edi\nje 3f\n"
	"movq %rsp,%rbx\nsubq $0x7080,%rsp\nandq $-4096,%rsp\n"
	"1: movq %rdi,24(%rsp)\npushq $7\npopq %rax\nleaq 1(%rbp,%rax),%rbp\nvzeroupper\n"
	"decl %edi\njne 1b\n"
	"movq %rbp,%rax\nmovq %rbx,%rsp\n"
	"2: movq (%rsp),%rbx\nmovq 8(%rsp),%rbp\nmovq 16(%rsp),%r12\naddq $0x60,%rsp\nret\n"
	"3: xorl %eax,%eax\njmp 2b\n"
	".fill 4096,1,0xcc\n"
	".size bare_kernel,.-bare_kernel\n"
	".p2align 6\n.type bare_leaf,@function\nbare_leaf:\n"
	"pushq %rbp\npushq %r15\nmovl $3,%ebp\nleaq -200(%rsp),%rsp\ncmpl $2,%edi\nja 1f\n"
	"addq $200,%rsp\npopq %r15\npopq %rbp\nret\n"
	"1: movq %rbp,190(%rsp)\nsubq $-128,%rsp\nsubq $-72,%rsp\npopq %r15\npopq %rbp\nret\n"
	".size bare_leaf,.-bare_leaf\n.fill 64,1,0xcc\n");
long bare_kernel(unsigned n);

static void test_code_without_information(void **state)
{
	begin();
	n_base = 0;
	base_function = (uint64_t)(uintptr_t)test_code_without_information;
	set_handler(SIGTRAP, on_step_below, 0);
	raise(SIGTRAP);
	wanted = 1;
	raise(SIGTRAP);
	sink += (double)bare_kernel(4) + (double)bare_kernel(0);
	stepping(false);
	signal(SIGTRAP, SIG_DFL);
	report("code without unwind information");
	assert_int_equal(found.differences, 0);
	assert_true(found.compared > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_instruction),
		cmocka_unit_test(test_random_moments),
		cmocka_unit_test(test_other_stacks),
		cmocka_unit_test(test_every_instruction_of_a_handler),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_code_without_information),
		cmocka_unit_test(test_without_bounds),
	};

	_Unwind_Backtrace(take,
			  &(struct theirs){.skip = 1}); /* loads libgcc, before the maps are read */
	mods = own_modules(NULL, &names);
	main_stack = own_stack((uint64_t)(uintptr_t)&tests);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
