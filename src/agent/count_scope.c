/*
 * count_scope.c - the folders whose functions are counted, as the profiler has left them beside the
 * segments: a file of lines, "+folder" inside, "-folder" not, "=file" in any case. Read once.
 */
#include "agent/count.h"

#include <string.h>

static char text[16384];

bool fah_count_scope_read(void)
{
	long n = fah_session_file("count", text, sizeof(text));

	/* half a line could be a folder that holds another, or nearly all */
	if (n == (long)sizeof(text) - 1)
		while (n && text[n - 1] != '\n')
			text[--n] = 0;
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
