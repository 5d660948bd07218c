/*
 * test_session.c - a session's folder at its end: agents that still put files there, collectors
 * that are killed in between, and others that want the same folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define WRITERS 3
#define MANY 300 /* files of a leftover */

static char base[64];

static int enter(void **state)
{
	strcpy(base, "/tmp/fah-session-XXXXXX");
	return mkdtemp(base) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", base);
	return system(command);
}

static void make(struct fah_session *s)
{
	int dir;

	snprintf(s->dir, sizeof(s->dir), "%s/" FAH_SESSION_PREFIX "XXXXXX", base);
	assert_non_null(mkdtemp(s->dir));
	dir = open(s->dir, O_RDONLY | O_DIRECTORY);
	s->lock_fd = fah_session_lock(dir, true);
	close(dir);
	assert_true(s->lock_fd >= 0);
}

static int count(const char *path)
{
	DIR *dir = opendir(path);
	int n = -2;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* As an agent does, by the name it was given, until there is no such folder. */
static void write_segments(const char *dir)
{
	char path[FAH_SESSION_PATH_MAX + 64];

	for (unsigned i = 0;; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%d-%u-0.seg", dir, (int)getpid(), i);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			_exit(errno == ENOENT ? 0 : 1);
		close(fd);
	}
}

static void nothing_is_left_behind(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct fah_session s;
		pid_t pids[WRITERS];
		int status;

		make(&s);
		for (int i = 0; i < WRITERS; i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				write_segments(s.dir);
		}
		while (count(s.dir) < 20)
			usleep(100);
		fah_session_end(&s);
		fah_session_remove(&s);
		for (int i = 0; i < WRITERS; i++) {
			assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
			assert_int_equal(status, 0);
		}
		assert_int_equal(count(base), 0);
	}
}

/* Killed between the folder's renaming and its removal: whoever knows its old name finds it. */
static void a_leftover_is_found_under_either_name(void **state)
{
	struct fah_session s, found;

	make(&s);
	found = s;
	close(s.lock_fd);
	assert_int_equal(fah_session_take_over(&found), 0);
	assert_string_equal(found.dir, s.dir);
	close(found.lock_fd);

	fah_session_end(&s);
	assert_int_not_equal(strcmp(found.dir, s.dir), 0);
	assert_int_equal(fah_session_take_over(&found), 0);
	assert_string_equal(found.dir, s.dir);

	/* and only one gets it */
	{
		struct fah_session second = s;

		assert_true(fah_session_take_over(&second) < 0);
	}
	fah_session_remove(&found);
	assert_int_equal(count(base), 0);
	assert_true(fah_session_take_over(&s) < 0);
}

static void fill(const char *dir)
{
	struct timespec times[2] = {{time(NULL) - 3 * 86400l, 0}, {time(NULL) - 3 * 86400l, 0}};
	char path[FAH_SESSION_PATH_MAX + 64];

	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "%s/x%d.seg", dir, i);
		close(open(path, O_RDWR | O_CREAT, 0600));
	}
	assert_int_equal(utimensat(AT_FDCWD, dir, times, 0), 0);
}

/*
 * A leftover is wanted by a recovery while another profiler starts and removes what is old: either
 * the one has all of its files and keeps them, or the other has removed them all.
 */
static void all_or_nothing(void **state)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct fah_session s;
		pid_t pid;
		int status;

		make(&s);
		fill(s.dir);
		close(s.lock_fd);
		pid = fork();
		if (pid == 0) {
			while (access(s.dir, F_OK) == 0) {
				if (fah_session_take_over(&s) < 0)
					continue;
				usleep(2000);
				_exit(count(s.dir) == MANY + 1 ? 0 : 1);
			}
			_exit(0);
		}
		usleep((useconds_t)(round * 10));
		fah_session_expire(base);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		fah_session_expire(base);
		assert_int_equal(count(base), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_left_behind, enter, leave),
		cmocka_unit_test_setup_teardown(a_leftover_is_found_under_either_name, enter,
						leave),
		cmocka_unit_test_setup_teardown(all_or_nothing, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
