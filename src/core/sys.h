/*
 * sys.h - raw system calls for the agent: no libc symbol, no errno, usable in a signal handler
 * and before libc is ready. Each returns what the kernel returns: a negative errno on failure.
 */
#ifndef FAH_CORE_SYS_H
#define FAH_CORE_SYS_H

#include "core/arch.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define FAH_SYS0(n) fah_syscall6(n, 0, 0, 0, 0, 0, 0)
#define FAH_SYS1(n, a) fah_syscall6(n, (long)(a), 0, 0, 0, 0, 0)
#define FAH_SYS2(n, a, b) fah_syscall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define FAH_SYS3(n, a, b, c) fah_syscall6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define FAH_SYS4(n, a, b, c, d) fah_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define FAH_SYS6(n, a, b, c, d, e, f) \
	fah_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
