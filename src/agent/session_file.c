/* session_file.c - what the profiler has left for agents beside the segments. */
#include "agent/agent.h"
#include "core/sys.h"

#include <fcntl.h>
#include <string.h>

#define NAME_MAX_BYTES 16u

long fah_session_file(const char *name, char *text, size_t cap)
{
	char path[FAH_PATH_MAX + 1 + NAME_MAX_BYTES];
	size_t len = strlen(fah_agent.session), n_name = strlen(name), n = 0;
	long fd, got = 0;

	if (n_name >= NAME_MAX_BYTES)
		return -1;
	memcpy(path, fah_agent.session, len);
	path[len] = '/';
	memcpy(path + len + 1, name, n_name + 1);
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	do
		got = FAH_SYS3(SYS_read, fd, text + n, cap - 1 - n);
	while (got > 0 && (n += (size_t)got) < cap - 1);
	FAH_SYS1(SYS_close, fd);
	text[n] = 0;
	return (long)n;
}
