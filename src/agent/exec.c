/*
 * exec.c - children inherit the agent: exec and spawn put our variables back.
 *
 * Stands in front of libc's exec and posix_spawn families. May run in a vfork child: writes only to
 * the stack and to what is the calling thread's own. What the program asked for is passed on
 * unchanged but for the two variables, and those only where the new program takes them (program.c).
 */
#include "agent/apart.h"
#include "agent/count.h"
#include "agent/heap.h"
#include "agent/lines.h"
#include "core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROOM (1u << 20) /* for a child's environment: beyond that it goes without us */
#define STACK_ROOM 1024u    /* of that on the stack: a thread's may be 32 kB */

extern char **environ;

static size_t count(char *const list[])
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static const char *find(char *const env[], const char *prefix)
{
	size_t len = strlen(prefix);

	for (; env && *env; env++)
		if (!strncmp(*env, prefix, len))
			return *env + len;
	return NULL;
}

/* How many bytes join() needs for env, pointers and strings together. */
static size_t joined_size(char *const env[])
{
	const char *theirs = find(env, FAH_ENV_PRELOAD);

	return (count(env) + 3) * sizeof(char *) + strlen(FAH_ENV_PRELOAD) +
	       strlen(fah_agent.preload) + 2 + (theirs ? strlen(theirs) : 0) +
	       strlen(FAH_ENV_CONFIG) + strlen(fah_agent.config) + 1;
}

static char *append(char *p, const char *s)
{
	size_t n = strlen(s);

	memcpy(p, s, n);
	return p + n;
}

/* env and our two variables, built in room (joined_size bytes, on the caller's stack). */
static char **join(char *const env[], void *room)
{
	const char *theirs = find(env, FAH_ENV_PRELOAD);
	char **out = room, **to = out;
	char *text = (char *)(out + count(env) + 3);

	for (; env && *env; env++)
		if (strncmp(*env, FAH_ENV_PRELOAD, strlen(FAH_ENV_PRELOAD)) &&
		    strncmp(*env, FAH_ENV_CONFIG, strlen(FAH_ENV_CONFIG)))
			*to++ = *env;
	*to++ = text;
	text = append(append(text, FAH_ENV_PRELOAD), fah_agent.preload);
	if (theirs && *theirs)
		text = append(append(text, ":"), theirs);
	*text++ = 0;
	*to++ = text;
	text = append(append(text, FAH_ENV_CONFIG), fah_agent.config);
	*text = 0;
	*to = NULL;
	return out;
}

/* A sanitizer's runtime that is preloaded insists on being the first. */
static bool preloads_sanitizer(char *const env[])
{
	const char *theirs = find(env, FAH_ENV_PRELOAD);

	return theirs && (strstr(theirs, "libasan") || strstr(theirs, "libtsan") ||
			  strstr(theirs, "liblsan") || strstr(theirs, "libhwasan") ||
			  strstr(theirs, "libclang_rt"));
}

static bool follows(int dirfd, const char *path, int flags, char *const env[])
{
	/* a profiler that the program starts puts its own in: what it starts is its, not ours */
	return fah_agent.preload[0] && path && joined_size(env) < MAX_ROOM &&
	       !find(env, FAH_ENV_CONFIG) && !preloads_sanitizer(env) &&
	       fah_program_takes_preload(dirfd, path, flags);
}

static bool may_run(const char *path)
{
	struct stat st;

	/* a folder may be "executed" too, but not by exec, which then looks further */
	return FAH_SYS4(SYS_newfstatat, AT_FDCWD, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
	       FAH_SYS4(SYS_faccessat, AT_FDCWD, path, X_OK, 0) == 0;
}

/*
 * The file that execvp would find, into buf; NULL where none. moves: the search may take place in
 * another folder than this one; then what depends on it is not known: NULL, too.
 */
static const char *on_path(const char *file, bool moves, char *buf, size_t cap)
{
	const char *path, *end;
	size_t n = strlen(file);

	if (!fah_agent.preload[0]) /* not recorded, or under a sandbox: no call of ours */
		return NULL;
	if (strchr(file, '/'))
		return moves && file[0] != '/' ? NULL : file;
	path = find(environ, "PATH=");
	if (!path)
		path = "/bin:/usr/bin";
	for (; n; path = end + 1) {
		size_t dir;

		for (end = path; *end && *end != ':'; end++)
			;
		dir = (size_t)(end - path);
		if (moves && *path != '/')
			return NULL;
		if (dir + n + 2 <= cap) {
			memcpy(buf, path, dir);
			if (dir)
				buf[dir++] = '/';
			memcpy(buf + dir, file, n + 1);
			if (may_run(buf))
				return buf;
		}
		if (!*end)
			break;
	}
	return NULL;
}

/*
 * Room for a large environment. It stays until the thread ends: a vfork's child makes it in its
 * parent's memory, and cannot give it back once it is another program.
 */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	void *pages;
	size_t size;
} room;

static void *large_room(size_t size)
{
	if (room.size < size) {
		fah_exec_thread_end();
		room.pages = fah_pages(size);
		room.size = room.pages ? size : 0;
	}
	return room.pages;
}

void fah_exec_thread_end(void)
{
	if (room.size)
		FAH_SYS2(SYS_munmap, room.pages, room.size);
	room.size = 0;
	room.pages = NULL;
}

/* ENV joined with ours where FOLLOWS and there is room, here: on the caller's stack; else as it
 * is. */
static char **child_env(bool follows, char *const env[], void *here)
{
	size_t size = follows ? joined_size(env) : 0;
	void *where = size <= STACK_ROOM ? here : large_room(size);

	return follows && where ? join(env, where) : (char **)(uintptr_t)env;
}

/* The system call with what the program asked for; it returns only where the new program did not
 * start. */
static int exec_at(int dirfd, const char *path, char *const argv[], char *const env[], int flags)
{
	uint64_t here[STACK_ROOM / 8];
	char **child = child_env(follows(dirfd, path, flags, env), env, here);
	bool ignored = fah_signal_ignore_for_child();
	long err;

	fah_count_end();
	fah_lines_end();
	fah_heap_flush();
	for (;;) {
		if (dirfd == AT_FDCWD && !flags)
			err = FAH_SYS3(SYS_execve, path, argv, child);
		else
			err = FAH_SYS6(SYS_execveat, dirfd, path, argv, child, flags, 0);
		if (err != -E2BIG || child == env)
			break;
		child = (char **)(uintptr_t)env; /* without our variables it may be small enough */
	}
	fah_signal_back(ignored);
	errno = (int)-err;
	return -1;
}

FAH_AGENT_EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_at(AT_FDCWD, path, argv, env, 0);
}

FAH_AGENT_EXPORT int execv(const char *path, char *const argv[])
{
	return exec_at(AT_FDCWD, path, argv, environ, 0);
}

FAH_AGENT_EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	int (*real)(const char *, char *const[], char *const[]) =
		(int (*)(const char *, char *const[], char *const[]))(uintptr_t)fah_real("execvpe");
	char buf[FAH_PATH_MAX], **child;
	const char *path = on_path(file, false, buf, sizeof(buf));
	uint64_t here[STACK_ROOM / 8];
	bool ignored;
	int ret;

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	child = child_env(follows(AT_FDCWD, path, 0, env), env, here);
	ignored = fah_signal_ignore_for_child();
	fah_count_end();
	fah_lines_end();
	fah_heap_flush();
	ret = real(file, argv, child);
	if (errno == E2BIG && child != env)
		ret = real(file, argv, env);
	fah_signal_back(ignored);
	return ret;
}

FAH_AGENT_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

FAH_AGENT_EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	if (fd < 0) { /* as libc has it; the kernel says EBADF */
		errno = EINVAL;
		return -1;
	}
	return exec_at(fd, "", argv, env, AT_EMPTY_PATH);
}

FAH_AGENT_EXPORT int execveat(int dirfd, const char *path, char *const argv[], char *const env[],
			      int flags)
{
	return exec_at(dirfd, path, argv, env, flags);
}

/* The variadic ones: arguments into an array on the stack, then as above. */
static size_t count_args(va_list from)
{
	size_t n = 1;
	va_list args;

	va_copy(args, from);
	while (va_arg(args, char *))
		n++;
	va_end(args);
	return n;
}

static void collect_args(char **argv, const char *arg, size_t n, va_list args)
{
	argv[0] = (char *)(uintptr_t)arg;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(args, char *); /* with the closing NULL */
}

FAH_AGENT_EXPORT int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list args;
	size_t n;

	va_start(args, arg);
	n = count_args(args);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	collect_args(argv, arg, n, args);
	va_end(args);
	return execve(path, argv, environ);
}

FAH_AGENT_EXPORT int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list args;
	size_t n;

	va_start(args, arg);
	n = count_args(args);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	collect_args(argv, arg, n, args);
	va_end(args);
	return execvpe(file, argv, environ);
}

FAH_AGENT_EXPORT int execle(const char *path, const char *arg, ...)
{
	char **argv, **env;
	va_list args;
	size_t n;

	va_start(args, arg);
	n = count_args(args);
	argv = __builtin_alloca((n + 1) * sizeof(*argv));
	collect_args(argv, arg, n, args);
	env = va_arg(args, char **);
	va_end(args);
	return execve(path, argv, env);
}

typedef int (*spawn_fn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			const posix_spawnattr_t *, char *const[], char *const[]);

/*
 * May these actions take the child to another folder before it looks for its program? Then names
 * that depend on the folder are not followed. Only glibc knows what stands in them: this is how all
 * its versions lay them out, and what is not known there counts as yes. (To stand in front of
 * addchdir_np would show it to programs whose libc has none, and that ask.)
 */
static bool actions_move(const posix_spawn_file_actions_t *actions)
{
	struct action {
		int tag; /* 0 to 2: close, dup2, open */
		uint64_t rest[3];
	};
	struct {
		int allocated, used;
		const struct action *list;
	} head;

	if (!actions)
		return false;
	memcpy(&head, actions, sizeof(head));
	if (head.used < 0 || head.used > head.allocated)
		return true;
	for (int i = 0; i < head.used; i++)
		if (head.list[i].tag < 0 || head.list[i].tag > 2)
			return true;
	return false;
}

struct question {
	const char *path;
	char *const *env;
	bool follows;
};

static void answer(void *arg)
{
	struct question *q = arg;

	q->follows = follows(AT_FDCWD, q->path, 0, q->env);
}

/* In the program itself, whose other threads must not meet our descriptors. */
static bool follows_apart(const char *path, char *const env[])
{
	struct question q = {path, env, false};
	void *stack = fah_agent.preload[0] && path ? fah_pages(FAH_APART_STACK) : NULL;

	if (!stack)
		return false;
	fah_apart(answer, &q, stack, FAH_APART_STACK);
	FAH_SYS2(SYS_munmap, stack, FAH_APART_STACK);
	return q.follows;
}

/* path: the file that will be run, NULL where it is not known. */
static int spawn(spawn_fn real, pid_t *pid, const char *file, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		 char *const argv[], char *const env[])
{
	uint64_t here[STACK_ROOM / 8];
	char **child;
	bool ignored;
	int ret;

	if (!real)
		return ENOSYS;
	child = child_env(follows_apart(path, env), env, here);
	ignored = fah_signal_ignore_for_child();
	ret = real(pid, file, actions, attr, argv, child);
	if (ret == E2BIG && child != env)
		ret = real(pid, file, actions, attr, argv, env);
	fah_signal_back(ignored);
	return ret;
}

FAH_AGENT_EXPORT int posix_spawn(pid_t *pid, const char *path,
				 const posix_spawn_file_actions_t *actions,
				 const posix_spawnattr_t *attr, char *const argv[],
				 char *const env[])
{
	spawn_fn real = (spawn_fn)(uintptr_t)fah_real("posix_spawn");
	bool moves = path[0] != '/' && actions_move(actions);

	return spawn(real, pid, path, moves ? NULL : path, actions, attr, argv, env);
}

FAH_AGENT_EXPORT int posix_spawnp(pid_t *pid, const char *file,
				  const posix_spawn_file_actions_t *actions,
				  const posix_spawnattr_t *attr, char *const argv[],
				  char *const env[])
{
	spawn_fn real = (spawn_fn)(uintptr_t)fah_real("posix_spawnp");
	char buf[FAH_PATH_MAX];

	return spawn(real, pid, file, on_path(file, actions_move(actions), buf, sizeof(buf)),
		     actions, attr, argv, env);
}

/*
 * system() by several threads at once: the first ignores SIGINT and SIGQUIT, the last sets them
 * back. No handler comes here, so a short spin is no harm.
 */
static struct {
	atomic_flag lock;
	int users;
	struct sigaction old_int, old_quit;
} shells = {.lock = ATOMIC_FLAG_INIT};

static void shells_enter(struct sigaction *ret_int, struct sigaction *ret_quit)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigemptyset(&ignore.sa_mask);
	while (atomic_flag_test_and_set(&shells.lock))
		;
	if (shells.users++ == 0) {
		sigaction(SIGINT, &ignore, &shells.old_int);
		sigaction(SIGQUIT, &ignore, &shells.old_quit);
	}
	*ret_int = shells.old_int;
	*ret_quit = shells.old_quit;
	atomic_flag_clear(&shells.lock);
}

static void shells_leave(void)
{
	while (atomic_flag_test_and_set(&shells.lock))
		;
	if (--shells.users == 0) {
		sigaction(SIGINT, &shells.old_int, NULL);
		sigaction(SIGQUIT, &shells.old_quit, NULL);
	}
	atomic_flag_clear(&shells.lock);
}

void fah_exec_forked(void)
{
	shells.users = 0;
	atomic_flag_clear(&shells.lock);
}

static int run_shell(const char *command, const posix_spawnattr_t *attr)
{
	char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)command, NULL};
	int status = -1;
	pid_t pid, got;

	if (posix_spawn(&pid, "/bin/sh", NULL, attr, argv, environ))
		return 127 << 8; /* as if the shell could not run */
	while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	return got < 0 ? -1 : status;
}

/*
 * libc's own system() starts the shell from inside libc, past our posix_spawn, so it is written
 * anew: SIGINT and SIGQUIT ignored and SIGCHLD blocked in the caller meanwhile, as POSIX asks.
 */
FAH_AGENT_EXPORT int system(const char *command)
{
	int (*real)(const char *) = (int (*)(const char *))(uintptr_t)fah_real("system");
	struct sigaction old_int, old_quit;
	sigset_t block, old_mask, defaults;
	posix_spawnattr_t attr;
	int status, saved;

	if (!command || !fah_agent.preload[0])
		return real ? real(command) : 0;
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &old_mask);
	shells_enter(&old_int, &old_quit);

	sigemptyset(&defaults);
	if (old_int.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGINT);
	if (old_quit.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &old_mask);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	status = run_shell(command, &attr);
	saved = errno;
	posix_spawnattr_destroy(&attr);
	shells_leave();
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	errno = saved;
	return status;
}
