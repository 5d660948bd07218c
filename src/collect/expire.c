/*
 * expire.c - what killed runs left in memory-backed folders must not pile up.
 *
 * Runs at the start of a run. Careful rather than thorough: a folder goes only when nothing can
 * need it any more; what cannot be told apart stays.
 */
#include "collect/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_SECONDS (24 * 3600)

/* "<pid>-<start>-<n>.seg": a process that may still write there. */
static int has_living_process(DIR *dir)
{
	struct dirent *e;

	rewinddir(dir);
	while ((e = readdir(dir))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM))
			return 1;
	}
	return 0;
}

static void remove_files(DIR *dir)
{
	struct dirent *e;

	rewinddir(dir);
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, FAH_SESSION_LOCK))
			unlinkat(dirfd(dir), e->d_name, 0);
	unlinkat(dirfd(dir), FAH_SESSION_LOCK,
		 0); /* last: whoever waits for it finds all or none */
}

/* A leftover of this user that is old enough. */
static int is_old(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       st.st_mtime <= time(NULL) - KEEP_SECONDS;
}

static void consider(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), lock = -1;
	DIR *dir = NULL;

	/* the lock is held to the end: meanwhile nobody adds these files to a capture */
	if (fd >= 0 && is_old(fd) && (lock = fah_session_lock(fd, true)) >= 0)
		dir = fdopendir(fd);
	if (dir && !has_living_process(dir)) {
		remove_files(dir);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	if (lock >= 0)
		close(lock);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void fah_session_expire(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (!strncmp(e->d_name, FAH_SESSION_PREFIX, strlen(FAH_SESSION_PREFIX)))
			consider(dirfd(dir), e->d_name);
	closedir(dir);
}
