/* test_traffic.c - what a family of processes reads and writes is seen, also of a grandchild. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/traffic.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Answers each byte that it gets, by as many as that says. */
static void echo(int fd)
{
	static const char bytes[256];
	unsigned char n;

	while (recv(fd, &n, 1, 0) == 1) {
		(void)!write(fd, bytes, n);
		(void)!send(fd, "!", 1, 0); /* not counted: neither read nor write */
	}
	_exit(0);
}

static void ask(int fd, unsigned char n)
{
	char bytes[257];
	size_t got = 0;
	ssize_t part;

	assert_int_equal(send(fd, &n, 1, 0), 1);
	while (got < (size_t)n + 1) {
		part = recv(fd, bytes, sizeof(bytes), 0);
		assert_true(part > 0);
		got += (size_t)part;
	}
}

static void of_a_family(void **state)
{
	int fds[2], below[2];
	struct fah_traffic before, after;
	siginfo_t ended;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, below), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		close(below[0]);
		if (fork() == 0) {
			close(fds[1]);
			echo(below[1]);
		}
		close(below[1]);
		echo(fds[1]);
	}
	close(fds[1]);
	close(below[1]);
	ask(fds[0], 1);
	ask(below[0], 1);
	assert_true(fah_traffic((uint32_t)pid, &before));
	assert_true(fah_traffic((uint32_t)pid, &after));
	assert_int_equal(after.in, before.in);
	assert_int_equal(after.out, before.out);
	ask(fds[0], 100);
	assert_true(fah_traffic((uint32_t)pid, &after));
	assert_int_equal(after.out, before.out + 100);
	ask(below[0], 7);
	assert_true(fah_traffic((uint32_t)pid, &after));
	assert_int_equal(after.out, before.out + 107);
	assert_int_equal(after.in, before.in);
	close(fds[0]);
	close(below[0]);
	/* one that has ended still has its own, until it is waited for */
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_true(fah_traffic((uint32_t)pid, &after));
	assert_true(after.out >= 100 && after.out <= before.out + 100);
	waitpid(pid, NULL, 0);
	assert_false(fah_traffic((uint32_t)pid, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_family)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
