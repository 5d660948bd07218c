/*
 * outlived.c - which processes of a run go on after its end: daemons, and children that nobody
 * waited for. Only looks; runs once, when the program has ended.
 *
 * A process of the run was started with our variable, or is a fork of one that was, and the kernel
 * shows the environment that a program was started with. (One that writes over it, to change its
 * title, is not found.)
 */
#include "collect/outlived.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ENVIRON_MAX ((size_t)8 << 20)
#define LOOKS 20 /* helpers end just after their program: a fifth of a second is theirs */
static const struct timespec between = {0, 10000000};

/* Does its environment name the session? At the end of our variable. */
static bool belongs(const char *pid, const char *session_dir)
{
	_cleanup_(fah_freep) char *text = NULL;
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	/* with the NUL behind the name, so that no longer one is meant */
	return fah_file_read(path, ENVIRON_MAX, &text, &len) == 0 &&
	       memmem(text, len, session_dir, strlen(session_dir) + 1);
}

static unsigned look(const char *session_dir)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (proc && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			n += belongs(e->d_name, session_dir);
	if (proc)
		closedir(proc);
	return n;
}

unsigned fah_outlived(const char *session_dir)
{
	unsigned n = look(session_dir);

	/* a process that forks and ends while /proc is read may be seen neither before nor after */
	if (!n)
		n = look(session_dir);
	for (int i = 1; n && i < LOOKS; i++) {
		nanosleep(&between, NULL);
		n = look(session_dir);
	}
	return n;
}
