/* test_task_files.c - the files of threads: opened once, closed when nobody has them, never those
 * of a thread that is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/task_files.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_once(void **state)
{
	struct fah_task_files files = {0};
	uint32_t self = (uint32_t)getpid();
	unsigned before = open_files();
	struct fah_task *one = fah_task_take(&files, self, self), *two;
	struct fah_sched sched;

	assert_non_null(one);
	assert_int_equal(open_files(), before + 1);
	two = fah_task_take(&files, self, self);
	assert_ptr_equal(one, two);
	assert_int_equal(open_files(), before + 1);
	fah_task_give(&files, one);
	assert_int_equal(fah_task_sched(two, &sched), 0);
	fah_task_give(&files, two);
	fah_task_give(&files, NULL);
	assert_int_equal(open_files(), before);
	assert_null(files.buckets);
}

static pthread_barrier_t told, over;

static void *thread(void *tid)
{
	*(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&told);
	pthread_barrier_wait(&over);
	return NULL;
}

static void test_gone(void **state)
{
	struct fah_task_files files = {0};
	uint32_t self = (uint32_t)getpid(), tid;
	struct fah_task *held;
	struct fah_sched sched;
	pthread_t it;

	pthread_barrier_init(&told, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	assert_int_equal(pthread_create(&it, NULL, thread, &tid), 0);
	pthread_barrier_wait(&told);
	held = fah_task_take(&files, self, tid);
	assert_non_null(held);
	pthread_barrier_wait(&over);
	pthread_join(it, NULL);
	while (fah_task_sched(held, &sched) == 0) /* the kernel may be a moment behind */
		usleep(1000);
	assert_null(fah_task_take(&files, self, tid));
	assert_int_equal(files.n, 1);
	fah_task_give(&files, held);
	assert_null(files.buckets);
	assert_null(fah_task_take(&files, self, tid));
	assert_null(files.buckets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
