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
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_SECONDS (24 * 3600)

/* The collector holds the lock as long as it lives. */
static int is_abandoned(int dir)
{
	int fd = openat(dir, FAH_SESSION_LOCK, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	int abandoned = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return abandoned;
}

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
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(dir), e->d_name, 0);
}

static void consider(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	DIR *dir;

	if (fd < 0)
		return;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    st.st_mtime > time(NULL) - KEEP_SECONDS || !is_abandoned(fd)) {
		close(fd);
		return;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	if (!has_living_process(dir)) {
		remove_files(dir);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	closedir(dir);
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
