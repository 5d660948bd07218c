/* fds.c - what an open descriptor of another process is, by the links of /proc. See call.h. */
#include "target/call.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 64
#define EPOLL_TEXT 4096 /* of a list as long as a server has connections: the first sixty */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum fah_wait anonymous(const char *kind)
{
	if (starts(kind, "[timerfd]"))
		return FAH_WAIT_SLEEP;
	if (starts(kind, "[pidfd]"))
		return FAH_WAIT_CHILD;
	return FAH_WAIT_UNKNOWN;
}

/* What has a name: by what stands there. A file that was removed is still a file. */
static enum fah_wait named(const char *path, const char *name)
{
	struct stat st;

	if (starts(name, "/dev/pts/") || starts(name, "/dev/tty") || !strcmp(name, "/dev/ptmx") ||
	    !strcmp(name, "/dev/console"))
		return FAH_WAIT_TERMINAL;
	if (stat(path, &st) < 0)
		return FAH_WAIT_UNKNOWN;
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
		return FAH_WAIT_DISK;
	return S_ISFIFO(st.st_mode) ? FAH_WAIT_PIPE : FAH_WAIT_UNKNOWN;
}

enum fah_wait fah_fd_reason(uint32_t pid, int64_t fd)
{
	char path[PATH_BYTES], link[256];
	ssize_t n;

	if (fd < 0)
		return FAH_WAIT_UNKNOWN;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRId64, pid, fd);
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return FAH_WAIT_UNKNOWN;
	link[n] = 0;
	if (starts(link, "socket:"))
		return FAH_WAIT_SOCKET;
	if (starts(link, "pipe:"))
		return FAH_WAIT_PIPE;
	if (starts(link, "anon_inode:"))
		return anonymous(link + 11);
	return link[0] == '/' ? named(path, link) : FAH_WAIT_UNKNOWN;
}

enum fah_wait fah_epoll_reason(uint32_t pid, int64_t fd, bool timed)
{
	char path[PATH_BYTES], text[EPOLL_TEXT];
	enum fah_wait found = FAH_WAIT_UNKNOWN;
	unsigned n = 0;
	ssize_t len;
	int file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%" PRId64, pid, fd);
	file = fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return FAH_WAIT_UNKNOWN;
	len = read(file, text, sizeof(text) - 1);
	close(file);
	if (len <= 0)
		return FAH_WAIT_UNKNOWN;
	text[len] = 0;
	for (const char *p = text; (p = strstr(p, "tfd:")); p += 4, n++)
		if (found != FAH_WAIT_SOCKET) /* nothing is stronger */
			found = fah_wait_stronger(found,
						  fah_fd_reason(pid, strtol(p + 4, NULL, 10)));
	/* an event loop always listens to itself: with nothing else, it waits for a time */
	return timed && n <= 1 ? FAH_WAIT_SLEEP : found;
}

enum fah_wait fah_wait_stronger(enum fah_wait a, enum fah_wait b)
{
	static const uint8_t rank[FAH_WAIT_COUNT] = {
		[FAH_WAIT_SOCKET] = 5,	 [FAH_WAIT_PIPE] = 4,  [FAH_WAIT_CHILD] = 3,
		[FAH_WAIT_TERMINAL] = 2, [FAH_WAIT_SLEEP] = 1, [FAH_WAIT_DISK] = 1,
	};

	return rank[b] > rank[a] ? b : a;
}
