/*
 * test_apart.c - files opened apart: the program's other threads never meet our descriptors, and
 * the thread that did it is gone when the call returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "agent/apart.h"
#include "core/segment.h"
#include "core/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 300

static uint8_t stack[FAH_APART_STACK] __attribute__((aligned(16)));
static _Atomic bool stop;
static _Atomic int surprises;

static struct fah_segment_head head;

struct fah_segment_head *fah_segment_head(void)
{
	return &head;
}

struct work {
	long fd, tid;
	char *page;
	uint32_t told; /* to the collector */
};

/* As a segment is made: open, map, close; long enough for others to notice. */
static void open_and_map(void *arg)
{
	struct work *w = arg;

	w->tid = FAH_SYS0(SYS_gettid);
	w->told = atomic_load(&head.own_tids[0]);
	w->fd = FAH_SYS4(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY, 0);
	for (int i = 0; i < 20; i++)
		FAH_SYS0(SYS_sched_yield);
	w->page = (char *)FAH_SYS6(SYS_mmap, 0, 4096, PROT_READ, MAP_SHARED, w->fd, 0);
	FAH_SYS1(SYS_close, w->fd);
}

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* A program that relies on the lowest free number, as many do after close(0). */
static void *expect_lowest(void *lowest)
{
	while (!atomic_load(&stop)) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd != (int)(intptr_t)lowest)
			atomic_fetch_add(&surprises, 1);
		close(fd);
	}
	return NULL;
}

static void no_descriptor_is_seen(void **state)
{
	int lowest = open("/dev/null", O_RDONLY);
	pthread_t thread;

	close(lowest);
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, expect_lowest, (void *)(intptr_t)lowest), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct work w = {-1, 0, NULL, 0};

		fah_apart(open_and_map, &w, stack, sizeof(stack));
		assert_true(w.fd >= 0 && w.tid > 0);
		assert_int_not_equal(w.tid, FAH_SYS0(SYS_gettid));
		assert_int_equal(w.told, w.tid);
		assert_int_equal(atomic_load(&head.own_tids[0]), 0);
		assert_memory_equal(w.page, "\177ELF", 4); /* the memory is shared */
		munmap(w.page, 4096);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&surprises), 0);
}

static void nothing_stays_behind(void **state)
{
	sigset_t before, after;
	struct work w;

	sigprocmask(SIG_BLOCK, NULL, &before);
	for (int i = 0; i < ROUNDS; i++) {
		fah_apart(open_and_map, &w, stack, sizeof(stack));
		munmap(w.page, 4096);
		assert_int_equal(count_threads(), 1);
	}
	sigprocmask(SIG_BLOCK, NULL, &after);
	assert_memory_equal(&before, &after, sizeof(long));
}

static int work_without_threads(void)
{
	const struct rlimit none = {0, 0};
	struct work w = {-1, 0, NULL, 0};

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0) /* root has no limit */
		return 2;
	if (setrlimit(RLIMIT_NPROC, &none) < 0)
		return 3;
	fah_apart(open_and_map, &w, stack, sizeof(stack));
	return w.fd >= 0 && w.tid == FAH_SYS0(SYS_gettid) ? 0 : 1;
}

/* Where no thread can be had the work is done all the same. */
static void without_threads(void **state)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(work_without_threads());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_descriptor_is_seen),
		cmocka_unit_test(nothing_stays_behind),
		cmocka_unit_test(without_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
