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

/* The two bytes before a pc that came back from the kernel: `syscall`. */
#define FAH_ARCH_SYSCALL_INSN_LEN 2
static inline int fah_arch_is_syscall(const uint8_t *before_pc)
{
	return before_pc[0] == 0x0f && before_pc[1] == 0x05;
}

#endif
