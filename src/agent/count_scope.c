/*
 * count_scope.c - the folders whose functions are counted, as the profiler has left them beside the
 * segments: a file of lines, "+folder" inside, "-folder" not, "=file" in any case. Read once.
 */
#include "agent/count.h"
#include "core/sys.h"

#include <fcntl.h>
#include <string.h>

#define NAME "/count"

static char text[16384];

bool fah_count_scope_read(void)
{
	char path[FAH_PATH_MAX + sizeof(NAME)];
	size_t len = strlen(fah_agent.session), n = 0;
	long fd, got = 0;

	memcpy(path, fah_agent.session, len);
	memcpy(path + len, NAME, sizeof(NAME));
	fd = FAH_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	do
		got = FAH_SYS3(SYS_read, fd, text + n, sizeof(text) - 1 - n);
	while (got > 0 && (n += (size_t)got) < sizeof(text) - 1);
	FAH_SYS1(SYS_close, fd);
	text[n] = 0;
	return n > 0;
}

static bool is_below(const char *file, const char *dir, size_t len)
{
	while (len && dir[len - 1] == '/')
		len--;
	return !strncmp(file, dir, len) && (file[len] == 0 || file[len] == '/');
}

bool fah_count_scope_has(const char *file)
{
	bool inside = file[0] != '/' && file[0] != '<'; /* as the command line had it */

	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		size_t len = end ? (size_t)(end - line) - 1 : strlen(line) - 1;

		if (is_below(file, line + 1, len)) {
			if (*line == '=')
				return true;
			if (*line == '-')
				return false;
			inside = true;
		}
		if (!end)
			break;
		line = end + 1;
	}
	return inside;
}
