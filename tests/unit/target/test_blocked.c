/*
 * test_blocked.c - a child process that blocks in known ways: its system call, the reason, its
 * account and its memory, read from outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/err.h"
#include "core/sys.h"
#include "target/call.h"
#include "target/memory.h"
#include "target/task.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_fds[2], sockets[2];
static uint32_t futex_word = 77;
static char folder[] = "/tmp/fah-test-XXXXXX", fifo[64];

static void on_futex(void)
{
	syscall(SYS_futex, &futex_word, FUTEX_WAIT, 77, NULL, NULL, 0);
}

static void on_sleep(void)
{
	sleep(100);
}

static void on_pipe(void)
{
	char c;

	(void)!read(pipe_fds[0], &c, 1);
}

static void on_socket(void)
{
	char c;

	(void)!read(sockets[0], &c, 1);
}

static void on_poll(void)
{
	struct pollfd fds[2] = {{.fd = pipe_fds[0], .events = POLLIN},
				{.fd = sockets[0], .events = POLLIN}};

	poll(fds, 2, -1);
}

static void on_empty_poll(void)
{
	struct pollfd none = {.fd = -1};

	poll(&none, 1, 100000);
}

/* A FIFO without a writer. */
static void on_fifo(void)
{
	close(open(fifo, O_RDONLY));
}

static void on_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	select(pipe_fds[0] + 1, &set, NULL, NULL, NULL);
}

static void epoll_on(int fd, int fd2, int timeout)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	if (fd2 >= 0)
		epoll_ctl(ep, EPOLL_CTL_ADD, fd2, &ev);
	epoll_wait(ep, &ev, 1, timeout);
}

static void on_loop_asleep(void)
{
	epoll_on(sockets[0], -1, 100000);
}

static void on_loop(void)
{
	epoll_on(pipe_fds[0], sockets[0], 100000);
}

static void on_child(void)
{
	if (fork() == 0) {
		sleep(100);
		_exit(0);
	}
	wait(NULL);
}

static void sleep_long(void *unused)
{
	const struct timespec long_time = {100, 0};

	(void)unused;
	FAH_SYS2(SYS_nanosleep, &long_time, NULL);
}

/* As agent/apart.c does it. */
static void on_agents_thread(void)
{
	static uint8_t stack[16384] __attribute__((aligned(16)));
	static uint32_t tid;

	fah_arch_clone_run(FAH_OWN_CLONE | CLONE_VM | CLONE_FS | CLONE_SIGHAND |
				   CLONE_PARENT_SETTID,
			   stack + sizeof(stack), &tid, sleep_long, NULL);
}

/* A child that shares the memory until it has begun its program, as posix_spawn makes it. */
static void on_spawn(void)
{
	static uint8_t stack[16384] __attribute__((aligned(16)));

	fah_arch_clone_run(CLONE_VM | CLONE_VFORK | SIGCHLD, stack + sizeof(stack), NULL,
			   sleep_long, NULL);
}

/* Blocked: the account stands still and a call is shown. */
static void wait_until_blocked(struct fah_task *t, struct fah_call *call)
{
	const struct timespec moment = {0, 2000000};
	struct fah_sched a, b;

	for (int i = 0; i < 5000; i++) {
		nanosleep(&moment, NULL);
		assert_int_equal(fah_task_sched(t, &a), 0);
		if (fah_task_call(t, call) == 1 && call->nr >= 0) {
			nanosleep(&moment, NULL);
			assert_int_equal(fah_task_sched(t, &b), 0);
			if (a.slices == b.slices)
				return;
		}
	}
	fail_msg("it never blocked");
}

static void each_wait_has_its_reason(void **state)
{
	static const struct {
		void (*block)(void);
		enum fah_wait reason;
		bool agents;
	} cases[] = {
		{on_futex, FAH_WAIT_LOCK, false},	  {on_sleep, FAH_WAIT_SLEEP, false},
		{on_pipe, FAH_WAIT_PIPE, false},	  {on_socket, FAH_WAIT_SOCKET, false},
		{on_poll, FAH_WAIT_SOCKET, false},	  {on_empty_poll, FAH_WAIT_SLEEP, false},
		{on_select, FAH_WAIT_PIPE, false},	  {on_loop_asleep, FAH_WAIT_SLEEP, false},
		{on_loop, FAH_WAIT_SOCKET, false},	  {on_child, FAH_WAIT_CHILD, false},
		{on_fifo, FAH_WAIT_PIPE, false},	  {on_spawn, FAH_WAIT_CHILD, false},
		{on_agents_thread, FAH_WAIT_CHILD, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fah_task t;
		struct fah_call call;
		struct fah_mem mem;
		uint32_t word = 0;
		uint64_t addr = 0;
		pid_t pid = fork();

		if (pid == 0) {
			setpgid(0, 0);
			cases[i].block();
			_exit(0);
		}
		assert_int_equal(fah_task_open(&t, (uint32_t)pid, (uint32_t)pid), 0);
		wait_until_blocked(&t, &call);
		mem = fah_target_mem((uint32_t)pid);
		assert_int_equal(fah_call_reason((uint32_t)pid, (uint32_t)pid, &mem, &call),
				 cases[i].reason);
		assert_int_equal(fah_call_is_agents(&call), cases[i].agents);
		if (fah_call_futex(&call, &addr)) {
			assert_int_equal(addr, (uint64_t)(uintptr_t)&futex_word);
			assert_int_equal(fah_load(&mem, addr, &word, 4), 0);
			assert_int_equal(word, 77);
		}
		assert_true(cases[i].block != on_futex || addr);
		killpg(pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(fah_task_sched(&t, &(struct fah_sched){0}), FAH_ERR_SYS);
		fah_task_close(&t);
	}
}

/* Of calls that are over at once by themselves: as if this process were in them. */
static void files_and_their_locks(void **state)
{
	char path[64];
	uint32_t self = (uint32_t)getpid();
	const struct fah_mem mem = fah_target_mem(self);
	int file;

	(void)state;
	snprintf(path, sizeof(path), "%s/file", folder);
	file = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(file >= 0);
	unlink(path); /* still a file */
	const struct {
		int64_t nr;
		uint64_t first, second;
		enum fah_wait reason;
	} cases[] = {
		{SYS_fsync, (uint64_t)file, 0, FAH_WAIT_DISK},
		{SYS_fdatasync, (uint64_t)file, 0, FAH_WAIT_DISK},
		{SYS_pread64, (uint64_t)file, 0, FAH_WAIT_DISK},
		{SYS_write, (uint64_t)file, 0, FAH_WAIT_DISK},
		{SYS_pread64, (uint64_t)pipe_fds[0], 0, FAH_WAIT_PIPE},
		{SYS_pread64, 1000000, 0, FAH_WAIT_UNKNOWN},
		{SYS_openat, (uint64_t)AT_FDCWD, 0, FAH_WAIT_DISK},
		{SYS_flock, (uint64_t)file, 0, FAH_WAIT_LOCK},
		{SYS_fcntl, (uint64_t)file, F_SETLKW, FAH_WAIT_LOCK},
		{SYS_fcntl, (uint64_t)file, F_OFD_SETLKW, FAH_WAIT_LOCK},
		{SYS_fcntl, (uint64_t)file, F_SETLK, FAH_WAIT_UNKNOWN},
		{-1, 0, 0, FAH_WAIT_DISK},
		{SYS_getpid, 0, 0, FAH_WAIT_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fah_call call = {.nr = cases[i].nr,
					      .args = {cases[i].first, cases[i].second}};

		assert_int_equal(fah_call_reason(self, self, &mem, &call), cases[i].reason);
	}
	close(file);
}

static void memory_that_is_not_there(void **state)
{
	uint64_t good = 42, a = 0, b = 0;
	const struct fah_mem mem = fah_target_mem((uint32_t)getpid());
	const struct fah_piece pieces[] = {{&a, (uint64_t)(uintptr_t)&good, 8},
					   {&b, 8, 8},
					   {&b, (uint64_t)(uintptr_t)&good, 8}};
	const struct fah_mem gone = fah_target_mem(0x7ffffff0);

	(void)state;
	assert_int_equal(mem.read(&mem, pieces, 3), 1);
	assert_int_equal(a, 42);
	assert_int_equal(b, 0);
	assert_int_equal(mem.read(&mem, pieces + 1, 2), 0);
	assert_int_equal(gone.read(&gone, pieces, 1), 0);
}

static void this_process(void **state)
{
	uint32_t tids[64], self = (uint32_t)getpid();
	struct fah_task_info info;
	uint64_t cpu;
	int fd = fah_tasks_open(self);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fah_tasks_count(fd), 1);
	assert_int_equal(fah_tasks_list(fd, tids, 64), 1);
	assert_int_equal(tids[0], self);
	assert_int_equal(fah_task_info(self, self, &info), 0);
	assert_string_equal(info.name, "test_target_blo"); /* as the kernel cuts it */
	assert_int_equal(info.state, 'R');
	assert_true(fah_process_cpu(self, &cpu) && cpu > 0);
	assert_false(fah_process_cpu(0x7ffffff, &cpu));
	assert_int_equal(fah_tasks_open(0x7ffffff), -1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_has_its_reason),
		cmocka_unit_test(files_and_their_locks),
		cmocka_unit_test(memory_that_is_not_there),
		cmocka_unit_test(this_process),
	};

	int failed;

	if (pipe(pipe_fds) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 ||
	    !mkdtemp(folder))
		return 1;
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	failed = mkfifo(fifo, 0600) < 0 || cmocka_run_group_tests(tests, NULL, NULL);
	unlink(fifo);
	rmdir(folder);
	return failed;
}
