/* usage.c - see usage.h. */
#include "target/usage.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "core/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)64 << 10)

/* Places in /proc/PID/stat, counted from the state, which follows the name in parentheses. */
enum { AT_UTIME = 11, AT_STIME, AT_CUTIME, AT_CSTIME, AT_RSS = 21, FIELDS };

static int read_file(uint32_t pid, const char *name, char **ret)
{
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	return fah_file_read(path, FILE_MAX, ret, &len);
}

static uint64_t peak(uint32_t pid)
{
	_cleanup_(fah_freep) char *text = NULL;
	const char *line;

	if (read_file(pid, "status", &text) < 0)
		return 0;
	line = strstr(text, "\nVmHWM:");
	return line ? strtoull(line + strlen("\nVmHWM:"), NULL, 10) * 1024 : 0;
}

int fah_process_usage(uint32_t pid, struct fah_usage *ret)
{
	_cleanup_(fah_freep) char *text = NULL;
	uint64_t values[FIELDS] = {0}, tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	char *p, *end;

	if (read_file(pid, "stat", &text) < 0)
		return FAH_ERR_SYS;
	p = strrchr(text, ')'); /* the name may have any character in it */
	if (!p || p[1] != ' ' || !p[2])
		return FAH_ERR_FORMAT;
	p += 3;
	for (int i = 1; i < FIELDS; i++, p = end) {
		values[i] = strtoull(p, &end, 10);
		if (end == p)
			return FAH_ERR_FORMAT;
	}
	*ret = (struct fah_usage){
		.user_ns = (values[AT_UTIME] + values[AT_CUTIME]) * tick_ns,
		.system_ns = (values[AT_STIME] + values[AT_CSTIME]) * tick_ns,
		.rss_bytes = values[AT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE),
		.max_rss_bytes = peak(pid),
	};
	return 0;
}
