/*
 * opened.c - stands in front of open: how it is known that a module is about to be imported.
 *
 * An interpreter reads a module's file by open and no other function, whoever imports it. It is
 * called in every process, by any thread, in handlers, before the agent is there: nothing but the
 * path is looked at, errno stays the real function's, and so does everything else.
 */
#include "agent/agent.h"
#include "agent/hooks.h"

#include <asm/fcntl.h> /* <fcntl.h> makes one name of the two functions */
#include <stdarg.h>

int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);

typedef int (*open_fn)(const char *, int, ...);

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & __O_TMPFILE) == __O_TMPFILE;
}

static int open_by(void *_Atomic *known, const char *name, const char *path, int flags,
		   unsigned mode)
{
	open_fn real = (open_fn)(uintptr_t)atomic_load_explicit(known, memory_order_relaxed);
	int fd;

	if (!real) {
		real = (open_fn)(uintptr_t)fah_real(name);
		if (!real)
			real = (open_fn)(uintptr_t)fah_real("open"); /* the C library has but one */
		atomic_store_explicit(known, (void *)(uintptr_t)real, memory_order_relaxed);
	}
	fd = real(path, flags, mode);
	if (fd >= 0)
		fah_hooks_opened(path);
	return fd;
}

#define OPEN(name) \
	FAH_AGENT_EXPORT int name(const char *path, int flags, ...) \
	{ \
		static void *_Atomic known; \
		unsigned mode = 0; \
		va_list more; \
\
		va_start(more, flags); \
		if (has_mode(flags)) \
			mode = va_arg(more, unsigned); \
		va_end(more); \
		return open_by(&known, #name, path, flags, mode); \
	}

OPEN(open)
OPEN(open64)
