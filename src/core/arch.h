/*
 * arch.h - everything that depends on the CPU. x86-64 only for now; a second architecture is a
 * second branch here and nowhere else.
 */
#ifndef FAH_CORE_ARCH_H
#define FAH_CORE_ARCH_H

#include <stdint.h>

#if !defined(__x86_64__)
#error "Fixing-A-Hole knows x86-64 only"
#endif

static inline long fah_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/*
 * clone() with these flags: fn(arg) runs on the new stack (its end is given, aligned to 16) and the
 * new thread ends after it. With CLONE_PARENT_SETTID its id is at ret_tid (32 bits) before it runs.
 * What the kernel returns to the caller, which must wait (CLONE_VFORK)
 * where the stack is its own.
 */
static inline long fah_arch_clone_run(long flags, void *stack_end, void *ret_tid,
				      void (*fn)(void *), void *arg)
{
	register void *to_arg __asm__("r12") = arg;
	register void (*to_fn)(void *) __asm__("r13") = fn;
	register long no_ctid __asm__("r10") = 0;
	register long no_tls __asm__("r8") = 0;
	long ret = 56; /* clone */

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r12, %%rdi\n\t"
			 "call *%%r13\n\t"
			 "mov $60, %%eax\n\t" /* exit: of this thread */
			 "xor %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(ret)
			 : "D"(flags), "S"(stack_end), "d"(ret_tid), "r"(no_ctid), "r"(no_tls),
			   "r"(to_arg), "r"(to_fn)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

/* fn(arg) on another stack (its end is given, aligned to 16); returns when fn does. */
static inline void fah_arch_call_on(void *stack_end, void (*fn)(void *), void *arg)
{
	register void *end __asm__("r12") = stack_end;

	__asm__ volatile("xchg %%rsp, %0\n\t" /* a callee keeps r12 */
			 "call *%1\n\t"
			 "mov %0, %%rsp"
			 : "+r"(end), "+a"(fn), "+D"(arg)
			 :
			 : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
			   "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

/* The two bytes before a pc that came back from the kernel: `syscall`. */
#define FAH_ARCH_SYSCALL_INSN_LEN 2
static inline int fah_arch_is_syscall(const uint8_t *before_pc)
{
	return before_pc[0] == 0x0f && before_pc[1] == 0x05;
}

/* Whether insn, which stands at pc, is a call or jump to an address of its own; *ret: that one. */
#define FAH_ARCH_CALL_INSN_LEN 5
static inline int fah_arch_call_target(const uint8_t *insn, uint64_t pc, uint64_t *ret)
{
	uint32_t distance = (uint32_t)insn[1] | (uint32_t)insn[2] << 8 | (uint32_t)insn[3] << 16 |
			    (uint32_t)insn[4] << 24;

	if (insn[0] != 0xe8 && insn[0] != 0xe9)
		return 0;
	*ret = pc + FAH_ARCH_CALL_INSN_LEN + (uint64_t)(int64_t)(int32_t)distance;
	return 1;
}

/* The processor's own clock; ticks at one speed on all of its cores, where it has such a one. */
static inline uint64_t fah_arch_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Whether that clock neither stops nor changes its speed. */
static inline int fah_arch_ticks_are_steady(void)
{
	uint32_t a = 0x80000000u, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (a < 0x80000007u)
		return 0;
	a = 0x80000007u;
	c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d >> 8 & 1;
}

#endif
