/* alive.c - see alive.h. Reads /proc only; where that is not to be had, everything lives. */
#include "collect/alive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a file of /proc, NUL-terminated, or -1 with errno. */
static ssize_t read_file(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, cap - 1);
	close(fd);
	if (n >= 0)
		buf[n] = 0;
	return n;
}

bool fah_alive_is_gone(uint32_t pid)
{
	char path[64], buf[1024];
	unsigned long n_threads = 0;
	const char *s;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	n = read_file(path, buf, sizeof(buf));
	if (n < 0)
		return errno == ENOENT || errno == ESRCH;
	s = strrchr(buf, ')'); /* the name may hold any character */
	if (!n || !s || strlen(s) < 3)
		return true;
	if (s[2] != 'Z' && s[2] != 'X')
		return false;
	/* field 20, of which the state is the third: the threads, with the first one */
	for (int field = 2; field < 20 && s; field++)
		s = strchr(s + 1, ' ');
	if (s)
		n_threads = strtoul(s, NULL, 10);
	return n_threads < 2;
}

static uint32_t namespace_of(const char *process)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &st) == 0 ? (uint32_t)st.st_ino : 0;
}

/* The pid of a process in the innermost namespace it is in; 0: not to be seen. */
static uint32_t inner_pid(const char *process)
{
	char path[300], buf[4096], *s, *end;

	snprintf(path, sizeof(path), "/proc/%s/status", process);
	if (read_file(path, buf, sizeof(buf)) <= 0)
		return 0;
	s = strstr(buf, "\nNSpid:");
	if (!s)
		return 0;
	s += strlen("\nNSpid:");
	end = strchr(s, '\n');
	if (end)
		*end = 0;
	s = strrchr(s, '\t');
	return s ? (uint32_t)strtoul(s, NULL, 10) : 0;
}

uint32_t fah_alive_outer_pid(uint32_t pid_namespace, uint32_t pid)
{
	uint32_t found = 0;
	struct dirent *e;
	DIR *dir;

	if (!pid_namespace || pid_namespace == namespace_of("self"))
		return pid;
	dir = opendir("/proc");
	while (dir && !found && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    namespace_of(e->d_name) == pid_namespace && inner_pid(e->d_name) == pid)
			found = (uint32_t)strtoul(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return found;
}
