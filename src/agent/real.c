/* real.c - the libc functions that the agent stands in front of. Not for signal handlers. */
#include "agent/agent.h"

#include <dlfcn.h>

/*
 * The old version of the symbol, and weak: before glibc 2.34 it lives in libdl, which a child
 * need not have loaded, and a symbol that is missing would stop that child from starting.
 */
extern void *dlsym(void *restrict handle, const char *restrict name) __attribute__((weak));
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");

void *fah_real(const char *name)
{
	return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

void *fah_global(const char *name)
{
	return dlsym ? dlsym(RTLD_DEFAULT, name) : NULL;
}
