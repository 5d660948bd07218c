/* session.c - see session.h. Runs in the collector, before the target starts and after it ended. */
#include "collect/session.h"

#include "base/file.h"
#include "core/err.h"

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
#define AGENT_NAME "libfixingahole-agent.so"
#define AGENT_LINK "agent.so"

/* Where the agent stands relative to the program: build tree, installed, Debian's multiarch, wheel.
 */
static const char *const agent_places[] = {
	"../agent/" AGENT_NAME,
	"../lib/fixingahole/" AGENT_NAME,
	"../lib/x86_64-linux-gnu/fixingahole/" AGENT_NAME,
	"../lib64/fixingahole/" AGENT_NAME,
	AGENT_NAME,
};

static int find_agent(char *ret, size_t cap)
{
	char exe[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n < 0)
		return FAH_ERR_SYS;
	exe[n] = 0;
	slash = strrchr(exe, '/');
	if (!slash)
		return FAH_ERR_SYS;
	*slash = 0;
	for (size_t i = 0; i < sizeof(agent_places) / sizeof(agent_places[0]); i++) {
		char real[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", exe, agent_places[i]);
		if (realpath(path, real) && access(real, R_OK) == 0 && strlen(real) < cap) {
			strcpy(ret, real);
			return 0;
		}
	}
	errno = ENOENT;
	return FAH_ERR_SYS;
}

static int room_in(const char *dir)
{
	struct statvfs vfs;

	return access(dir, W_OK | X_OK) == 0 && statvfs(dir, &vfs) == 0 &&
	       (unsigned long long)vfs.f_bavail * vfs.f_frsize >= MIN_FREE;
}

static int make_dir(struct fah_session *s)
{
	const char *override = getenv("FIXINGAHOLE_SESSION_DIR"), *tmp = getenv("TMPDIR");
	char lock[FAH_SESSION_PATH_MAX + 16];
	const char *base = override		 ? override
			   : room_in("/dev/shm") ? "/dev/shm"
			   : tmp		 ? tmp
						 : "/tmp";

	fah_session_expire(base);
	/* 0700: what another user could put there, or cut short, we would map. A program that gives
	 * up its rights and forks is not followed for that. */
	snprintf(s->dir, sizeof(s->dir), "%s/" FAH_SESSION_PREFIX "XXXXXX", base);
	if (!mkdtemp(s->dir))
		return FAH_ERR_SYS;
	snprintf(lock, sizeof(lock), "%s/" FAH_SESSION_LOCK, s->dir);
	s->lock_fd = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		fah_session_remove(s);
		return FAH_ERR_SYS;
	}
	return 0;
}

int fah_session_init(struct fah_session *s)
{
	char agent[FAH_SESSION_PATH_MAX];
	int err = find_agent(agent, sizeof(agent));

	if (err < 0)
		return err;
	err = make_dir(s);
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

/* Segments and journals, the lock, the link to the agent: all that a session's folder can hold. */
static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return !strcmp(name, AGENT_LINK) || !strcmp(name, FAH_SESSION_LOCK) ||
	       (n > 4 && !strcmp(name + n - 4, ".seg")) ||
	       (n > 6 && !strcmp(name + n - 6, ".codes"));
}

void fah_session_remove(const struct fah_session *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *e;
	int saved = errno;

	while (dir && (e = readdir(dir)))
		if (is_ours(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	rmdir(s->dir);
	errno = saved;
}

int fah_session_take_over(struct fah_session *s)
{
	char lock[FAH_SESSION_PATH_MAX + 16];
	struct stat st;

	/* the name comes from a file that anybody may have written */
	s->lock_fd = -1;
	if (strncmp(fah_basename(s->dir), FAH_SESSION_PREFIX, strlen(FAH_SESSION_PREFIX)) ||
	    lstat(s->dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return FAH_ERR_SYS;
	snprintf(lock, sizeof(lock), "%s/" FAH_SESSION_LOCK, s->dir);
	s->lock_fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (s->lock_fd < 0)
		return FAH_ERR_SYS;
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		close(s->lock_fd);
		s->lock_fd = -1;
		return FAH_ERR_SYS; /* its collector lives, or another recovery is at it */
	}
	return 0;
}
