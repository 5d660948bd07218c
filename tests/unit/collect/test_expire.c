/* test_expire.c - which leftovers of killed runs go, and which must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char base[64];

static void touch(const char *name, const char *file)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", base, name, file);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
}

/* A session's folder with a lock and a segment of pid, made days ago. */
static void make_session(const char *name, long pid, int days)
{
	struct timespec times[2] = {{time(NULL) - days * 86400l - 60, 0},
				    {time(NULL) - days * 86400l - 60, 0}};
	char path[256], segment[64];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	assert_int_equal(mkdir(path, 0700), 0);
	touch(name, FAH_SESSION_LOCK);
	snprintf(segment, sizeof(segment), "%ld-1234-0.seg", pid);
	touch(name, segment);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int there(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	return access(path, F_OK) == 0;
}

/* A pid that was somebody's and is nobody's now. */
static long dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void only_what_nobody_can_need_goes(void **state)
{
	char path[256];
	int lock;

	strcpy(base, "/tmp/fah-expire-XXXXXX");
	assert_non_null(mkdtemp(base));
	make_session("fixingahole-old", dead_pid(), 2);
	make_session("fixingahole-young", dead_pid(), 0);
	make_session("fixingahole-alive", getpid(), 2);
	make_session("fixingahole-locked", dead_pid(), 2);
	make_session("other-old", dead_pid(), 2);
	snprintf(path, sizeof(path), "%s/fixingahole-locked/%s", base, FAH_SESSION_LOCK);
	lock = open(path, O_RDWR);
	assert_int_equal(flock(lock, LOCK_EX), 0);

	fah_session_expire(base);
	assert_false(there("fixingahole-old"));
	assert_true(there("fixingahole-young"));
	assert_true(there("fixingahole-alive"));
	assert_true(there("fixingahole-locked"));
	assert_true(there("other-old"));

	close(lock);
	fah_session_expire(base);
	assert_false(there("fixingahole-locked"));
	snprintf(path, sizeof(path), "rm -r '%s'", base);
	assert_int_equal(system(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_nobody_can_need_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
