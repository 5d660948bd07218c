/* session.c - see session.h. Runs in the collector, before the target starts and after it ended. */
#include "collect/session.h"

#include "base/file.h"
#include "core/err.h"
#include "core/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Below that a memory-backed folder is too small: the program's own shared memory comes first. */
#define MIN_FREE (256ull << 20)
#define AGENT_NAME FAH_AGENT_STEM ".so"
#define AGENT_HEAP_NAME FAH_AGENT_STEM "-heap.so"
#define AGENT_LINK "agent.so"
#define MEMORY "/dev/shm"
#define PROBE "probe.seg"
#define REMOVE_TRIES 100

/* Where the agent, and what is installed beside it, stands relative to the program: build tree,
 * installed, Debian's multiarch, wheel. */
static const char *const places[] = {
	"../agent/",
	"../../python/fixingahole/",
	"../lib/fixingahole/",
	"../lib/x86_64-linux-gnu/fixingahole/",
	"../lib64/fixingahole/",
	"",
};

int fah_session_find(const char *name, char *ret, size_t cap)
{
	char exe[PATH_MAX], path[PATH_MAX + 128];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n < 0)
		return FAH_ERR_SYS;
	exe[n] = 0;
	slash = strrchr(exe, '/');
	if (!slash)
		return FAH_ERR_SYS;
	*slash = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char real[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s%s", exe, places[i], name);
		if (realpath(path, real) && access(real, R_OK) == 0 && strlen(real) < cap) {
			strcpy(ret, real);
			return 0;
		}
	}
	errno = ENOENT;
	return FAH_ERR_SYS;
}

static bool has_room(const char *dir, unsigned long long bytes)
{
	struct statvfs vfs;

	return statvfs(dir, &vfs) == 0 && (unsigned long long)vfs.f_bavail * vfs.f_frsize >= bytes;
}

/* Agents allocate before they map; where the file system cannot, no sample would ever come. */
static bool can_allocate(int dir)
{
	int fd = openat(dir, PROBE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool can = fd >= 0 && fallocate(fd, 0, 0, FAH_SEGMENT_SIZE) == 0;
	int saved = errno;

	if (fd >= 0)
		close(fd);
	unlinkat(dir, PROBE, 0);
	errno = saved;
	return can;
}

/* A folder in base, locked. Any base will do if `anyhow`, even one without room for a segment. */
static int make_dir(struct fah_session *s, const char *base, bool anyhow)
{
	char absolute[PATH_MAX];
	bool ok;
	int dir;

	/* the program may go to another folder before it starts a child */
	if (!*base || !realpath(base, absolute) ||
	    strlen(absolute) + sizeof("/" FAH_SESSION_PREFIX "XXXXXX" FAH_SESSION_ENDED) + 64 >
		    sizeof(s->dir))
		return FAH_ERR_SYS;
	fah_session_expire(absolute);
	/* 0700: what another user could put there, or cut short, we would map. A program that gives
	 * up its rights and forks is not followed for that. */
	snprintf(s->dir, sizeof(s->dir), "%s/" FAH_SESSION_PREFIX "XXXXXX", absolute);
	if (!mkdtemp(s->dir))
		return FAH_ERR_SYS;
	dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	s->lock_fd = dir < 0 ? -1 : fah_session_lock(dir, true);
	ok = s->lock_fd >= 0 && (can_allocate(dir) || anyhow);
	if (dir >= 0)
		close(dir);
	if (ok)
		return 0;
	fah_session_remove(s);
	s->lock_fd = -1;
	return FAH_ERR_SYS;
}

/*
 * Memory first, where there is plenty of it: the program's own shared memory comes before ours (a
 * container has 64 MB). Then disks, then memory that is scarce.
 */
static int find_dir(struct fah_session *s)
{
	const char *override = getenv("FIXINGAHOLE_SESSION_DIR"), *tmp = getenv("TMPDIR");
	const char *const bases[] = {tmp ? tmp : "", "/tmp", "/var/tmp", MEMORY};

	if (override)
		return make_dir(s, override, true);
	if (has_room(MEMORY, MIN_FREE) && make_dir(s, MEMORY, false) == 0)
		return 0;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (make_dir(s, bases[i], false) == 0)
			return 0;
	return make_dir(s, "/tmp", true);
}

int fah_session_init(struct fah_session *s, bool heap)
{
	char agent[FAH_SESSION_PATH_MAX];
	int err = fah_session_find(heap ? AGENT_HEAP_NAME : AGENT_NAME, agent, sizeof(agent));

	if (err < 0)
		return err;
	err = find_dir(s);
	if (err < 0)
		return err;
	strcpy(s->agent, agent);
	if (strpbrk(agent, " :\t\n$")) {
		/* the loader splits at these: give it a name without them */
		snprintf(s->agent, sizeof(s->agent), "%.*s/" AGENT_LINK, (int)sizeof(s->agent) - 16,
			 s->dir);
		if (symlink(agent, s->agent) < 0) {
			fah_session_remove(s);
			return FAH_ERR_SYS;
		}
	}
	return 0;
}

int fah_session_tell(const struct fah_session *s, const char *name, const char *text)
{
	char path[FAH_SESSION_PATH_MAX + 16];
	size_t len = strlen(text);
	bool whole;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return FAH_ERR_SYS;
	whole = write(fd, text, len) == (ssize_t)len;
	close(fd);
	if (!whole)
		unlink(path);
	return whole ? 0 : FAH_ERR_SYS;
}

/* Segments and journals, the lock, the link to the agent: all that a session's folder can hold. */
static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return !strcmp(name, AGENT_LINK) || !strcmp(name, FAH_SESSION_LOCK) ||
	       !strcmp(name, FAH_SESSION_COUNT) || !strcmp(name, FAH_SESSION_EXACT) ||
	       !strcmp(name, FAH_SESSION_LINES) || !strcmp(name, FAH_SESSION_HEAP) ||
	       (n > 4 && !strcmp(name + n - 4, ".seg")) ||
	       (n > 5 && !strcmp(name + n - 5, ".kept")) ||
	       (n > 7 && !strcmp(name + n - 7, ".unwind")) ||
	       (n > 6 && !strcmp(name + n - 6, ".codes"));
}

void fah_session_end(struct fah_session *s)
{
	char ended[FAH_SESSION_PATH_MAX + 16];
	int saved = errno;

	snprintf(ended, sizeof(ended), "%s" FAH_SESSION_ENDED, s->dir);
	if (strlen(ended) < sizeof(s->dir) && rename(s->dir, ended) == 0)
		strcpy(s->dir, ended);
	errno = saved;
}

static void remove_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	/* the lock last: without it nobody could tell that the folder is a leftover */
	while (dir && (e = readdir(dir)))
		if (is_ours(e->d_name) && strcmp(e->d_name, FAH_SESSION_LOCK))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir) {
		unlinkat(dirfd(dir), FAH_SESSION_LOCK, 0);
		closedir(dir);
	}
}

void fah_session_remove(const struct fah_session *s)
{
	int saved = errno;

	/* an agent that had found the folder before it was renamed may still put a file there */
	for (int i = 0; i < REMOVE_TRIES; i++) {
		remove_files(s->dir);
		if (rmdir(s->dir) == 0 || (errno != ENOTEMPTY && errno != EEXIST))
			break;
	}
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	errno = saved;
}

int fah_session_lock(int dir, bool create)
{
	int fd = openat(dir, FAH_SESSION_LOCK,
			O_RDWR | (create ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
				O_NOCTTY,
			0600);
	struct stat st;

	if (fd < 0)
		return FAH_ERR_SYS;
	/* without a name: whoever held it before us has just removed the session */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_nlink > 0)
		return fd;
	close(fd);
	return FAH_ERR_SYS;
}

static int open_leftover(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir >= 0 && (fstat(dir, &st) < 0 || st.st_uid != geteuid())) {
		close(dir);
		dir = -1;
	}
	return dir;
}

int fah_session_take_over(struct fah_session *s)
{
	int dir;

	s->lock_fd = -1;
	/* the name comes from a file that anybody may have written */
	if (strncmp(fah_basename(s->dir), FAH_SESSION_PREFIX, strlen(FAH_SESSION_PREFIX)) ||
	    strlen(s->dir) + sizeof(FAH_SESSION_ENDED) > sizeof(s->dir))
		return FAH_ERR_SYS;
	dir = open_leftover(s->dir);
	if (dir < 0) { /* its collector was killed at the very end */
		strcat(s->dir, FAH_SESSION_ENDED);
		dir = open_leftover(s->dir);
	}
	if (dir < 0)
		return FAH_ERR_SYS;
	/* one made now would be of a folder whose files are just being removed */
	s->lock_fd = fah_session_lock(dir, false);
	close(dir);
	return s->lock_fd < 0 ? FAH_ERR_SYS : 0;
}
